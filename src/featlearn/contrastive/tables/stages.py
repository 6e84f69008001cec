"""What the arms hold, and what a probe makes of them."""

from __future__ import annotations

import pandas as pd

from featlearn.contrastive.tables.shared import PROBE_HEADS, TRAIN_HEADS, labelled
from featlearn.core.publish import Table, table
from featlearn.core.stats import SPREAD_KIND, side_by_side, summary

#: Models in the order of the story, with the words that a reader sees.
MODELS = {
    "raw": "Samples themselves",
    "atoms": "Samples along the atoms",
    "linear-exact": "Best linear predictor, exact",
    "initial": "Random weights, thresholds at zero",
    "random-features": "Random weights, thresholds raised",
    "unmasked-zero": "No mask, thresholds at zero",
    "masked-zero": "RandomMask, thresholds at zero",
    "unmasked": "No mask, thresholds raised",
    "masked": "RandomMask, thresholds raised",
    "bayes": "Bayes estimate",
    "bayes-exact": "Bayes floor, exact",
}
#: Quantities of the moments that are shown to readers, in words.
MOMENT_QUANTITIES = {
    "step": "step",
    "signal_share": "share of a neuron's norm² in span(M)",
    "singletons": "share of singletons",
    "covered": "share of atoms covered",
    "strength_mean": "F_j / (τ log d), mean",
    "bias_over_norm": "b / ‖w‖, mean",
    "alive": "share of neurons alive",
    "firing": "firing rate",
    "firing_precision": "singletons: firings with the atom active",
    "cosine_noise": "cos(f(x), f(ξ))",
    "cosine_signal": "cos(f(x), f(Mz))",
    "loss": "loss",
    "retrieval": "positive retrieved",
}
MOMENT_HEADS = {"start": "start", "t1": "T1", "t2": "T2", "end": "end"}


@table()
def downstream(evaluation: pd.DataFrame) -> Table:
    """Linear probes on every representation"""
    found = labelled(summary(evaluation, ["model", "quantity"]), "model", MODELS)
    return Table(
        found,
        side_by_side(found, ["label"], "quantity", PROBE_HEADS | TRAIN_HEADS),
        "NMSE: mean squared error over the mean square of the response; chance has 1, and 0.5 right. "
        "On training samples as well as on fresh ones. "
        f"{int(found['replicates'].max())} replicates; after the sign: {SPREAD_KIND}.",
    )


@table()
def moments(moments: pd.DataFrame) -> Table:
    """What the arms hold at each moment

    Means over replicates at the start, at T1, at T2 and at the end; with thresholds at zero at thirds of the way.
    *What to see:* with RandomMask neurons turn into the span of the atoms until T1 and into singletons after it;
    they come to fire about as rarely as their atom is active. Without a mask they lie less in the span at T1, and
    yet become singletons; the positive is retrieved more often, and the representation is nearer to that of the
    noise. With the theory's decay most neurons die, and the dead are no singletons.
    """
    found = summary(moments, ["arm", "moment", "quantity"])
    came = (found["quantity"] != "step") | (found["mean"] >= 0)  # no T1 without thresholds
    shown = labelled(found[came], "quantity", MOMENT_QUANTITIES)
    order = ["masked", "unmasked", "masked-zero", "unmasked-zero", "theory-decay"]
    shown = pd.concat([shown[shown["arm"] == arm] for arm in order], ignore_index=True)
    return Table(found, side_by_side(shown, ["arm", "label"], "moment", MOMENT_HEADS))
