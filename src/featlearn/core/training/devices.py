"""What a job computes on: torch with its threads and kernels fixed, a device, compiled loops."""

from __future__ import annotations

import contextlib
import ctypes
import fcntl
import logging
import os
import sys
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, TextIO

from featlearn.core.errors import FeatlearnError

if TYPE_CHECKING:
    import torch

#: Of glibc's ``mallopt``: from which size on a block is mapped by itself, and how much free memory
#: is given back. With the defaults 4 to 8 % of a training step are page faults.
KEPT = {"M_MMAP_THRESHOLD": (-3, 1 << 30), "M_TRIM_THRESHOLD": (-1, (1 << 31) - 1)}
#: Planned work, in entries passed over, from which on ``auto`` compiles: what compiling costs
#: (seconds, or less where its disk cache knows the code) is then won back several times.
WORTH = 5 * 10**9

_held: list[TextIO] = []
_mode = "never"
_broken = False


def keep_memory() -> None:
    """Keep what is freed for the next step, where the C library is glibc; see :data:`KEPT`."""
    with contextlib.suppress(OSError, AttributeError):
        mallopt = ctypes.CDLL(None).mallopt
        for number, value in KEPT.values():
            mallopt(number, value)


def prepare(wanted: str = "auto", threads: int = 1, compile: str = "never") -> torch.device:
    """Import torch, fix its threads and kernels, and give the device to compute on.

    Float32 is float32 on CUDA, too, where PyTorch's convolutions round to TF32. ``wanted``:
    ``cpu``, ``cuda``, ``auto`` for CUDA where there is one, or ``cuda-nondeterministic`` for the
    fastest kernels. Of several GPUs it is one that no other job is at. ``compile``: see
    :func:`configure`. Raises FeatlearnError if CUDA was asked for where there is none.
    """
    keep_memory()
    os.environ.setdefault("CUBLAS_WORKSPACE_CONFIG", ":4096:8")
    import torch

    from featlearn.core.run import portable

    kind, _, freely = wanted.partition("-")
    torch.set_num_threads(threads)
    # as use_deterministic_algorithms(True), which would import torch.compile's machinery too:
    # seconds of every job
    torch.set_deterministic_debug_mode("default" if freely else "error")
    torch.backends.cudnn.benchmark = bool(freely)
    for place in (torch.backends.cuda.matmul, torch.backends.cudnn.conv):  # type: ignore[attr-defined]
        place.fp32_precision = "ieee"
    # new buffers are written before they are read: filling them first would cost a pass
    torch.utils.deterministic.fill_uninitialized_memory = False  # type: ignore[attr-defined]
    # powers of small activations would fall into denormal numbers, a hundred times slower
    torch.set_flush_denormal(True)
    configure(compile)
    if portable.pinned():
        portable.install()
    if kind == "auto":
        kind = "cuda" if torch.cuda.is_available() else "cpu"
    if kind == "cuda" and not torch.cuda.is_available():
        raise FeatlearnError(
            f"config: device: {wanted} was asked for, but torch sees no CUDA device"
        )
    return free_device() if kind == "cuda" else torch.device(kind)


# One of several GPUs: Snakemake counts GPUs and does not say which. The first that nobody holds is
# taken, by a lock on a file that the system frees when the process ends.


def take(names: Sequence[str], otherwise: int = 0, folder: Path | None = None) -> int:
    """Index of the first of ``names`` that no process holds, held by this one; or ``otherwise``."""
    folder = folder or Path(tempfile.gettempdir()) / f"featlearn-gpus-{os.getuid()}"
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    for index, name in enumerate(names):
        lock = open(folder / name, "w", encoding="utf-8")
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            lock.close()
            continue
        _held.append(lock)
        return index
    return otherwise % len(names)


def release() -> None:
    """Give back what this process holds, for the processes that it starts."""
    while _held:
        _held.pop().close()


def free_device(otherwise: int = 0) -> torch.device:
    """A free GPU as torch's current device; see :func:`take`."""
    import torch

    count = torch.cuda.device_count()
    if count < 2:
        return torch.device("cuda")
    names = [str(torch.cuda.get_device_properties(index).uuid) for index in range(count)]
    device = torch.device("cuda", take(names, otherwise))
    torch.cuda.set_device(device)
    return device


# torch.compile: compiled and plain code give the same numbers up to rounding, so the choice follows
# from the config alone: the key ``compile`` and the planned work. Without a C++ compiler plain code
# runs, and says so.


def configure(mode: str) -> None:
    """Set the key ``compile`` for this process: auto, always or never, its start."""
    global _mode
    if mode not in ("auto", "always", "never"):
        raise ValueError(f"compile: {mode!r}; expected auto, always or never")
    _mode = mode


def worth_compiling(work: float) -> bool:
    """Whether a training with this much work is to be compiled."""
    return not _broken and (_mode == "always" or (_mode == "auto" and work >= WORTH))


def tell_compiler() -> None:
    """Make what is compiled as deterministic as the rest; :func:`prepare` leaves it out."""
    import torch

    torch.use_deterministic_algorithms(
        torch.are_deterministic_algorithms_enabled(),
        warn_only=torch.is_deterministic_algorithms_warn_only_enabled(),
    )


def compiled(function: Callable[..., Any]) -> Callable[..., Any]:
    """``torch.compile`` of a function on tensors of any size, compiled at its first call."""
    # silences the "CUDA not found" warning
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


def compiler_works(attempt: Callable[[], Any]) -> bool:
    """Try compiled code for the first time; a failure is printed once and ends compiling."""
    global _broken
    try:
        attempt()
    except Exception as error:
        _broken = True
        why = (str(error).strip() or type(error).__name__).splitlines()[0]
        print(
            f"training runs uncompiled, more slowly and with other last digits: {why} "
            "(a C++ compiler on the path makes it faster; compile: never silences this)",
            file=sys.stderr,
        )
        return False
    return True
