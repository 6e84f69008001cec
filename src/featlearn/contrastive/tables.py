"""Tables of the measurements: means with intervals, and the same for reading."""

from __future__ import annotations

import pandas as pd

from featlearn.core.prose import number
from featlearn.core.summary import side_by_side, summary

#: Models in the order of the story, with the words that a reader sees.
MODELS = {
    "raw": "Samples themselves",
    "atoms": "Samples along the atoms",
    "linear-exact": "Best linear predictor, exact",
    "initial": "Random weights",
    "unmasked": "No augmentation",
    "zero-thresholds": "RandomMask, thresholds at zero",
    "masked": "RandomMask, thresholds raised",
    "bayes": "Bayes estimate",
    "bayes-exact": "Bayes floor, exact",
}
PROBE_HEADS = {"nmse": "NMSE", "accuracy": "accuracy"}
#: Arms of the ablations, in words.
ARMS = {
    "reference": "reference",
    "no-mask": "no mask",
    "independent-masks": "independent masks",
    "zero-thresholds": "thresholds at zero",
    "no-growth": "kb = 0",
    "faster-growth": "kb = 0.15",
    "fast-growth": "kb = 0.3",
    "printed-schedule": "kb = 1, as printed",
    "theory-decay": "λ = d^-1.499",
    "strong-decay": "λ = 2 d^-1.499",
    "early-t1": "T1 at ‖w‖² doubled",
    "higher-thresholds": "b0 = 1.3",
    "more-activity": "C_z = 2",
    "more-noise": "c_ξ = 3",
    "few-neurons": "m = d^1.01",
    "qr": "dictionary: random frame",
    "spiky": "dictionary: spikes",
    "printed-gradient": "printed gradient",
}
ARM_HEADS = {
    "nmse": "NMSE",
    "accuracy": "accuracy",
    "covered": "atoms covered",
    "singletons": "singletons",
    "alive": "neurons alive",
    "signal_share": "share in span(M)",
}
SCALING_HEADS = {"nmse": "NMSE", "accuracy": "accuracy", "covered": "atoms covered",
                 "stage_two": "η (T2 - T1)", "firing": "firing rate"}  # fmt: skip
