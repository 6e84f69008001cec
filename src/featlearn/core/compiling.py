"""Whether a training compiles its inner loops with ``torch.compile``.

Compiled and plain code give the same numbers up to rounding, so the choice follows from the config
alone: key ``compile`` and the planned amount of work, never from how busy the machine is. Where
there is no C++ compiler, the plain code runs and says so once.
"""

from __future__ import annotations

import logging
import sys
from collections.abc import Callable
from typing import Any

#: Planned work, in entries passed over, from which on ``auto`` compiles: what compiling costs
#: (seconds, or less where its disk cache knows the code) is then won back several times.
WORTH = 5 * 10**9

_mode = "never"
_broken = False


def configure(mode: str) -> None:
    """Set the key ``compile`` of the config for this process: auto, always or never.

    A process that sets nothing (a test, a notebook) compiles nothing.
    """
    global _mode
    if mode not in ("auto", "always", "never"):
        raise ValueError(f"compile: {mode!r}; expected auto, always or never")
    _mode = mode


def wanted(work: float) -> bool:
    """Whether a training with this much work is to be compiled."""
    return not _broken and (_mode == "always" or (_mode == "auto" and work >= WORTH))


def tell_compiler() -> None:
    """Make what is compiled as deterministic as the rest: :class:`Job` leaves the compiler out."""
    import torch

    torch.use_deterministic_algorithms(
        torch.are_deterministic_algorithms_enabled(),
        warn_only=torch.is_deterministic_algorithms_warn_only_enabled(),
    )


def compiled(function: Callable[..., Any]) -> Callable[..., Any]:
    """``torch.compile`` of a function on tensors of any size, compiled at its first call."""
    # it would tell that there is no CUDA, which nobody asked for
    logging.getLogger("torch.utils.cpp_extension").setLevel(logging.ERROR)
    import torch._dynamo.config
    import torch._inductor.config
    import torch.fx.experimental._config

    tell_compiler()
    # one function serves several exponents, precisions, and one or several replicates
    torch._dynamo.config.recompile_limit = max(64, torch._dynamo.config.recompile_limit)
    # two sizes that happen to be equal at first are not taken for one: no second compilation
    torch.fx.experimental._config.use_duck_shape = False
    torch._inductor.config.compile_threads = 1  # no pool of helpers for a few small functions
    # part of the key of the disk cache: code made for one thread is not taken for two
    torch._inductor.config.cpp.threads = torch.get_num_threads()
    result: Callable[..., Any] = torch.compile(function, dynamic=True, fullgraph=True)
    return result


def works(attempt: Callable[[], Any]) -> bool:
    """Try compiled code for the first time; a failure is told once and ends compiling."""
    global _broken
    try:
        attempt()
    except Exception as error:
        _broken = True
        lines = str(error).strip().splitlines()
        why = lines[0] if lines else type(error).__name__
        print(
            f"training runs uncompiled, more slowly and with other last digits: {why} "
            "(a C++ compiler on the path makes it faster; compile: never silences this)",
            file=sys.stderr,
        )
        return False
    return True
