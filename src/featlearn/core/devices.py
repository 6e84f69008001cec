"""What a job computes on: torch with its threads and kernels fixed, and a device."""

from __future__ import annotations

import contextlib
import ctypes
import os
from typing import TYPE_CHECKING

from featlearn.core.errors import FeatlearnError

if TYPE_CHECKING:
    import torch


#: Of glibc's ``mallopt``: from which size on a block is mapped (and given back) by itself, and how
#: much free memory is given back. With the defaults a training step gives its activations back and
#: asks for them anew: 4 to 8 % of it are page faults.
KEPT = {"M_MMAP_THRESHOLD": (-3, 1 << 30), "M_TRIM_THRESHOLD": (-1, (1 << 31) - 1)}


def keep_memory() -> None:
    """Let this process keep the memory that it frees, where the C library is glibc."""
    with contextlib.suppress(OSError, AttributeError):
        mallopt = ctypes.CDLL(None).mallopt
        for number, value in KEPT.values():
            mallopt(number, value)


def prepare(wanted: str = "auto", threads: int = 1, compile: str = "never") -> torch.device:
    """Import torch, fix its threads and kernels, and give the device to compute on.

    Float32 is float32 on CUDA too: PyTorch's own default rounds to TF32 in convolutions. A
    training that wants less says so: ``precision`` of :class:`featlearn.images.plan.Training`.

    Parameters
    ----------
    wanted
        ``cpu``, ``cuda``, or ``auto`` for CUDA where there is one; ``cuda-nondeterministic``
        for CUDA with whichever kernels PyTorch takes for the fastest, repeatable or not. Of
        several GPUs it is one that no other job is at.
    threads
        Of torch on the processor.
    compile
        As :func:`featlearn.core.compiling.configure` takes it.

    Raises
    ------
    FeatlearnError
        If CUDA was asked for where there is none.
    """
    keep_memory()
    os.environ.setdefault("CUBLAS_WORKSPACE_CONFIG", ":4096:8")
    import torch

    from featlearn.core import compiling, portable
    from featlearn.core.gpus import free_device

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
    compiling.configure(compile)
    if portable.pinned():
        from featlearn.core import portable_functions

        portable_functions.install()
    if kind == "auto":
        kind = "cuda" if torch.cuda.is_available() else "cpu"
    if kind == "cuda" and not torch.cuda.is_available():
        raise FeatlearnError(
            f"config: device: {wanted} was asked for, but torch sees no CUDA device"
        )
    return free_device() if kind == "cuda" else torch.device(kind)
