"""Tables of the oracles: errors of closed forms, printed against true gradient."""

from __future__ import annotations

import pandas as pd

from featlearn.core.publish import Table, table
from featlearn.core.stats import SPREAD_KIND, side_by_side, summary

#: What is listed, in words.
QUANTITIES = {
    "teacher_student_loss": "expected loss, teacher-student (equation (3))",
    "teacher_student_gradient": "its gradient (Fact 2.1)",
    "mae_loss": "expected loss, MAE (appendix H)",
    "mae_gradient": "its gradient, corrected",
    "printed_relative_error": "its gradient, as printed (Fact 2.2)",
    "parallel_relative_error": "as printed, one kernel and patches along it",
    "unbiased": "mean of the masked output, decoder scale 1/theta",
    "best_scale": "scale of least loss times theta (no error: below 1)",
    "polynomial_slope": "slope before the capture",
    "captured_slope": "slope after the capture",
    "critical_factor": "share of wrong signs around the critical teacher factor",
    "race": "sequence lemma: growth over its bound (no error: at most 1)",
}


def oracle_table(instances: pd.DataFrame, races: pd.DataFrame) -> pd.DataFrame:
    """Columns quantity, text, q, mean, ..., largest, replicates."""
    ahead = races[races["head_start"] > 0]
    own = pd.DataFrame(
        {
            "quantity": "race",
            "q": ahead["q"],
            "replicate": ahead["replicate"],
            "value": ahead["growth"] / ahead["bound"],
        }
    )
    rows = pd.concat([instances, own], ignore_index=True)
    # several sizes of kernels are one instance: a replicate counts once
    rows = rows.groupby(["quantity", "q", "replicate"])["value"].mean().reset_index()
    known = [name for name in QUANTITIES if (rows["quantity"] == name).any()]
    parts = [summary(rows[rows["quantity"] == name], ["quantity", "q"]) for name in known]
    table = pd.concat(parts, ignore_index=True)
    table.insert(1, "text", table["quantity"].map(QUANTITIES))
    return table


def largest_errors(table: pd.DataFrame) -> pd.DataFrame:
    """The same for reading: the largest number of all instances, a column an exponent."""
    cells = [f"{value:.1e}" if 0 < value < 1e-3 else f"{value:.3g}" for value in table["largest"]]
    frame = table.assign(cell=cells, q=[f"q = {q}" for q in table["q"]]).pivot_table(
        index="text", columns="q", values="cell", aggfunc="first", sort=False
    )
    frame = frame[sorted(frame.columns)].fillna("-").reset_index()
    return frame.rename(columns={"text": "quantity"}).rename_axis(columns=None)


def printed_gradient_table(instances: pd.DataFrame, gradients: pd.DataFrame) -> pd.DataFrame:
    """Columns inputs, quantity (relative_error, cosine), mean, ..., largest, replicates."""
    printed = instances[instances["quantity"].str.startswith("printed_")]
    stds = [f"random, kernels of standard deviation {std:g}" for std in printed["kernel_std"]]
    random = printed.assign(inputs=stds, quantity=printed["quantity"].str.removeprefix("printed_"))
    parallel = instances[instances["quantity"].str.startswith("parallel_")]
    parallel = parallel.assign(
        inputs="random, one kernel and patches along it",
        quantity=parallel["quantity"].str.removeprefix("parallel_"),
    )
    trained = gradients.assign(
        inputs=["multi-view data, " + moment for moment in gradients["moment"]]
    )
    rows = pd.concat([random, parallel, trained], ignore_index=True)
    # the mean over q is a replicate's number
    keys = ["inputs", "quantity", "replicate"]
    rows = rows.groupby(keys, sort=False)["value"].mean().reset_index()
    return summary(rows, ["inputs", "quantity"])


#: Column heads for readers.
PRINTED_HEADS = {"relative_error": "relative error", "cosine": "cosine"}


@table()
def oracles(instances: pd.DataFrame, races: pd.DataFrame) -> Table:
    """The closed forms against brute force

    Random instances in float64: sums over all 64 masks of six patches and automatic differentiation
    against the formulas that this project trains with. *What to see:* the expected losses, their
    gradients and the slopes of a single kernel agree to rounding. One line does not: the gradient of
    the MAE loss as printed (Fact 2.2), which swaps the roles of the patch and of its residual.
    """
    found = oracle_table(instances, races)
    notes = (
        "Relative errors unless the text says otherwise, in float64; the largest of "
        f"{int(found['replicates'].max())} random instances (of the printed gradient: the mean "
        "over kernel sizes)."
    )
    return Table(found, largest_errors(found), notes)


@table()
def printed_gradient(instances: pd.DataFrame, gradients: pd.DataFrame) -> Table:
    """Printed against true gradient

    Relative error and cosine of the vector of Fact 2.2 against the gradient. *What to see:* it is exact
    only for one kernel and patches along it. While kernels are small both agree to leading order,
    which is why a training with either captures the same features at about the same time; from the first
    captures on they part.
    """
    found = printed_gradient_table(instances, gradients)
    notes = (
        "Random inputs, and multi-view data along a training with the true gradient. "
        f"After the sign: {SPREAD_KIND}."
    )
    return Table(found, side_by_side(found, ["inputs"], "quantity", PRINTED_HEADS), notes)
