"""What ``portable: true`` costs: a piece of work of each paper with it and without, by turns."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path
from types import SimpleNamespace

import pandas as pd

from bench.timing import ratio, side_by_side

ROOT = Path(__file__).resolve().parents[1]
#: Of each paper a function that a rule calls, and the part of the config that it is called with.
WORK = {
    "mrp": ("teacher_student:pretrain", "teacher_student"),
    "contrastive": ("trained_thresholds:measure", "trained_thresholds"),
    "noncontrastive": ("algorithm:measure", "algorithm"),
    "emergence": ("mixture:measure", "mixture"),
    "gradient_features": ("learning:measure", "learning"),
    "fourier": ("training:measure_all", "margins"),
    "icl": ("regression:measure", "regression"),
    "nuclear": ("theory:measure_toy", "toy"),
    "universality": ("ladders:measure", "ladders"),
    "looped": ("learned:measure", "learned"),
    "gemfilter": ("training:measure", "trained"),
}
TURNS = 5


class Worker:
    """A process that does the work of papers when asked: libraries choose as they are loaded."""

    def __init__(self, *, portable: bool):
        from featlearn.core.run.portable import pin

        environment = {**os.environ, "OMP_NUM_THREADS": "1"}
        if portable:
            pin(environment)
        self.process = subprocess.Popen(
            [sys.executable, "-m", "bench.portable"],
            cwd=ROOT,
            env=environment,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )

    def seconds(self, paper: str) -> float:
        """Seconds of processor that the work of a paper took."""
        assert self.process.stdin
        assert self.process.stdout
        print(paper, file=self.process.stdin, flush=True)
        for line in self.process.stdout:
            if line.startswith("took "):
                return float(line.split()[1])
        raise RuntimeError(f"the work of {paper} failed: see what its worker said above")

    def __enter__(self) -> Worker:
        return self

    def __exit__(self, *_: object) -> None:
        self.process.communicate()


def work() -> None:
    """What a worker does: at ``smoke``, on one thread, nothing compiled."""
    from importlib import import_module

    from featlearn.core.run.config import load
    from featlearn.core.training.devices import prepare

    device = prepare("cpu")
    config = load({"scale": "smoke"}, ROOT)
    for line in sys.stdin:
        paper = line.strip()
        path, section = WORK[paper]
        module, _, name = path.partition(":")
        function = getattr(import_module(f"featlearn.{paper}.experiments.{module}"), name)
        job = SimpleNamespace(
            config=config[paper][section],
            rule=f"{paper}_{section}",
            seed=config["seed"],
            wildcards={"group": "0"},
            device=device,
            tell=lambda _: None,
        )
        started = time.process_time()
        function(job)
        print(f"took {time.process_time() - started}", flush=True)


def costs() -> pd.DataFrame:
    """Seconds of processor, portable to plain, a row a paper.

    Loops that a plain run of a larger scale compiles (``compile: auto``) are compiled in neither:
    what a portable run loses there comes on top.
    """
    with ExitStack() as stack:
        ways = {
            name: stack.enter_context(Worker(portable=portable))
            for name, portable in (("portable", True), ("plain", False))
        }
        rows = []
        for paper, (path, _) in WORK.items():
            timed = _by_turns({name: _asked(worker, paper) for name, worker in ways.items()})
            rows.append((
                f"{paper}, {path.partition(':')[0]}: time, portable / plain",
                ratio(timed, "portable", "plain"),
                float(timed[timed["rival"] == "plain"]["seconds"].median()),
                "",
            ))  # fmt: skip
    return pd.DataFrame(rows, columns=["what", "ratio", "plain seconds", "wanted"])


def _asked(worker: Worker, paper: str) -> Callable[[], float]:
    return lambda: worker.seconds(paper)


def _by_turns(rivals: dict[str, Callable[[], float]]) -> pd.DataFrame:
    """As :func:`bench.timing.side_by_side`, with the seconds that the rivals tell."""
    total = [0.0]

    def told(run: Callable[[], float]) -> Callable[[], None]:
        def add() -> None:
            total[0] += run()

        return add

    return side_by_side({name: told(run) for name, run in rivals.items()}, TURNS,
                        clock=lambda: total[0])  # fmt: skip


BENCHMARKS = {"portable": costs}

if __name__ == "__main__":
    work()
