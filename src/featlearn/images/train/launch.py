"""Start a program in several processes that train together, on one machine or on several.

``torchrun`` starts those of one machine. For several machines ``srun`` starts one ``torchrun`` on
each node of a Slurm job; they meet at a free port of the first node.
"""

from __future__ import annotations

import os
import platform
import shutil
import socket
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from featlearn.core.errors import FeatlearnError
from featlearn.core.run.warm import RUN_PROCESS
from featlearn.core.training import devices

#: Seconds that processes get to save their state after a SIGTERM.
LAST_WORDS = 60


@dataclass(frozen=True)
class Layout:
    """How many processes train together, spread evenly over how many machines."""

    processes: int = 1
    nodes: int = 1

    @property
    def on_each(self) -> int:
        return self.processes // self.nodes


def command(
    module: str, arguments: Sequence[str], layout: Layout, environment: Mapping[str, str]
) -> list[str]:
    """The words that start ``python -m module arguments`` in all processes.

    ``environment``: variables of this process. Raises FeatlearnError if several nodes are wanted
    outside of a Slurm job.
    """
    torchrun = [*(sys.executable, "-m", "torch.distributed.run", "--rdzv-backend=c10d"),
                *(f"--nnodes={layout.nodes}", f"--nproc-per-node={layout.on_each}")]  # fmt: skip
    program = ["-m", module, *arguments]
    if layout.nodes == 1:
        # a free port of this machine, so that trainings beside this one do not meet it
        place = ["--rdzv-endpoint=127.0.0.1:0", "--local-addr=127.0.0.1"]
        return [*torchrun, *place, *program]
    job = environment.get("SLURM_JOB_ID")
    if job is None or shutil.which("srun") is None:
        raise FeatlearnError(
            f"training on {layout.nodes} nodes needs a job of Slurm; run with "
            "--profile profiles/slurm, or set nodes: 1"
        )
    threads = int(environment.get("OMP_NUM_THREADS", "1"))
    srun = [*("srun", f"--nodes={layout.nodes}", f"--ntasks={layout.nodes}", "--ntasks-per-node=1"),
            *(f"--cpus-per-task={threads * layout.on_each}", "--cpu-bind=none"),
            "--kill-on-bad-exit=1"]  # fmt: skip
    with socket.socket() as held:  # at a port that is free
        held.bind(("", 0))
        port = held.getsockname()[1]
    place = [f"--rdzv-id={job}", f"--rdzv-endpoint={socket.gethostname()}:{port}"]
    return [*srun, *torchrun, *place, *program]


def run_together(module: str, arguments: Sequence[str], layout: Layout) -> None:
    """Run ``python -m module arguments`` in all processes and wait for their end.

    They end with this process. Each takes a GPU of its own, if it computes on one; this process
    gives its GPU back. Raises FeatlearnError if one of them fails.
    """
    devices.release()
    own = {RUN_PROCESS: f"{platform.node()}:{os.getpid()}"}
    words = command(module, arguments, layout, os.environ)
    started = subprocess.Popen(words, env={**os.environ, **own})
    try:
        code = started.wait()
    except BaseException:  # SIGTERM, Ctrl-C: they save their state
        started.terminate()
        try:
            started.wait(LAST_WORDS)
        except subprocess.TimeoutExpired:
            started.kill()
        raise
    if code:
        raise FeatlearnError(
            f"training in {layout.processes} processes failed (status {code}): see above"
        )
