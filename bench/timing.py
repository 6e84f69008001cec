"""Timing on machines that are noisy: rivals take turns, and the ratio of a turn is what counts.

Seconds are those of the processor, so that waiting for a turn on a busy machine does not count.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping

import pandas as pd


def side_by_side(rivals: Mapping[str, Callable[[], object]], turns: int = 15) -> pd.DataFrame:
    """Processor seconds of every rival in every turn; the first turn (warm-up) is left out.

    Returns
    -------
    DataFrame
        Columns turn, rival, seconds.
    """
    rows = []
    for turn in range(turns + 1):
        for name, run in rivals.items():
            started = time.process_time()
            run()
            if turn:
                rows.append((turn, name, time.process_time() - started))
    return pd.DataFrame(rows, columns=["turn", "rival", "seconds"])


def ratio(timed: pd.DataFrame, above: str, below: str) -> float:
    """Median over turns of ``above``'s seconds to ``below``'s in the same turn."""
    wide = timed.pivot_table(index="turn", columns="rival", values="seconds")
    return float((wide[above] / wide[below]).median())
