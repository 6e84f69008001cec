"""What the proof of Theorem 2 says about fine-tuning, step by step."""

from __future__ import annotations

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from featlearn.core.drawing.intervals import whiskers
from featlearn.core.drawing.plots import COLOURS, canvas
from featlearn.core.evidence.claim_methods import claim
from featlearn.core.evidence.claims import POSITIVE, THEOREM, first_of, needs
from featlearn.core.evidence.frames import pick
from featlearn.core.evidence.stats import summary
from featlearn.core.run.exhibits import Config, figure
from featlearn.mrp.labels import DASHED, DOTTED, Models, of_clean_data

#: Training loss of a network that was fine-tuned, k^-2.
SMALL_LOSS = 0.01
#: Orders of update: colour, dash, words.
ORDERS = {"simultaneous": ("blue", "-", "both at once"), "u_then_w": ("red", "--", "head first")}


@figure()
def finetuning(learning: pd.DataFrame, evaluation: pd.DataFrame, config: Config) -> Figure:
    """Does fine-tuning keep every feature?

    *What to see:* the average error falls nearly like $1/T$; {{ said("mrp/t15-features-kept", holds="no correlation
    decreases", fails="not every correlation is kept") }}.

    Left: training loss, wrong-class probability, its average. Middle: weakest captured feature relative to its start.
    Right: wrong-class probability after one step of the head (dashed: printed bound). Bands: range of replicates;
    whiskers: 95 % intervals.
    """
    classes = config["data"]["classes"]
    drawn = canvas(8.2, 3.4)
    left, middle, right = drawn.subplots(1, 3, width_ratios=[1.15, 1, 0.9])
    wrong = _by_step(learning, "wrong_mass").iloc[1:]
    average = wrong.cumsum().div(np.arange(1, len(wrong) + 1), axis=0)
    _line(left, wrong, COLOURS["blue"], r"wrong-class probability $1-\mathrm{logit}_y$")
    _line(left, average, COLOURS["orange"], "its average over the steps so far")
    _line(left, _by_step(learning, "loss").iloc[1:], COLOURS["grey"], "training loss")
    steps, last = np.asarray(average.index, dtype=float), float(average.iloc[-1].mean())
    left.plot(steps, last * steps[-1] / steps, color=COLOURS["ink"], linestyle=":",
              label="slope of $1/T$")  # fmt: skip
    left.set(xscale="log", yscale="log", xlabel="step $T$", title="Training",
             ylabel="mean over the training samples")  # fmt: skip
    left.set_ylim(bottom=0.008 * float(wrong.iloc[-1].mean()), top=4)
    left.legend(loc="lower left", fontsize=8)

    for model, (colour, dash, name) in ORDERS.items():
        weakest = _by_step(learning, "weakest_feature", model)
        _line(middle, weakest / weakest.iloc[0], COLOURS[colour], f"update: {name}", dash)
    middle.axhline(1, **DOTTED)
    middle.set(xscale="symlog", xlabel="step", title="Features are kept",
               ylabel=r"weakest $\Lambda_{i,l}$ / its value before")  # fmt: skip
    middle.set_xlim(left=0)
    middle.legend(loc="upper left", fontsize=8)

    first = pick(evaluation, model="first_step")
    rate = first["quantity"].str.extract(r"wrong_mass_at_(\d+)k", expand=False).astype(float)
    seen = summary(first.assign(rate=rate).dropna(subset="rate"), ["rate"]).sort_values("rate")
    whiskers(right, seen["rate"], seen["mean"], seen["half_width"], COLOURS["blue"], line="-")
    right.axhline(1 / classes, **DASHED)
    words = f"$1/k$ = {1 / classes:g}"
    right.annotate(words, (seen["rate"].iloc[0], 1 / classes), va="bottom", fontsize=8)
    right.set(xscale="log", yscale="log", xlabel=r"head rate $\eta_2$ / $k$", title="After one step",
              ylabel=r"mean of $1-\mathrm{logit}_y$")  # fmt: skip
    right.set_xticks(seen["rate"], [f"{rate:g}" for rate in seen["rate"]])
    right.set_xticks([], minor=True)
    return drawn


def _by_step(history: pd.DataFrame, quantity: str, model: str = "simultaneous") -> pd.DataFrame:
    """Steps down, replicates across."""
    own = pick(history, model=model)
    return own.pivot_table(index="step", columns="replicate", values=quantity)


def _line(ax: Axes, values: pd.DataFrame, colour: str, label: str, dash: str = "-") -> None:
    """Mean over replicates, and the range of the replicates as a band."""
    ax.plot(values.index, values.mean(axis=1), color=colour, linestyle=dash, label=label)
    low, high = values.min(axis=1), values.max(axis=1)
    ax.fill_between(values.index, low, high, color=colour, alpha=0.15, linewidth=0)


class Finetuning(Models):
    paper = "mrp"
    out_of_reach = first_of(of_clean_data, needs(finetuning__steps=400))

    @claim("Lemma G.1",
           r"smallest ratio of $\Lambda$ after to before, over all features; 0 where the training loss is above "
           f"{SMALL_LOSS:g}", kind=THEOREM, low=1.0, high=1.5, possible=POSITIVE,
           artefact="mrp/measurements/finetuning/evaluation.parquet", changed="That the loss must have become small "
           "was added on 2026-11-23: at a rate of zero the claim held, too. The number was known.")  # fmt: skip
    def t15_features_kept(self):
        """Fine-tuning decreases no correlation between kernels and features.

        At least 1 by the lemma, and O(1); the pilot gave 1.08 to 1.09.
        """
        kept = self.of("simultaneous", "least_kept")
        loss = _by_step(self.learning, "loss").to_numpy()[-1]
        return np.where(loss <= SMALL_LOSS, kept, 0.0)
