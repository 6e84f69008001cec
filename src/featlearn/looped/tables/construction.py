"""The numbers behind Figure 8.1."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import pandas as pd

from featlearn.core.publish import Config, Table, table
from featlearn.core.quoted import quoted_table
from featlearn.core.stats import SPREAD_KIND, number, readable, side_by_side, summary
from featlearn.looped.limits import earlier_bound, earlier_examples
from featlearn.looped.words import ABLATIONS


@table()
def condition_numbers(kappas: pd.DataFrame, quoted: Mapping[str, Any]) -> Table:
    """Condition numbers of Gaussian prompts, and the printed means of ten trials"""
    printed = quoted_table(quoted, "condition-numbers")[0].set_index("examples")["paper_value"]
    means = summary(kappas, ["examples"], "mean")
    own = kappas.groupby("examples", sort=False)
    shown = readable(means, "mean")
    shown.insert(1, "printed", [number(printed[n]) if n in printed.index else "-"
                                for n in shown["examples"]])  # fmt: skip
    for column, head in (("median", "median"), ("deviation", "std of a mean of ten"),
                         ("low", "its 1 %"), ("high", "its 99 %"),
                         ("root_mean", "mean of κ(X)")):  # fmt: skip
        shown[head] = [number(value) for value in own[column].mean()]
    return Table(means, shown, f"Of X^T X, but for the last column; after the sign: {SPREAD_KIND}.")


@table()
def slopes(prompts: pd.DataFrame, config: Config) -> Table:
    """Slopes of ln |theta - theta*|^2 over the loops, and the gap to the bound"""
    heads = {
        "slope": "exact slope",
        "sharp": "2 ln(1 - 1/κ)",
        "printed": "-1/κ as printed",
        "gap": "gap over T, exact",
        "run_gap": "the same as printed",
    }
    long = prompts.melt(["examples", "replicate"], list(heads), "quantity")
    means = summary(long, ["examples", "quantity"])
    return Table(
        means,
        side_by_side(means, ["examples"], "quantity", heads),
        f"Second half of {config['loops']} loops; gap: bound of Theorem 8.25 minus exact error after "
        "the last, and as printed: bound of Theorem 8.16 minus error in float64. "
        f"{int(means['replicates'].max())} prompts, after the sign: {SPREAD_KIND}.",
    )


@table()
def ablations(ablations: pd.DataFrame) -> Table:
    """Largest difference to gradient descent along the loops"""
    # medians: some ablations diverge on some prompts
    frame = ablations.groupby("arm", sort=False)[["deviation", "distance"]].median().reset_index()
    frame = frame.set_index("arm").loc[list(ABLATIONS)].reset_index()
    shown = pd.DataFrame({
        "": frame["arm"].map(ABLATIONS),
        # what is rounding is not the same number on each processor
        "difference": [
            "rounding" if value < 1e-13 else number(value, 2) for value in frame["deviation"]
        ],
        "distance to θ* in the end": [number(value, 2) for value in frame["distance"]],
    })  # fmt: skip
    return Table(frame, shown, f"Medians of {ablations['replicate'].nunique()} prompts.")


@table()
def earlier_theorem(config: Config, blind: pd.DataFrame) -> Table:
    """Examples that Theorem 8.17 asks for, and what few reach with a step that reads no prompt"""
    dimension, examples = config["dimension"], config["judged_examples"]
    own = blind[(blind["examples"] == examples) & (blind["arm"] == "1 / n")]
    rows = []
    for loops in sorted({1, 2, 5, 10, 20} & {*own["loop"]}):
        rows.append({
            "loops": loops,
            "asked for": float(earlier_examples(loops, dimension)),
            "bound": earlier_bound(loops, examples, dimension),
            "median": float(own[own["loop"] == loops]["value"].median()),
        })  # fmt: skip
    frame = pd.DataFrame(rows)
    reached = [number(math.exp(value), 2) for value in frame["median"]]
    shown = pd.DataFrame({
        "loops T": frame["loops"],
        "examples asked for": [f"{value:.2g}" for value in frame["asked for"]],
        f"its bound at n = {examples}": [f"{value:.2g}" for value in frame["bound"]],
        f"measured at n = {examples}": reached,
    })  # fmt: skip
    return Table(
        frame,
        shown,
        f"d = {dimension}. Measured: median over {own['replicate'].nunique()} prompts of |theta - "
        "theta*| with step 1 / n; the theorem bounds an error of regression.",
    )


@table()
def blind_steps(blind: pd.DataFrame) -> Table:
    """Steps that read no prompt: on how many prompts they are too large"""
    own = blind[(blind["loop"] == blind["loop"].max()) & (blind["arm"] != "1 / L")]
    groups = own.groupby(["examples", "arm"], sort=False)
    frame = groups[["above", "diverges"]].mean().reset_index()
    frame["value"] = groups["value"].median().to_numpy()
    words = {"1 / n": "1 / n", "edge": "1 / (√n + √d)²"}
    shown = pd.DataFrame({
        "examples": frame["examples"],
        "step": frame["arm"].map(words),
        "above 1 / L": [f"{value:.1%}" for value in frame["above"]],
        "above 2 / L, diverges": [f"{value:.1%}" for value in frame["diverges"]],
        "distance to θ*": [number(math.exp(value), 2) for value in frame["value"]],
    })  # fmt: skip
    notes = f"Of {own['replicate'].nunique()} prompts; medians after {own['loop'].max()} loops."
    return Table(frame, shown, notes)


@table()
def one_loop(shortcut: pd.DataFrame) -> Table:
    """One loop of the construction: error of the task, and distance to theta*"""
    both = shortcut.groupby(["examples", "arm"], sort=False)[["prediction", "parameter"]]
    frame = both.median().reset_index()
    shown = pd.DataFrame({
        "examples": frame["examples"],
        "step": frame["arm"].str.replace("|", "‖").str.replace("^2", "²"),
        "error of the task": [
            "rounding" if value < 1e-13 else number(value, 2) for value in frame["prediction"]
        ],
        "distance to θ*": [number(value, 2) for value in frame["parameter"]],
    })  # fmt: skip
    return Table(frame, shown, f"Medians of {shortcut['replicate'].nunique()} prompts.")
