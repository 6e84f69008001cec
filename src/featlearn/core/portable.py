"""The same bytes on every x86-64 processor with AVX2: what libraries must not choose by processor.

Libraries take other instructions, another order of a sum and other block sizes by the processor
that they find. What is pinned here has to stand in the environment before they load: :func:`pin`
sets it in the process of the run, from which every job and the warm process have it, and
:func:`check` looks in the job. Compiled loops are left out (``compile: never``): a compiler is
told ``-march=native``. No variable governs MKL's vector mathematics (square roots, logarithms):
:mod:`featlearn.core.portable_functions` stands in for it.

Not pinned, because every processor with AVX2 takes the same: the C library's functions (variants
with FMA), Matplotlib's rasteriser and FreeType (no dispatch). Another version of the C library, of
Python's packages, or another architecture may give other bytes all the same.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, MutableMapping
from typing import Any

from featlearn.core.errors import FeatlearnError

#: Of each variable what it governs stands beside it.
VARIABLES: Mapping[str, str] = {
    "ATEN_CPU_CAPABILITY": "avx2",  # PyTorch's own kernels: softmax, sums, exp
    "MKL_CBWR": "COMPATIBLE",  # MKL: products, eigh, svd. Its AVX2 branch tells AMD from Intel
    "ONEDNN_MAX_CPU_ISA": "AVX2",  # oneDNN: convolutions
    "OPENBLAS_CORETYPE": "Haswell",  # the OpenBLAS of NumPy, and SciPy's and scikit-learn's
    # NumPy's loops: SVML with AVX-512 rounds otherwise. Names of NumPy 2.4; a processor without
    # them has nothing to disable
    "NPY_DISABLE_CPU_FEATURES": "X86_V4 AVX512_ICL AVX512_SPR",
    # ours: every job puts core.portable_functions in place of MKL's vector mathematics
    "FEATLEARN_PORTABLE": "1",
}
#: What a portable run asks of the config, and why.
FIXED: Mapping[str, tuple[Any, str]] = {
    "device": ("cpu", "a GPU rounds otherwise"),
    "threads": (1, "a sum that is divided follows the machine"),
}


def faults(config: Mapping[str, Any]) -> Iterator[str]:
    """What in a portable run's config contradicts it, a line each."""
    if not config.get("portable"):
        return
    for key, (value, why) in FIXED.items():
        if config[key] != value:
            yield f"{key}: {config[key]!r}; expected {value!r} with portable: true ({why})"
    if config["compile"] == "always":
        yield (
            "compile: 'always'; expected auto or never with portable: true (a compiler looks at "
            "the processor)"
        )
    yield from _compiled_trainings(config)


def _compiled_trainings(value: Any, key: str = "") -> Iterator[str]:
    if not isinstance(value, Mapping):
        for place, item in enumerate(value if isinstance(value, list) else ()):
            yield from _compiled_trainings(item, f"{key}[{place}]")
        return
    for name, below in value.items():
        own = f"{key}.{name}".removeprefix(".")
        if name == "compile" and below is True:
            yield f"{own}: True; expected false with portable: true"
        yield from _compiled_trainings(below, own)


def pin(environment: MutableMapping[str, str] | None = None) -> None:
    """Set :data:`VARIABLES`, for the processes that this one starts."""
    (os.environ if environment is None else environment).update(VARIABLES)


def pinned() -> bool:
    """Whether this process belongs to a portable run."""
    return os.environ.get("FEATLEARN_PORTABLE") == VARIABLES["FEATLEARN_PORTABLE"]


def check(environment: Mapping[str, str] | None = None) -> None:
    """Refuse to compute where a variable is not what :func:`pin` set.

    Raises
    ------
    FeatlearnError
        Naming the variable, its value and what was expected.
    """
    found = os.environ if environment is None else environment
    for name, value in VARIABLES.items():
        if found.get(name) != value:
            raise FeatlearnError(
                f"portable: true: {name} is {found.get(name)!r} in this job; expected {value!r}: "
                "it must be set before a library loads"
            )
