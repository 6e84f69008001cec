"""Tables of this paper, for machines and for readers."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import pandas as pd

from featlearn.core.prose import plus_minus
from featlearn.core.stats import SPREAD_KIND
from featlearn.core.summary import side_by_side, summary

Frames = Mapping[str, pd.DataFrame]


@dataclass(frozen=True)
class Page:
    """A table, how it is shown, and what is said above and below."""

    table: pd.DataFrame
    shown: pd.DataFrame
    title: str
    notes: str


#: What is listed of the closed forms, in words.
CLOSED_FORMS = {
    "gradient_2": "gradient of the objective (A.1), two neurons: relative error",
    "gradient_4": "the same for four neurons: relative error",
    "gradient_2_live_target": "without StopGrad: relative error",
    "named_terms": "terms of the appendix, corrected, put together: relative error",
    "printed_signal": "(A.2) as printed: its signal part over the true one",
    "printed_noise": "(A.2) as printed: its noise part over the true one",
    "printed_head": "head gradient as printed: relative error",
    "printed_xi": "Xi as printed (Fact D.2): relative error",
    "printed_view_noise": "loss of a large batch over the formula with C_2 as printed, minus 1",
    "radial": "Lemma B.8(a), corrected gradient: radial part",
    "printed_radial": "Lemma B.8(a), printed gradient: radial part",
    "batch_radial": "Lemma B.8(a) on a single batch: violation",
    "batch_exchange": "exchange between neuron and head on a single batch: violation",
    "batch_frozen": "radial gradient of each neuron, frozen head, single batch: violation",
    "monte_carlo_gaussian": "loss of a large batch over the population's, minus 1: Gaussian noise",
    "monte_carlo_sphere": "the same: noise on a sphere",
    "monte_carlo_both": "the same: both features in each sample",
    "monte_carlo_frequent": "the same: the strong feature more often",
}


def closed_forms(frames: Frames) -> Page:
    """Errors of the closed forms and of the printed ones."""
    table = summary(frames["instances"], ["quantity"])
    table = table[table["quantity"].isin(list(CLOSED_FORMS))]
    order = {name: place for place, name in enumerate(CLOSED_FORMS)}
    table = table.sort_values("quantity", key=lambda names: names.map(order), ignore_index=True)
    table.insert(1, "text", table["quantity"].map(CLOSED_FORMS))
    cells = [
        f"{largest:.1e}" if abs(largest) < 1e-6 else plus_minus(mean, half)
        for mean, half, largest in zip(
            table["mean"], table["half_width"], table["largest"], strict=True
        )
    ]
    shown = pd.DataFrame({"what": table["text"], "value": cells})
    return Page(
        table, shown, "Closed forms against brute force",
        f"{int(table['replicates'].max())} random instances in float64. Where the value is below "
        f"1e-6 it is the largest of them, else mean and {SPREAD_KIND}.",
    )  # fmt: skip


def roles(frames: Frames) -> Page:
    """Section 5.3: which feature neuron 2 is pushed along."""
    table = frames["roles"].copy()
    table["weak_over_strong"] = table["weak"] / table["strong"]
    shown = table.rename(
        columns={"e21": "E_21", "strong": "push along v_1", "weak": "push along v_2",
                 "weak_over_strong": "ratio v_2 / v_1"}
    )  # fmt: skip
    for name in ("push along v_1", "push along v_2", "ratio v_2 / v_1"):
        shown[name] = [f"{value:.3g}" for value in shown[name]]
    return Page(
        table, shown, "Roles of StopGrad and normalisation",
        "Exact population gradients of neuron 2 at B = [[1.2, 0.15], [0.15, 0.15]], R = 0.1, once "
        "neuron 1 has the strong feature. A negative push on v_1 shrinks that product.",
    )  # fmt: skip


#: Columns of the table of ablations.
ENDS = {
    "b11": "neuron 1, v_1", "b12": "neuron 1, v_2", "b21": "neuron 2, v_1", "b22": "neuron 2, v_2",
    "e21": "head E_21", "correlation": "correlation", "loss": "loss",
}  # fmt: skip


def ablations(frames: Frames) -> Page:
    """Where each variant of Algorithm 1 ends."""
    history = frames["history"]
    last = history[history["step"] == history["step"].max()]
    table = summary(last, ["variant", "quantity"])
    shown = side_by_side(table, ["variant"], "quantity", ENDS)
    return Page(
        table, shown, "Algorithm 1 and its ablations",
        f"State after the last step; {int(table['replicates'].max())} replicates; after the sign: "
        f"{SPREAD_KIND}. Losses of different normalisations do not compare.",
    )  # fmt: skip


#: Columns of the table of phases.
LENGTHS = {
    "t1_predicted": "I, predicted", "phase_1": "I, measured", "phase_2": "II", "phase_3": "III",
    "phase_end": "head back", "largest_e21_of_bound": "largest E_21 / bound",
    "end_correlation": "correlation at the end",
}  # fmt: skip


def phase_times(frames: Frames) -> Page:
    """Lengths of the phases over the dimension."""
    times = frames["times"]
    chosen = times[times["quantity"].isin(list(LENGTHS))]
    table = summary(chosen, ["dimension", "quantity"])
    cells = table.assign(cell=[f"{mean:.3g}" for mean in table["mean"]]).pivot_table(
        index="dimension", columns="quantity", values="cell", aggfunc="first", sort=False
    )
    shown = cells[list(LENGTHS)].rename(columns=LENGTHS).reset_index()
    shown["dimension"] = [f"{d:.0e}" for d in shown["dimension"]]
    return Page(
        table, shown, "Phases over the dimension",
        f"Means over {int(table['replicates'].max())} replicates; times in units of eta x steps.",
    )  # fmt: skip


def outcomes(frames: Frames) -> Page:
    """Shares of outcomes, by case and way of training."""
    frame = frames["outcomes"]
    parts = []
    for outcome in ("diverse", "strong", "weak", "undecided"):
        value = (frame["outcome"] == outcome).astype(float)
        # a replicate is a group of starts: its number is their share
        share = frame.assign(value=value).groupby(["case", "mode", "replicate"], sort=False)[
            "value"
        ]
        parts.append(share.mean().reset_index().assign(outcome=outcome))
    table = summary(pd.concat(parts, ignore_index=True), ["case", "mode", "outcome"])
    heads = {"diverse": "both features", "strong": "strong only", "weak": "weak only",
             "undecided": "a mixture"}  # fmt: skip
    shown = side_by_side(table, ["case", "mode"], "outcome", heads)
    starts = int(frame.groupby(["case", "mode"]).size().max())
    return Page(
        table, shown, "What becomes of random starts",
        f"Shares of {starts} starts a case, in {int(table['replicates'].max())} groups; after the "
        f"sign: {SPREAD_KIND}.",
    )  # fmt: skip


TABLES: dict[str, Callable[[Frames], Page]] = {
    "closed-forms": closed_forms,
    "roles": roles,
    "ablations": ablations,
    "phase-times": phase_times,
    "outcomes": outcomes,
}
