"""One line that tells how far a long job is: step, what it sees, time left."""

from __future__ import annotations

import sys
import time


def clock(seconds: float) -> str:
    """``75.2`` -> ``"1:15"``; ``3700`` -> ``"1:01:40"``."""
    whole = max(0, round(seconds))
    minutes, rest = divmod(whole, 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02d}:{rest:02d}" if hours else f"{minutes}:{rest:02d}"


class Progress:
    """Prints at most one line every ``interval`` seconds to standard error.

    Parameters
    ----------
    label
        Who is speaking, e.g. the rule's name.
    total
        Number of steps; an upper bound when the run may stop early.
    interval
        Seconds between two lines.
    """

    def __init__(self, label: str, total: int, interval: float = 5.0):
        self.label, self.total, self.interval = label, total, interval
        self.started = self.printed = time.monotonic()

    def due(self) -> bool:
        """Whether the next line is due: ask before computing something only to print it."""
        return time.monotonic() - self.printed >= self.interval

    def update(self, step: int, **seen: object) -> None:
        """Say that ``step`` steps are done; ``seen`` are further words, ``loss="0.41"``."""
        if not self.due():
            return
        self.printed = time.monotonic()
        left = (self.printed - self.started) * (self.total - step) / max(step, 1)
        words = "  ".join(f"{name} {value}" for name, value in seen.items())
        share = 100 * step / max(self.total, 1)
        print(
            f"{self.label}: step {step}/{self.total} ({share:.0f} %)  {words}  "
            f"at most {clock(left)} left",
            file=sys.stderr,
            flush=True,
        )