PRINTED_HEADS = {
    "printed": "relative error, as the gradient",
    "printed_against_descent": "as the descent direction",
    "printed_cosine": "cosine with the gradient",
    "without_stop_gradient": "error without StopGrad",
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


def _labelled(table: pd.DataFrame, column: str, words: dict[str, str]) -> pd.DataFrame:
    """Rows whose ``column`` is known, in the order of ``words``, with a column ``label``."""
    known = [name for name in words if (table[column] == name).any()]
    table = pd.concat([table[table[column] == name] for name in known], ignore_index=True)
    return table.assign(label=table[column].map(words))


def downstream(evaluation: pd.DataFrame) -> pd.DataFrame:
    """Columns model, quantity, mean, low, high, half_width, largest, replicates, label."""
    return _labelled(summary(evaluation, ["model", "quantity"]), "model", MODELS)


def downstream_for_reading(table: pd.DataFrame) -> pd.DataFrame:
    """A row a model."""
    return side_by_side(table, ["label"], "quantity", PROBE_HEADS)


def moments(frame: pd.DataFrame) -> pd.DataFrame:
    """Columns arm, moment, quantity, mean, ..., replicates."""
    return summary(frame, ["arm", "moment", "quantity"])


def moments_for_reading(table: pd.DataFrame) -> pd.DataFrame:
    """A row an arm and quantity, a column a moment."""
    came = (table["quantity"] != "step") | (table["mean"] >= 0)  # no T1 without thresholds
    shown = _labelled(table[came], "quantity", MOMENT_QUANTITIES)
    order = [
        arm for arm in ("masked", "zero-thresholds", "unmasked") if (shown["arm"] == arm).any()
    ]
    shown = pd.concat([shown[shown["arm"] == arm] for arm in order], ignore_index=True)
    return side_by_side(shown, ["arm", "label"], "moment", MOMENT_HEADS)


def ablations(evaluation: pd.DataFrame) -> pd.DataFrame:
    """Columns model (an arm, or arm/baseline), quantity, mean, ..., replicates."""
    return summary(evaluation, ["model", "quantity"])


def ablations_for_reading(table: pd.DataFrame) -> pd.DataFrame:
    """A row an arm; the best linear predictor and the Bayes floor of its data beside it."""
    own = _labelled(table, "model", ARMS)
    wide = side_by_side(own, ["label"], "quantity", ARM_HEADS)
    names = {words: name for name, words in ARMS.items()}
    nmse = table[table["quantity"] == "nmse"].set_index("model")["mean"]
    for head, baseline in (("linear", "linear-exact"), ("Bayes", "bayes-exact")):
        values = [nmse[f"{names[label]}/{baseline}"] for label in wide["label"]]
        wide[f"NMSE, {head}"] = [number(value) for value in values]
    return wide


def scaling(sizes: pd.DataFrame) -> pd.DataFrame:
    """Columns atoms, model, quantity, mean, ..., replicates, place (least, between, most)."""
    table = summary(sizes, ["atoms", "model", "quantity"])
    ends = {int(table["atoms"].min()): "least", int(table["atoms"].max()): "most"}
    return table.assign(place=[ends.get(int(atoms), "between") for atoms in table["atoms"]])


def scaling_for_reading(table: pd.DataFrame) -> pd.DataFrame:
    """A row a number of atoms."""
    wide = side_by_side(table[table["model"] == "masked"], ["atoms"], "quantity", SCALING_HEADS)
    nmse = table[table["quantity"] == "nmse"].set_index(["atoms", "model"])["mean"]
    for head, baseline in (("linear", "linear-exact"), ("Bayes", "bayes-exact")):
        wide[f"NMSE, {head}"] = [number(nmse[atoms, baseline]) for atoms in wide["atoms"]]
    return wide


def printed_gradient(instances: pd.DataFrame) -> pd.DataFrame:
    """Columns scale (standard deviation of the weights), quantity, mean, ..., replicates."""
    return summary(
        instances[instances["quantity"].isin(list(PRINTED_HEADS))], ["scale", "quantity"]
    )


def printed_gradient_for_reading(table: pd.DataFrame) -> pd.DataFrame:
    """A row a scale of the weights."""
    wide = side_by_side(table, ["scale"], "quantity", PRINTED_HEADS)
    return wide.rename(columns={"scale": "standard deviation of a weight"})


def identities(instances: pd.DataFrame, sampled: pd.DataFrame) -> pd.DataFrame:
    """Columns part (exact or sampled), quantity, setting, mean, ..., replicates, predicted."""
    exact = instances[~instances["quantity"].isin(list(PRINTED_HEADS))]
    first = summary(exact.rename(columns={"scale": "setting"}), ["quantity", "setting"])
    keys = ["check", "setting"]
    second = summary(sampled, keys, "measured").rename(columns={"check": "quantity"})
    predicted = sampled.groupby(keys, sort=False)["predicted"].mean().to_numpy()
    return pd.concat(
        [first.assign(part="exact"), second.assign(part="sampled", predicted=predicted)],
        ignore_index=True,
    )


def identities_for_reading(table: pd.DataFrame) -> pd.DataFrame:
    """A row a quantity and setting."""
    rows = []
    for row in table.to_dict("records"):
        exact = row["part"] == "exact"
        spread = f"{row['mean']:.4g} ± {row['half_width']:.1g}"
        rows.append(
            {
                "quantity": row["quantity"].replace("_", " "),
                "setting": f"{row['setting']:g}",
                "measured": f"{row['largest']:.1e}" if exact else spread,
                "closed form": "0" if exact else _or_dash(row["predicted"]),
            }
        )
    return pd.DataFrame(rows)


def _or_dash(value: float) -> str:
    return "-" if value != value else f"{value:.4g}"
