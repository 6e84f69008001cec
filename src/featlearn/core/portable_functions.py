"""PyTorch's elementary functions as NumPy computes them, for ``portable: true``.

On a processor PyTorch hands ``sqrt``, ``log``, ``tan`` and others to MKL's vector mathematics. No
variable pins that part: square roots, tangents and arcs start from the processor's own estimates
(``rsqrtps``, ``rcpps``), which Intel and AMD tabulate differently: last digits differ, with
``MKL_CBWR=COMPATIBLE`` too. NumPy takes the square root of IEEE 754 and, where
:mod:`featlearn.core.portable` pins it, one variant of everything else.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np
import torch
from scipy import special
from torch import Tensor

#: Of each function of PyTorch that goes to MKL's vector mathematics, which one stands in for it.
REPLACED: dict[str, Callable[..., Any]] = {
    "sqrt": np.sqrt, "exp": np.exp, "log": np.log, "log1p": np.log1p, "log10": np.log10,
    "sin": np.sin, "cos": np.cos, "tan": np.tan,
    "asin": np.arcsin, "acos": np.arccos, "atan": np.arctan,
    "erfc": special.erfc, "erfinv": special.erfinv,
}  # fmt: skip
_HALVES = (torch.float16, torch.bfloat16)


@cache
def install() -> Any:
    """Put the functions in place of PyTorch's own on processors; once a process, until it ends.

    Gives the registration, which lasts as long as it is held: here, as long as the process.
    """
    make: Any = torch.library.Library  # untyped
    library = make("aten", "IMPL")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # that a kernel is replaced
        for name, function in REPLACED.items():
            _register(library, name, ("", ".out", "_"), _by(function))
        _register(library, "logit", ("", ".out", "_"), _logit)
        library.impl("pow.Tensor_Scalar", _power, "CPU")
        library.impl("pow.Tensor_Scalar_out", _into(_power), "CPU")
        library.impl("pow_.Scalar", _in_place(_power), "CPU")
    return library


def _register(
    library: Any,
    name: str,
    forms: tuple[str, ...],
    function: Callable[..., Tensor],
) -> None:
    plain, out, own = (name + form for form in forms)
    library.impl(plain, function, "CPU")
    library.impl(out, _into(function), "CPU")
    library.impl(own, _in_place(function), "CPU")


def _by(function: Callable[..., Any]) -> Callable[[Tensor], Tensor]:
    def computed(x: Tensor) -> Tensor:
        if not (x.is_floating_point() or x.is_complex()):
            x = x.to(torch.get_default_dtype())
        if x.dtype in _HALVES:
            return computed(x.float()).to(x.dtype)
        found = torch.empty_like(x)
        with np.errstate(all="ignore"):
            function(x.detach().resolve_conj().numpy(), out=found.numpy())
        return found

    return computed


def _into(function: Callable[..., Tensor]) -> Callable[..., Tensor]:
    def computed(*given: Any, out: Tensor) -> Tensor:
        found = function(*given)
        if out.shape != found.shape:
            out.resize_(found.shape)
        return out.copy_(found)

    return computed


def _in_place(function: Callable[..., Tensor]) -> Callable[..., Tensor]:
    def computed(x: Tensor, *more: Any) -> Tensor:
        return x.copy_(function(x, *more))

    return computed


def _logit(x: Tensor, eps: float | None = None) -> Tensor:
    own = x if eps is None else x.clamp(eps, 1 - eps)
    return (own / (1 - own)).log()


def _power(x: Tensor, exponent: Any) -> Tensor:
    """``x ** exponent``; PyTorch's own takes MKL's square root for 1/2."""
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
