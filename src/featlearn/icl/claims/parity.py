"""Claims on sparse parities."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import pandas as pd

from featlearn.core.claims import (
    DIFFERENCE_OF_SHARES,
    OBSERVATION,
    POSITIVE,
    SHARE,
    THEOREM,
    Claim,
    difference,
    needs,
)
from featlearn.core.stats import per_replicate

Frames = Mapping[str, pd.DataFrame]
FOLDER = "icl/measurements/parity"
EXACT = f"{FOLDER}/constructions.parquet"


def _arm(frames: Frames, arm: str) -> pd.DataFrame:
    own = frames["constructions"]
    return own[own["arm"] == arm].set_index(["low", "high"])


def _one(of: Callable[[Frames], float]) -> Callable[[Frames], np.ndarray]:
    return lambda frames: np.array([of(frames)])


def _heads(frames: Frames) -> float:
    four, full = _arm(frames, "four heads"), _arm(frames, "g2")
    solves = four["margin"] >= 1 - 1e-9
    return float((four["heads"] / full["heads"])[solves].min()) if solves.any() else 1.0


def _norm(frames: Frames) -> float:
    less, full = _arm(frames, "less norm"), _arm(frames, "g2")
    return float((less["norm"] / less["margin"] ** 2 / full.loc[less.index, "norm"]).min())


def derived(config: Mapping[str, Any]) -> dict[str, pd.DataFrame]:
    """Where claims on finite prompts look."""
    return {"judged": pd.DataFrame({"examples": [config["parity"]["judged_examples"]]})}


def _at(arm: str, share: float) -> Callable[[Frames], np.ndarray]:
    def measure(frames: Frames) -> np.ndarray:
        examples = int(frames["judged"]["examples"].iloc[0])
        return per_replicate(frames["sampled"], arm=arm, share=share, examples=examples)

    return measure


def _gain(frames: Frames) -> np.ndarray:
    """Loss on the other tasks with four heads minus that with the most, where they are rarest."""
    own = frames["trained"]
    own = own[own["rare"] == own["rare"].min()]
    wide = own.pivot_table(index="replicate", columns="heads", values="others")
    return (wide[4] - wide[wide.columns.max()]).to_numpy()


CLAIMS = (
    Claim("icl/theorem-5-5-1-zero-loss", THEOREM, "Theorem 5.5.1",
          "The printed g2 has zero hinge loss on all tasks.", "least margin over sizes, tasks and "
          "signs", 1 - 1e-9, np.inf, "A hinge of 0 is a margin of 1.",
          _one(lambda frames: float(_arm(frames, "g2")["margin"].min())), EXACT,
          statistic="exact"),
    Claim("icl/heads-needed-as-printed", THEOREM, "Theorem 5.5.1, proof",
          "Zero loss needs 2 (nu_2 + 1) heads.", "heads of a network that solves all tasks over "
          "that number, least over the sizes", 1, np.inf, "Four heads solve all tasks at any size, "
          "so that we expect it to fail.", _one(_heads), EXACT, possible=POSITIVE,
          statistic="exact"),
    Claim("icl/g1-optimal-as-printed", THEOREM, "Theorem 5.5.1",
          "g1 minimises the loss among 2 (nu_1 + 1) heads.", "its loss on other tasks, minus that "
          "of four heads, largest over the sizes", 0, 0, "Its loss would be least. Four heads, and "
          "zeros, have loss 0: we expect it to fail.",
          _one(lambda frames: float(
              (_arm(frames, "g1")["rare"] - _arm(frames, "four heads")["rare"]).max())),
          EXACT, statistic="exact"),
    Claim("icl/least-norm-as-printed", THEOREM, "Theorem 5.5.1",
          "g2 is the solution of least norm with its number of heads.", "norm of six heads of "
          "ours at four features over that of g2, both at margin 1", 1, np.inf,
          "40 against 48 by hand: we expect it to fail.", _one(_norm), EXACT,
          None, POSITIVE, "exact"),
    Claim("icl/g1-only-important-as-printed", THEOREM, "Theorem 5.5.1, discussion",
          "g1 solves the important tasks only.", "share of the other tasks that it leaves "
          "unsolved, largest over the sizes", 1, 1, "By the closed form it solves all whose low "
          "digits differ: we expect it to fail.",
          _one(lambda frames: float(_arm(frames, "g1")["unsolved"].max())), EXACT, None, SHARE,
          "exact"),
    Claim("icl/fewer-heads-fewer-examples", THEOREM, "Theorem 5.5.2",
          "The printed g1 is right more often than g2 on an important task at finite prompts.",
          "accuracy of g1 minus that of g2 at 256 examples", 0.02, 1,
          "By the sheet .999 against .903 at these sizes.",
          difference(_at("g1", 0),
                     _at("g2", 0)),
          f"{FOLDER}/sampled.parquet", needs(parity__judged_examples=256, parity__prompts=1000),
          DIFFERENCE_OF_SHARES),
    Claim("icl/even-in-labels", OBSERVATION, "ours",
          "The printed networks do not notice that all labels are flipped.", "accuracy of g2 with "
          "all labels flipped minus that with none, 256 examples", -0.05, 0.05,
          "0 on the same prompts; these are drawn apart.",
          difference(_at("g2", 1),
                     _at("g2", 0)),
          f"{FOLDER}/sampled.parquet", needs(parity__judged_examples=256, parity__prompts=1000),
          DIFFERENCE_OF_SHARES),
    Claim("icl/more-heads-rare-tasks", THEOREM, "section 5.5",
          "Trained networks with more heads serve the rare tasks better.", "hinge loss on the "
          "others with 4 heads minus that with the most, where they are rarest", 0.02, np.inf,
          "Pilots on other streams gave about .1 at 4 against 16 heads.", _gain,
          f"{FOLDER}/trained.parquet",
          needs(parity__training__steps=1500, parity__training__heads=16)),
)  # fmt: skip
