"""Timing on machines that are noisy: rivals take turns, and the ratio of a turn is what counts.

Seconds are those of the processor, so that waiting for a turn on a busy machine does not count.
Where a CUDA device does the work, they are those of the clock on the wall.
"""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Callable, Mapping

import pandas as pd

Clock = Callable[[], float]
#: Quartiles over the turns of each ratio that was told, by its median.
SPREADS: dict[float, tuple[float, float]] = {}


def side_by_side(
    rivals: Mapping[str, Callable[[], object]], turns: int = 15, clock: Clock = time.process_time,
    *, warm: bool = False,
) -> pd.DataFrame:  # fmt: skip
    """Seconds of every rival in every turn; the first turn (warm-up) is left out.

    It is not run at all of what is ``warm`` already and too long to be run in vain.

    Returns
    -------
    DataFrame
        Columns turn, rival, seconds.
    """
    rows = []
    for turn in range(1 if warm else 0, turns + 1):
        for name, run in rivals.items():
            started = clock()
            run()
            if turn:
                rows.append((turn, name, clock() - started))
    return pd.DataFrame(rows, columns=["turn", "rival", "seconds"])


def ratio(timed: pd.DataFrame, above: str, below: str) -> float:
    """Median over turns of ``above``'s seconds to ``below``'s in the same turn."""
    wide = timed.pivot_table(index="turn", columns="rival", values="seconds")
    of_turns = wide[above] / wide[below]
    median = float(of_turns.median())
    SPREADS[median] = float(of_turns.quantile(0.25)), float(of_turns.quantile(0.75))
    return median


#: Said after the code: what it took on the CUDA device, or else in the memory of the process.
_TELL_PEAK = """
import re, resource
from pathlib import Path
import torch
torch.cuda.is_initialized() and torch.cuda.synchronize()
status = Path("/proc/self/status")
if torch.cuda.is_initialized():
    print(torch.cuda.max_memory_allocated() / 2**20)
elif status.exists():  # getrusage would tell of the process that started this one, too
    print(int(re.search(r"VmHWM:\\s+(\\d+)", status.read_text())[1]) / 2**10)
else:
    print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**10)
"""


def peak_memory(code: str) -> float:
    """Largest memory (MB) of a fresh process with one thread that runs ``code``.

    On a CUDA device: what tensors took there. Else all of the process, Python and PyTorch included.
    """
    code = f"import torch\ntorch.set_num_threads(1)\n{code}{_TELL_PEAK}"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    if done.returncode:
        raise RuntimeError(f"measuring the memory of {code!r} failed:\n{done.stderr}")
    return float(done.stdout.split()[-1])
