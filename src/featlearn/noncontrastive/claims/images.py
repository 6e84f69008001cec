"""What the paper says of images: Figures 1 to 4; bands fixed before the reported replicates.

Trainings on other streams set sizes and learning rates; the bands rest on what the paper says
and on what three replicates can tell.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import pandas as pd

from featlearn.core.claims import Claim, Measure, OutOfReach
from featlearn.noncontrastive.images.cells import UNTRAINED, Cell, cells, training_of, trajectory

VALUES = "noncontrastive/measurements/images/values.parquet"
HISTORY = "noncontrastive/measurements/images/history.parquet"

LEAST_REPLICATES = 3
#: Fewer steps than these show nothing of a training without labels.
LEAST_STEPS = 100
#: Steps that a head takes to rise and to fall again: on 8-pixel digits, in a trial with other code,
#: it was largest after 1800 steps and clearly smaller after 4400.
LEAST_HEAD_STEPS = 4400
#: Smallest difference of accuracies that counts: a test set of some hundred images and three
#: paired replicates tell differences apart down to about that.
CLEAR = 0.02

Frames = Mapping[str, pd.DataFrame]


def too_small(replicates: int, training: Mapping[str, Any]) -> str | None:
    """Why so many replicates of a training cannot show a claim; None if they can."""
    steps = training.get("steps")
    if replicates >= LEAST_REPLICATES and (steps is None or steps >= LEAST_STEPS):
        return None
    return (
        f"{replicates} replicates of {steps} steps; the band is meant for at least "
        f"{LEAST_REPLICATES} of {LEAST_STEPS}."
    )


def _too_small(name: str) -> OutOfReach:
    def reason(config: Mapping[str, Any]) -> str | None:
        settings = config["images"][name]
        return too_small(settings["replicates"], settings["training"])

    return reason


def _too_short(name: str) -> OutOfReach:
    """Of the trajectory of the head, in addition."""

    def reason(config: Mapping[str, Any]) -> str | None:
        settings = config["images"][name]
        steps = training_of(trajectory(settings), settings).get("steps")
        if steps is None or steps >= LEAST_HEAD_STEPS:
            return _too_small(name)(config)
        return f"{steps} steps; the head takes thousands to rise and to fall again."

    return reason


def _read(frame: pd.DataFrame, name: str, run: str, quantity: str, layer: str = "") -> pd.Series:
    """One number a replicate, by replicate."""
    chosen = frame[
        (frame["data_set"] == name)
        & (frame["run"] == run)
        & (frame["quantity"] == quantity)
        & (frame["layer"] == layer)
    ]
    if chosen.empty or chosen["replicate"].duplicated().any():
        raise KeyError(f"{quantity} of {run} on {name}: expected one row a replicate")
    return chosen.set_index("replicate")["value"].sort_index()


def _value(name: str, run: str, quantity: str, layer: str = "") -> Measure:
    return lambda frames: _read(frames["values"], name, run, quantity, layer).to_numpy()


def _difference(name: str, runs: tuple[str, str], quantity: str, layer: str = "") -> Measure:
    """First minus second, in pairs: a replicate has the same images and start for both."""

    def measure(frames: Frames) -> np.ndarray:
        first, second = (_read(frames["values"], name, run, quantity, layer) for run in runs)
        return (first - second).to_numpy()

    return measure


def _layers(name: str, run: str, quantity: str) -> Measure:
    """Of the projection minus of the encoder."""

    def measure(frames: Frames) -> np.ndarray:
        first, second = (
            _read(frames["values"], name, run, quantity, layer)
            for layer in ("projection", "encoder")
        )
        return (first - second).to_numpy()

    return measure


def _over_targets(name: str, settings: Mapping[str, Any]) -> Measure:
    """Accuracy with a moving average minus without, mean over all cells with a head."""
    pairs = [
        (Cell(cell.head, cell.norm, "ema").name, cell.name)
        for cell in cells(settings)
        if cell.target == "self" and cell.head != "none"
    ]

    def measure(frames: Frames) -> np.ndarray:
        parts = [_difference(name, pair, "accuracy")(frames) for pair in pairs]
        return np.mean(parts, axis=0)

    return measure


def _trajectory(
    name: str, settings: Mapping[str, Any], of: Callable[[pd.DataFrame], float]
) -> Measure:
    """One number of the identity head's history, a replicate."""

    def measure(frames: Frames) -> np.ndarray:
        history = frames["history"]
        own = history[(history["data_set"] == name) & (history["run"] == trajectory(settings))]
        if own.empty:
            raise KeyError(f"history of {trajectory(settings)} on {name}")
        return np.array([of(one) for _, one in own.groupby("replicate")])

    return measure


def _fallen(history: pd.DataFrame) -> float:
    """Last off-diagonal norm over the largest."""
    return float(history["off_diagonal"].iloc[-1] / history["off_diagonal"].max())


