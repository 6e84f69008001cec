"""Tables A.1 to A.5: what was measured, and beside it what the thesis prints. The hidden
representation has no printed table."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import pandas as pd

from featlearn.core.publish import Table, table
from featlearn.core.quoted import quoted_table
from featlearn.core.stats import SPREAD_KIND, estimate, side_by_side, summary
from featlearn.emergence.reading import (
    NEURONS,
    accuracies,
    bracketed,
    cosine,
    dimension,
    is_measured,
    measured,
    rows,
)

ARMS = {
    "network": "Network",
    "unweighted": "Network, two steps by the plain loss",
    "ntk": "NTK",
    "rf": "Random features",
    "rbf": "RBF kernel",
    "one_step": "One Step",
    "two_step": "Two Step",
    "flat": "Network w/o structure",
    "linear": "linear on the input",
    "threshold": "best threshold on the count",
    "majority": "majority",
    "flat_majority": "majority w/o structure",
}
PARTS = {
    "train": "train accuracy",
    "test": "test accuracy",
    "balanced": "mean over both labels",
    "cosine": "largest cosine",
}
#: What has no training samples.
EXACT = ("threshold", "majority", "flat_majority")


@table("table-a-1", cells=(("parity", 500),), words="parity labels", seen="""
{{ said("emergence/fixed-features-fall-short", holds="Fixed features stay behind the network",
fails="Fixed features keep up with the network") }},
{{ said("emergence/linear-falls-short", holds="and so does a linear classifier", fails="a linear classifier does not") }}.
A head on the features after two steps {{ said("emergence/two-steps-suffice", holds="has all labels",
fails="does not have all labels") }}; after one, solved to its optimum too,
{{ said("emergence/one-step-is-chance", holds="it is at chance as printed", fails="it is not at chance as printed") }}.
{{ said("emergence/structure-is-needed", holds="Without structure the network is at chance",
fails="Without structure the network is not at chance") }}.
{{ said("emergence/shift-invariant-falls-short", holds="The features of the RBF kernel stay behind the network, too",
fails="The features of the RBF kernel keep up with the network") }}.""")  # fmt: skip
@table("table-a-2", cells=(("interval", 500),), words="interval labels", seen="""
{{ said("emergence/network-interval", holds="The network learns the labels", fails="The network does not learn all labels") }},
{{ said("emergence/interval-needs-features", holds="which a linear classifier does not",
fails="but so does a linear classifier, and nothing about features follows") }}.""")  # fmt: skip
@table("table-a-3", cells=(("parity", 100), ("parity", 2000)), words="other dimensions of the input", seen="""
Accuracies are those of Table A.1, as training happens in the coordinates of the patterns. The cosine after one step
{{ said("emergence/one-step-cosine-falls", holds="falls with d as printed", fails="does not fall with d as printed") }}.""")  # fmt: skip
@table("table-a-4", cells=(("negatives-80", 500), ("negatives-90", 500)), words="unequal classes", seen="""
With nine negatives to a positive {{ said("emergence/network-negatives-90", holds="the network learns the labels",
fails="the network does not learn all labels") }}. By the mean of both labels' test accuracies
{{ said("emergence/weights-of-classes-matter", holds="it needs the weights of the classes in its two full steps",
fails="it does without the weights of the classes in its two full steps") }}. Nothing else weighs the labels,
heads and kernels neither.""")  # fmt: skip
@table("table-a-5", cells=(("samples-25000", 500), ("samples-10000", 500)), words="sample sizes", seen="""
From 10,000 samples {{ said("emergence/network-samples-10000", holds="the network learns the labels",
fails="the network does not learn all labels") }}.""")  # fmt: skip
@table("hidden", cells=(("hidden", 500),), words="hidden representation", seen="""
After two steps {{ said("emergence/hidden-aligns", holds="the weights have one direction",
fails="the weights do not have one direction") }}.""")  # fmt: skip
def accuracies_of_all_arms(
    values: pd.DataFrame,
    quoted: Mapping[str, Any],
    cells: tuple[tuple[str, int], ...],
    words: str,
    seen: str,
) -> Table:
    """Six arms and what solves the labels without them: {{ words }}

    Accuracies and the largest cosine of a neuron with the sum of the relevant patterns (with hidden
    representation weighted by how they go with the label); in brackets what the thesis prints
    (`paper_value`), if it does. Network: after the last step; NTK: the Taylor model at
    the start, at the step that is best on validation samples; random features, One Step, Two Step
    and the raw input: heads solved to their optimum on standardised features. The thesis trains
    those for as many steps as the network, at rates that it does not give. RBF kernel: a head on
    300 of its Fourier features, width and penalty chosen on validation samples; the
    thesis has a corollary on it. *What to see:* {{ seen }}
    """
    tables = [quoted_table(quoted, name)[0] for name in quoted]
    printed = pd.concat([each for each in tables if "cell" in each], ignore_index=True).set_index(
        ["cell", "dimension", "arm", "quantity"]
    )["paper_value"]
    shown = [own for own in cells if measured(values, own[:1])]
    found = pd.DataFrame([row for own in shown for row in _rows(values, printed, *own)])
    wide = found.assign(text=bracketed(found)).pivot_table(
        index=["cell", "d", "arm"], columns="quantity", values="text", aggfunc="first", sort=False
    )
    wide = (
        wide.reindex(columns=[part for part in PARTS if part in wide])
        .fillna("-")
        .rename(columns=PARTS)
        .reset_index()
    )
    wide["arm"] = wide["arm"].map(ARMS)
    note = f"{int(found['replicates'].max())} replicates; after the sign: {SPREAD_KIND}"
    if found["paper_value"].notna().any():
        note += "; in brackets: as printed, the mean of five runs"
    return Table(found, wide.rename_axis(columns=None), f"{note}.")


def _rows(
    values: pd.DataFrame, printed: pd.Series[float], cell: str, wanted: int
) -> Iterator[dict[str, Any]]:
    d, unequal = dimension(values, cell, wanted), is_measured(values, cell, "unweighted")
    for arm in ARMS:
        if not is_measured(values, cell, arm):
            continue
        for quantity in PARTS:
            if quantity == "balanced" and not (unequal and arm != "threshold"):
                continue
            if quantity == "cosine":
                if arm not in NEURONS:
                    continue
                seen = estimate(cosine(values, cell, arm, d).to_numpy())
            elif arm in EXACT and quantity == "train":
                continue
            else:
                seen = estimate(accuracies(values, cell, arm, quantity).to_numpy())
            yield {
                "cell": cell,
                "d": d,
                "arm": arm,
                "quantity": quantity,
                "mean": seen.mean,
                "half_width": seen.half_width,
                "replicates": seen.replicates,
                "paper_value": printed.get((cell, wanted, arm, quantity), float("nan")),
            }


#: Quantities of the first steps, by arm, as people call them.
STEPS = {
    (
        "one_step",
        "lemma_error",
    ): "step 1: distance from the lemma's part along the patterns, relative",
    ("one_step", "lemma_off"): "step 1: what lies beside that part, over it",
    ("one_step", "asking"): "after step 1: samples with y g < 1",
    ("two_step", "norm"): "after step 2: length of the weights",
    ("network", "drift"): "later: how far weights move, over their length",
    ("theory-1", "drift"): "later, at the theory's rate",
    ("early", "v1-v2"): "plain descent: cosine of gradients, v1, v2",
    ("early", "v1-v3"): "plain descent: cosine of gradients, v1, v3",
    ("early", "v3-mean"): "plain descent: cosine of gradients, v3, mean",
}


@table("first-steps")
def first_steps(values: pd.DataFrame) -> Table:
    """What the lemmas say of the first steps on parity labels

    Medians over the neurons. The part along the patterns is that of Lemma 2.6, beta gamma / scale each;
    v1, v2 and v3 are mean gradients of three stretches of ten steps of plain descent from the start.
    *What to see:* {{ said("emergence/first-gradient", holds="the first gradient has the lemma's part",
    fails="the first gradient does not have the lemma's part") }};
    {{ said("emergence/first-step-stays-small", holds="after it every sample still counts in the loss",
    fails="after it some samples no longer count in the loss") }};
    {{ said("emergence/structure-makes-the-gradient", holds="weights are far longer after two steps with structure than without",
    fails="weights are not far longer after two steps with structure than without") }}.
    """
    own = rows(values, cell="parity")
    known = {*zip(own["arm"], own["quantity"], strict=True)}
    shown = [rows(own, arm=arm, quantity=what) for arm, what in STEPS if (arm, what) in known]
    means = summary(pd.concat(shown), ["arm", "quantity", "structured"])
    words = [STEPS[pair] for pair in zip(means["arm"], means["quantity"], strict=True)]
    inputs = means["structured"].map({True: "with structure", False: "without"})
    named = means.assign(quantity=words, structured=inputs)
    heads = {name: name for name in ("with structure", "without")}
    return Table(means, side_by_side(named, ["quantity"], "structured", heads))
