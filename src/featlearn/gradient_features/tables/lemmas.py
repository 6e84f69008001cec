"""Bounds as printed, at our sizes."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pandas as pd

from featlearn.core.publish import Config, Table, table
from featlearn.core.stats import number
from featlearn.gradient_features import printed as bound
from featlearn.gradient_features.words import LAWS

#: A requirement above this is out of reach of every machine.
REACH = 1e9


@table()
def printed(
    nice: pd.DataFrame,
    existence: pd.DataFrame,
    activation: pd.DataFrame,
    smooth: pd.DataFrame,
    accuracies: pd.DataFrame,
    drift: pd.DataFrame,
    alternative: pd.DataFrame,
    fixed: pd.DataFrame,
    config: Config,
) -> Table:
    """What the chapter prints, at the sizes of this run

    *What to see:* the last column. Where it says that a bound tells something, or what is not so, a claim judges it:
    Lemma 3.13 {{ verdict("gradient_features/lemma-3.13") }}, Theorem B.65 {{ verdict("gradient_features/theorem-b65") }}, Proposition 3.23
    {{ verdict("gradient_features/proposition-3.23") }}, Lemma B.9 {{ verdict("gradient_features/drift-as-printed") }}.
    """
    rows = [
        *_bounds(nice, existence, activation, smooth, accuracies, config),
        *_appendix(drift, alternative, fixed, config),
        *_requirements(config),
    ]
    columns = ["statement", "of", "printed", "trivial", "measured"]
    frame = pd.DataFrame(rows, columns=columns)
    frame["says"] = [
        _requires(row) if str(row.of).startswith("needed") else _tells(row)
        for row in frame.itertuples()
    ]
    shown = frame.copy()
    for column in ("printed", "trivial", "measured"):
        shown[column] = ["-" if pd.isna(v) else _short(v) for v in frame[column]]
    return Table(
        frame,
        shown.rename(columns={"measured": "measured, or used"}),
        "Constants of O(.) and Omega(.) as 1, C_b = 1, tau = 8, epsilon = 0.1. A bound says nothing "
        "beyond the trivial value (the loss of no network, chance, no activation); a requirement is "
        f"out of reach above {REACH:.0e}. Means over the replicates, at the largest sizes.",
    )


def _requires(row: Any) -> str:
    if row.printed > REACH:
        return "out of reach"
    return "met" if row.measured >= row.printed else "not met"


def _tells(row: Any) -> str:
    margin = row.printed - row.trivial
    # within five in a hundred of what is trivial is nothing
    least = row.of.startswith("at least")
    if (row.measured < row.printed) if least else (row.measured > row.printed):
        return "what is not so"
    enough = margin > 0.05 if least else margin < -0.05
    return "something" if enough else "nothing"


def _short(value: float) -> str:
    return f"{value:.1e}" if abs(value) >= 1e6 else number(value)


def _at_most(frame: pd.DataFrame, column: str) -> pd.Series:
    return frame[frame[column] == frame[column].max()].mean(numeric_only=True)


def _bounds(
    nice: pd.DataFrame,
    existence: pd.DataFrame,
    activation: pd.DataFrame,
    smooth: pd.DataFrame,
    accuracies: pd.DataFrame,
    config: Config,
) -> Iterator[tuple[str, str, float, float, float]]:
    last = _at_most(_largest(smooth[smooth["rule"] == "1 / L"], "samples"), "step")
    yield "Theorem 3.4, steps", "training loss", last["bound"], 1, last["train"]
    gap = last["test"] - last["train"]
    yield "Theorem 3.4, inputs", "test minus training loss", last["rademacher"], 1, gap
    most = _at_most(nice, "neurons")
    yield "Lemma 3.13", "networks that lack nice neurons", most["bound"], 1, most["value"]
    for law, own in existence.groupby("law"):
        most = _at_most(own, "neurons")
        yield (
            "Lemma 3.14",
            f"hinge loss above g*, {LAWS[str(law)]}",
            most["bound"],
            1,
            most["excess"],
        )
    where = config["opponents"]["judged"]
    dimension, noise = where["dimension"], where["noise"]
    own = accuracies[(accuracies["method"] == "network") & (accuracies["noise"] == noise)
                     & (accuracies["dimension"] == dimension)]  # fmt: skip
    said = bound.xor_error(noise, dimension, config["opponents"]["samples"]["train"])
    yield "Theorem B.42", f"error on the XOR, d = {dimension}", said, 0.5, 1 - own["value"].mean()
    own = activation[(activation["law"] == "xor") & (activation["component"] == "own")]
    least = own.groupby("ratio")["value"].mean().min()
    dimension = config["lemmas"]["activation"]["laws"]["xor"]["dimension"]
    yield ("Lemma B.39", "at least: activation on the own cluster",
           bound.xor_activation(dimension), 0, least)  # fmt: skip


def _appendix(
    drift: pd.DataFrame, alternative: pd.DataFrame, fixed: pd.DataFrame, config: Config
) -> Iterator[tuple[str, str, float, float, float]]:
    last = _at_most(drift, "steps")
    # over its own bound, the trivial one being that of the recursion
    yield ("Lemma B.9", f"drift over what the recursion allows, T = {last['steps']:.0f}",
           last["corrected"] / last["printed"], 1, last["corrected"])  # fmt: skip
    one = alternative[alternative["copies"] == alternative["copies"].min()]
    most, block = _at_most(one, "dimension"), config["appendix"]["alternative"]["block"]
    yield ("Theorem B.65", f"hinge loss, one neuron a kink, k = {block}, d = {most['dimension']:.0f}",
           most["bound"], 1, most["value"])  # fmt: skip
    own = fixed[(fixed["arm"] == "random") & (fixed["norm"] == fixed["norm"].min())]
    for block, least in own.groupby("block"):
        yield ("Proposition 3.23",
               f"at least: hinge loss of random features, B = {least['norm'].min():.0f}, k = {block}",
               least["bound"].mean(), 0, least["value"].mean())  # fmt: skip


def _requirements(config: Config) -> Iterator[tuple[str, str, float, float, float]]:
    laws, width = config["cones"]["laws"], config["cones"]["neurons"]
    none = float("nan")
    mixture, blocks = laws["mixture"], laws["parity_blocks"]
    yield ("Lemma B.30", "needed neurons for a sure one, mixture",
           bound.mixture_width(mixture["dimension"], mixture["norm"], mixture["noise"]),
           none, width)  # fmt: skip
    yield ("Lemma B.47", "needed neurons for a sure one, parity",
           bound.parity_width(blocks["dimension"], blocks["blocks"]), none, width)  # fmt: skip
    four = config["frozen"]["uniform_parity"]["four"]
    sizes = (four["dimension"], four["block"], four["neurons"], 0.1)
    yield ("Theorem B.56", "needed inputs, parity of four",
           bound.uniform_parity_inputs(*sizes), none, four["samples"]["train"])  # fmt: skip
    yield ("Theorem B.56", "needed steps, parity of four",
           bound.uniform_parity_steps(*sizes), none, four["steps"])  # fmt: skip
    own = config["frozen"]["multi_index"]
    dimension, neurons, samples = own["dimension"], own["neurons"], own["samples"]["train"]
    yield ("Theorem B.69", "needed inputs, polynomial",
           bound.polynomial_inputs(dimension, neurons, samples), none, samples)  # fmt: skip
    yield ("Theorem B.69", "needed neurons, polynomial",
           bound.polynomial_width(dimension, neurons, samples, 0.1), none, neurons)  # fmt: skip


def _largest(frame: pd.DataFrame, column: str) -> pd.DataFrame:
    return frame[frame[column] == frame[column].max()]