def _ratio_at_end(history: pd.DataFrame) -> float:
    """0 for a head that has not moved."""
    last = history.iloc[-1]
    return float(last["asymmetry"] / max(last["off_diagonal"], 1e-12))


def claims(sets: Mapping[str, Any]) -> tuple[Claim, ...]:
    """The claims about every data set of the config ``noncontrastive.images``."""
    return tuple(claim for name, settings in sets.items() for claim in _claims_of(name, settings))


def _claims_of(name: str, settings: Mapping[str, Any]) -> list[Claim]:
    def claim(about: str, **parts: Any) -> Claim:
        return Claim(
            f"noncontrastive/images-{name.replace('_', '-')}-{about}",
            **{"artefact": VALUES, "out_of_reach": _too_small(name), **parts},
        )

    without, with_head = "none-batch-self", "identity-batch-self"
    made = {cell.name for cell in cells(settings)}
    found = []
    if without in made:
        found += [
            claim(
                "collapse",
                source="Figure 1(a)",
                statement="Without a head the projection's neurons correlate almost perfectly.",
                quantity="mean absolute correlation of two neurons of the projection, no head",
                low=0.95,
                high=1.0,
                reason="Mass at plus and minus one, as the figure has it.",
                measure=_value(name, without, "correlation", "projection"),
            ),
            claim(
                "collapse-milder-in-encoder",
                source="Figure 1(b)",
                statement="The encoder's neurons are correlated much less.",
                quantity="mean absolute correlation: projection minus encoder, no head",
                low=0.1,
                high=1.0,
                reason="Milder at a glance: a tenth of the whole range.",
                measure=_layers(name, without, "correlation"),
            ),
            claim(
                "head-keeps-rank",
                source="Figure 1, section 1",
                statement="The identity head keeps the projection from this dimensional collapse.",
                quantity="effective rank of the projection: identity head minus none",
                low=0.5,
                high=float(settings["projection"]["width"]),
                reason="One dimension is collapse; half of a further one is more than the spread "
                "of replicates.",
                measure=_difference(name, (with_head, without), "effective_rank", "projection"),
            ),
            claim(
                "head-beats-none",
                source="Figure 2",
                statement="The identity head gives better features than no head.",
                quantity="accuracy of the linear probe: identity head minus none, batch norm",
                low=CLEAR,
                high=1.0,
                reason="Clearly worse without a head; the size cannot be read off the figure.",
                measure=_difference(name, (with_head, without), "accuracy"),
            ),
        ]
    for rival, words in (("linear", "a random linear head"), ("mlp", "a two-layer MLP")):
        other = f"{rival}-batch-self"
        if other in made:
            found.append(
                claim(
                    f"identity-like-{rival}",
                    source="Figure 2",
                    statement=f"The identity-initialised head does about as well as {words}.",
                    quantity=f"accuracy of the linear probe: identity minus {rival}, batch norm",
                    low=-0.05,
                    high=1.0,
                    reason="Comparable bars: at most a few points behind; ahead is no objection.",
                    measure=_difference(name, (with_head, other), "accuracy"),
                )
            )
    if {"self", "ema"} <= set(settings["targets"]) and set(settings["heads"]) - {"none"}:
        found.append(
            claim(
                "no-average-needed",
                source="Figure 2",
                statement="The moving average as target is not needed.",
                quantity="accuracy with it minus without, mean over the cells with a head",
                low=-1.0,
                high=0.05,
                reason="At most a few points gained; the paper names no direction.",
                measure=_over_targets(name, settings),
            )
        )
    found += [
        claim(
            "training-helps",
            source="Figure 2 (implied)",
            statement="What is learned with the identity head is better than the random start.",
            quantity="accuracy of the linear probe: identity head minus untrained encoder",
            low=CLEAR,
            high=1.0,
            reason="Else nothing was learned that could be compared.",
            measure=_difference(name, (with_head, UNTRAINED), "accuracy"),
        ),
        claim(
            "head-rises-and-falls",
            source="Figures 3(a) and 4",
            statement="The head's off-diagonal part rises and then falls.",
            quantity="last off-diagonal norm over the largest, identity head",
            low=0.0,
            high=0.9,
            reason="A fall of a tenth is seen with the eye and exceeds the noise of the curve.",
            artefact=HISTORY,
            out_of_reach=_too_short(name),
            measure=_trajectory(name, settings, _fallen),
        ),
        claim(
            "head-not-symmetric",
            source="Figure 3(b)",
            statement="The head does not become symmetric.",
            quantity="asymmetry over off-diagonal norm at the end, identity head",
            low=0.3,
            high=2.0,
            reason="0 is symmetric, 1.41 entries without relation; the figure stays clearly above "
            "zero on CIFAR.",
            artefact=HISTORY,
            measure=_trajectory(name, settings, _ratio_at_end),
        ),
    ]
    return found
