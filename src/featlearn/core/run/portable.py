"""The same bytes on every x86-64 processor with AVX2: no library may choose by processor.

Instructions, orders of sums and block sizes depend on it. The environment pins them before
libraries load: :func:`pin` in the run, :func:`check` in the job. Compiled loops are off
(``-march=native``). MKL's vector maths, to which PyTorch hands ``sqrt``, ``log`` and others, starts
from estimates that AMD and Intel tabulate differently (``rsqrtps``, ``rcpps``): :func:`install`
puts NumPy's functions in their place. Other versions or architectures may give other bytes.
"""

from __future__ import annotations

import os
import warnings
from collections.abc import Callable, Iterator, Mapping, MutableMapping
from functools import cache
from typing import TYPE_CHECKING, Any

from featlearn.core.errors import FeatlearnError
from featlearn.core.run.checks import keys, value_of

if TYPE_CHECKING:
    from torch import Tensor

#: Of each variable what it governs stands beside it.
VARIABLES: Mapping[str, str] = {
    "ATEN_CPU_CAPABILITY": "avx2",  # PyTorch's own kernels: softmax, sums, exp
    "MKL_CBWR": "COMPATIBLE",  # MKL: products, eigh, svd. Its AVX2 branch tells AMD from Intel
    "ONEDNN_MAX_CPU_ISA": "AVX2",  # oneDNN: convolutions
    "OPENBLAS_CORETYPE": "Haswell",  # the OpenBLAS of NumPy, and SciPy's and scikit-learn's
    # NumPy's loops: SVML with AVX-512 rounds otherwise. Names of NumPy 2.4; a processor without
    # them has nothing to disable
    "NPY_DISABLE_CPU_FEATURES": "X86_V4 AVX512_ICL AVX512_SPR",
    # ours: every job calls install()
    "FEATLEARN_PORTABLE": "1",
}
#: What a portable run needs of the config, and why.
FIXED: Mapping[str, tuple[Any, str]] = {
    "device": ("cpu", "a GPU rounds otherwise"),
    "threads": (1, "a sum that is divided follows the machine"),
}
#: PyTorch's functions that go to MKL's vector mathematics, and their names in NumPy.
NUMPY = {
    "sqrt": "sqrt", "exp": "exp", "log": "log", "log1p": "log1p", "log10": "log10",
    "sin": "sin", "cos": "cos", "tan": "tan",
    "asin": "arcsin", "acos": "arccos", "atan": "arctan",
}  # fmt: skip


def faults(config: Mapping[str, Any]) -> Iterator[str]:
    """What in a portable run's config contradicts it, a line each."""
    if not config.get("portable"):
        return
    for key, (value, why) in FIXED.items():
        if config[key] != value:
            yield f"{key}: {config[key]!r}; expected {value!r} with portable: true ({why})"
    if config["compile"] == "always":
        yield "compile: 'always'; expected auto or never with portable: true (compilers differ)"
    for key in keys(config):
        if key.endswith(".compile") and value_of(config, key) is True:
            yield f"{key}: True; expected false with portable: true"


def pin(environment: MutableMapping[str, str] | None = None) -> None:
    """Set :data:`VARIABLES`, for the processes that this one starts."""
    (os.environ if environment is None else environment).update(VARIABLES)


def pinned() -> bool:
    """Whether this process belongs to a portable run."""
    return os.environ.get("FEATLEARN_PORTABLE") == VARIABLES["FEATLEARN_PORTABLE"]


def check(environment: Mapping[str, str] | None = None) -> None:
    """Refuse to compute where a variable is not what :func:`pin` set; FeatlearnError naming it."""
    actual = os.environ if environment is None else environment
    for name, value in VARIABLES.items():
        if actual.get(name) != value:
            here = f"{name} is {actual.get(name)!r} in this job; expected {value!r}"
            raise FeatlearnError(f"portable: true: {here}: it must be set before a library loads")


@cache
def install() -> Any:
    """Put NumPy's functions in place of PyTorch's, once for the life of the process."""
    import numpy as np
    import torch
    from scipy import special

    make: Any = torch.library.Library  # untyped
    library = make("aten", "IMPL")
    functions: dict[str, Callable[..., Tensor]] = {
        **{name: _from_numpy(getattr(np, other)) for name, other in NUMPY.items()},
        "erfc": _from_numpy(special.erfc),
        "erfinv": _from_numpy(special.erfinv),
        "logit": _logit,
    }
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # that a kernel is replaced
        forms = [
            (name, f"{name}.out", f"{name}_", function) for name, function in functions.items()
        ]
        power = ("pow.Tensor_Scalar", "pow.Tensor_Scalar_out", "pow_.Scalar", _power)
        for plain, out, in_place, function in [*forms, power]:
            library.impl(plain, function, "CPU")
            library.impl(out, _into(function), "CPU")
            library.impl(in_place, lambda x, *more, f=function: x.copy_(f(x, *more)), "CPU")
    return library


def _from_numpy(function: Callable[..., Any]) -> Callable[[Tensor], Tensor]:
    import numpy as np
    import torch

    def computed(x: Tensor) -> Tensor:
        if not (x.is_floating_point() or x.is_complex()):
            x = x.to(torch.get_default_dtype())
        if x.dtype in (torch.float16, torch.bfloat16):
            return computed(x.float()).to(x.dtype)
        result = torch.empty_like(x)
        with np.errstate(all="ignore"):
            function(x.detach().resolve_conj().numpy(), out=result.numpy())
        return result

    return computed


def _into(function: Callable[..., Tensor]) -> Callable[..., Tensor]:
    def computed(*given: Any, out: Tensor) -> Tensor:
        result = function(*given)
        if out.shape != result.shape:
            out.resize_(result.shape)
        return out.copy_(result)

    return computed


def _logit(x: Tensor, eps: float | None = None) -> Tensor:
    p = x if eps is None else x.clamp(eps, 1 - eps)
    return (p / (1 - p)).log()


def _power(x: Tensor, exponent: Any) -> Tensor:
    """``x ** exponent``; PyTorch's takes MKL's square root for 1/2."""
    import torch

    x = x.to(torch.result_type(x, exponent))
    if exponent == 2:
        return x * x
    if exponent == 3:
        return x * x * x
    if exponent == 0.5:
        return x.sqrt()
    if exponent == 1 or x.numel() == 0:
        return x.clone()
    return torch.pow(x, torch.tensor(exponent, dtype=x.dtype))
