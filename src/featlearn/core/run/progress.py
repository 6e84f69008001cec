"""One line that tells how far a long job is: step, what it sees, time left."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Mapping


def clock(seconds: float) -> str:
    """``75.2`` -> ``"1:15"``; ``3700`` -> ``"1:01:40"``."""
    whole = max(0, round(seconds))
    minutes, rest = divmod(whole, 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02d}:{rest:02d}" if hours else f"{minutes}:{rest:02d}"


class Progress:
    """Prints a line every ``interval`` seconds at most; ``total`` steps, or fewer."""

    def __init__(self, label: str, total: int, interval: float = 5.0):
        self.label, self.total, self.interval = label, total, interval
        self.started = self.printed = time.monotonic()
        self.first: tuple[int, float] | None = None

    def report(self, step: int, see: Callable[[], Mapping[str, str]]) -> None:
        """Say that ``step`` steps are done, if a line is due, and further words of ``see()``."""
        now = time.monotonic()
        # the pace is that since the first call: a resumed run does not start at step 0
        begun, then = self.first or (0, self.started)
        self.first = self.first or (step, now)
        if now - self.printed < self.interval:
            return
        self.printed = now
        left = (now - then) * (self.total - step) / max(step - begun, 1)
        words = "  ".join(f"{name} {value}" for name, value in see().items())
        share = 100 * step / max(self.total, 1)
        print(
            f"{self.label}: step {step}/{self.total} ({share:.0f} %)  {words}  "
            f"at most {clock(left)} left",
            file=sys.stderr,
            flush=True,
        )
