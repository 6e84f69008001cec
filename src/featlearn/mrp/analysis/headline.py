"""Under feature noise: mask reconstruction against what could do without it.

Bands rest on the theory and on a first pilot with other random streams (four replicates, all heads
converged). Multi-view / single-view accuracy: linear classifier on the summed patches .68 / .36,
random kernels 1.00 / .89, supervised as trained 1.00 / .69 (.80 of the features captured), its
kernels with a new head 1.00 / .84, mask reconstruction 1.00 / .96 (all captured).

A first run was too short (:data:`LENGTH`), as a second pilot showed (four replicates, further
streams): accuracy on single-view data rose from .93 at 250 steps to 1.00 at 1500. Pre-training and
supervised training now both make 1500 steps, on fresh streams.
"""

from __future__ import annotations

import re

import numpy as np
import pandas as pd
from matplotlib.colors import LinearSegmentedColormap
from matplotlib.figure import Figure

from featlearn.core.drawing.intervals import Look, rows, share_interval
from featlearn.core.drawing.plots import COLOURS, FILLS, canvas
from featlearn.core.evidence.claim_methods import claim
from featlearn.core.evidence.claims import CONTROL, DIFFERENCE_OF_SHARES, SHARE, THEOREM, needs
from featlearn.core.evidence.frames import pick
from featlearn.core.evidence.stats import side_by_side, summary
from featlearn.core.run.exhibits import Config, Table, figure, table
from featlearn.mrp.labels import (
    BASELINES,
    DASHED,
    DOTTED,
    LABELS,
    MERGED,
    MODEL_COLOURS,
    SINGLE,
    Models,
    Quoted,
    legend,
    number_ticks,
)  # fmt: skip

LENGTH = (
    "Length and streams after a run of ten replicates, which stopped at three times the step of "
    "capture and led random kernels by .035 ± .045; penalty of the heads after a run at smoke."
)
#: Panels: of each quantity its title and the axis.
PANELS = {
    "accuracy_multi_view": ("Multi-view images", "share that is right"),
    "accuracy_single_view": ("Single-view images", "share that is right"),
    "captured": ("Features captured", "share of features"),
}
#: Quantities of the wide table, with their column heads.
HEADS = {
    "train_accuracy": "training accuracy",
    "accuracy_multi_view": "multi-view accuracy",
    "accuracy_single_view": "single-view accuracy",
    "captured": "features captured",
    "impure_winners": "impure winners",
}


@figure()
def headline(evaluation: pd.DataFrame, config: Config) -> Figure:
    """Does pre-training keep what supervised training loses?

    *What to see:* on single-view images supervised training is right on {{ value("headline", "mean",
    model="supervised", quantity="accuracy_single_view") | percent }}, a head after mask reconstruction on {{
    value("headline", "mean", model="pretrained", quantity="accuracy_single_view") | percent }}; {{
    said("mrp/headline-beats-best-opponent", holds="it beats the best baseline", fails="the best baseline is ahead of
    it") }}.

    Accuracy on images with both features of their class (left) or one (middle; dotted: chance); share of features
    captured (right). *Fixed blocks*: a class adds up its kernels. Dots: replicates; ticks: means with 95 % intervals.
    """
    looks = {model: Look(re.sub(r" (?=\+|fixed|head trained|on )", "\n", LABELS[model]), colour)
             for model, colour in MODEL_COLOURS.items()}  # fmt: skip
    drawn = canvas(8.6, 5.6)
    axes = drawn.subplots(1, 3, sharey=True)
    for ax, (quantity, (title, label)) in zip(axes, PANELS.items(), strict=True):
        own = pick(evaluation, quantity=quantity)
        # a place a model, whether it learned features or not
        for place, (model, look) in enumerate(looks.items()):
            if (own["model"] == model).any():
                rows(ax, own, "model", looks={model: look}, first=place, errorbar=share_interval)
            else:
                ax.annotate("(none learned)", (0.03, place), va="center", fontsize=8)
        level = 0.5 if quantity == "captured" else 1 / config["data"]["classes"]
        ax.axvline(level, **DOTTED)
        ax.set(xlim=(0, 1.04), title=title, xlabel=label)
        ax.tick_params(labelleft=ax is axes[0])
    axes[0].set_yticks(range(len(looks)), [look.words for look in looks.values()])
    axes[0].set_ylim(len(looks) - 0.5, -0.5)
    axes[2].annotate("one of two", (0.43, 1.5), ha="center", va="bottom", fontsize=8, rotation=90)
    return drawn


@figure(replicates=4)
def captured_features(features: pd.DataFrame, config: Config, replicates: int) -> Figure:
    """Which features does each model hold?

    *What to see:* a class with an x lost one of its two features, in each replicate another: a lottery of the start. {{
    said("mrp/headline-captured", holds="Mask reconstruction captures nearly all", fails="Mask reconstruction does not
    capture nearly all") }}.

    A square is one feature of one class, its colour the largest correlation of a kernel with it: blue is captured, a
    red x lost.
    """
    varrho = config["network"]["varrho"]
    shown = sorted(features["replicate"].unique())[:replicates]
    models = {"supervised": "supervised", "pretrained": "mask rec."}
    top = pick(features, model=list(models))["strength"].max()
    drawn = canvas(8.2, 2.6)
    axes = drawn.subplots(len(models), len(shown), sharex=True, sharey=True, squeeze=False)
    # grey below the threshold, blue above
    stops = [(0.0, FILLS["white"]), (varrho / top, FILLS["light"]),
             (varrho / top, FILLS["captured"]), (1.0, FILLS["captured, strongest"])]  # fmt: skip
    colours = LinearSegmentedColormap.from_list("captured", stops)
    for line, (model, name) in zip(axes, models.items(), strict=True):
        for ax, replicate in zip(line, shown, strict=True):
            own = pick(features, model=model, replicate=replicate)
            grid = own.pivot_table(index="view", columns="class", values="strength").to_numpy()
            image = ax.imshow(grid, vmin=0, vmax=top, cmap=colours, aspect="auto")
            for view, cls in zip(*np.nonzero(grid < varrho), strict=True):
                ax.text(cls, view, "x", ha="center", va="center", fontsize=8, color=COLOURS["red"])
            ax.set_xticks(range(grid.shape[1]), range(1, grid.shape[1] + 1), fontsize=8)
            ax.set_yticks(range(grid.shape[0]), [f"feature {v + 1}" for v in range(len(grid))])
            ax.tick_params(length=0)
            ax.grid(visible=False)
        line[0].set_ylabel(name, fontweight="bold")
    for top_ax, bottom_ax, replicate in zip(axes[0], axes[-1], shown, strict=True):
        top_ax.set_title(f"replicate {replicate}", fontsize=9)
        bottom_ax.set_xlabel("class")
    bar = drawn.colorbar(image, ax=axes, shrink=0.9, pad=0.01)
    bar.set_label(r"correlation $\Lambda_{i,l}$")
    bar.ax.axhline(varrho, color=COLOURS["ink"], linewidth=1)
    return drawn


@figure(replicate=0)
def feature_growth(
    supervised: pd.DataFrame, pretrained: pd.DataFrame, config: Config, replicate: int
) -> Figure:
    """Why does supervision lose features?

    *What to see:* once the stronger feature of a class explains the labels, its sibling stops growing; {{
    said("mrp/headline-captured", holds="mask reconstruction captures both", fails="mask reconstruction does not capture
    all either") }}.

    A line is the largest correlation of a kernel with one feature, in one replicate, over the steps. Above the dashed
    threshold a feature counts as captured.
    """
    varrho = config["network"]["varrho"]
    looks = {True: ("red", "a class's feature that ends weaker"),
             False: ("ink", "its feature that ends stronger")}  # fmt: skip
    drawn = canvas(8.2, 3.2)
    axes = drawn.subplots(1, 2, sharey=True)
    panels = {"Supervised": supervised, "Mask reconstruction": pretrained}
    for ax, (title, history) in zip(axes, panels.items(), strict=True):
        own = pick(history, replicate=replicate)
        last = pick(own, step=own["step"].max()).sort_values("strength")
        weakest = last.drop_duplicates("class").set_index("class")["view"].to_dict()
        for (cls, view), line in own.groupby(["class", "view"]):
            colour, words = looks[view == weakest[cls]]
            ax.plot(line["step"] + 1, line["strength"], color=COLOURS[colour],
                    linewidth=1, alpha=0.85, label=words)  # fmt: skip
        ax.axhline(varrho, **DASHED)
        # a feature that is lost stays small: on a linear axis it is a line at the bottom
        ax.set(title=title, xscale="log", yscale="log")
        ax.set_xlabel("1 + step of gradient descent (full batch)")
    axes[0].set_ylabel(r"correlation $\Lambda_{i,l}$ with the feature")
    number_ticks(axes[0], [0.03, 0.1, 0.3, 1, 3])
    axes[0].annotate(r"captured: $\Lambda\geq\varrho$", (0.02, varrho), fontsize=8,
                     xycoords=("axes fraction", "data"), ha="left", va="bottom")  # fmt: skip
    legend(drawn, axes[0], ncols=2, fontsize=8)
    return drawn


@table("headline")
def headline_table(evaluation: pd.DataFrame) -> Table:
    """Mask-reconstruction pre-training against what could do without it

    Feature noise in many patches. A new head is a logistic regression, trained to its optimum. Networks *as trained*
    count features in the kernels of their class, others in all.
    """
    order = list(LABELS)
    own = pick(evaluation, model=order)
    own = own.sort_values("model", key=lambda names: names.map(order.index), kind="stable")
    means = summary(own, ["model", "quantity"]).drop(columns="largest")
    means.insert(1, "label", means["model"].map(LABELS))
    wide = side_by_side(means, ["label"], "quantity", HEADS)
    return Table(means, wide.rename(columns={"label": "model"}))


class Headline(Models):
    paper, kind, possible, changed, section = "mrp", THEOREM, SHARE, LENGTH, "headline"
    premises = ("noise_within", "few_kernels")
    out_of_reach = needs(headline__data__classes=10, headline__data__patches=80, headline__replicates=10,
                         headline__pretraining__min_steps=1500, headline__supervised__steps=1500)  # fmt: skip

    def accuracies(self):
        """On single-view data."""
        return {LABELS[one]: self.of(one, SINGLE) for one in BASELINES}

    def captured(self):
        """By kernels that saw no masks."""
        words = {"random": "Random kernels", "supervised": "Supervised, fixed blocks",
                 "supervised_all": "Supervised, head trained too"}  # fmt: skip
        return {word: self.of(model, "captured") for model, word in words.items()}

    def leads(self):
        """Over each baseline, with and without fine-tuning, the lesser."""
        words = {one: f"lead over {LABELS[one][0].lower()}{LABELS[one][1:]}" for one in BASELINES}
        return {said: np.minimum(self.lead("pretrained", one, SINGLE), self.lead("finetuned", one, SINGLE))
                for one, said in words.items()}  # fmt: skip

    @claim("Theorem 1(a), part 2 (MAE); Theorem H.2",
           r"share of the $2k$ features with $\Lambda \ge \varrho$ after pre-training", low=0.98, high=1.0,
           baselines="captured", paper_says="“can capture all the discriminative features of each semantic class”")  # fmt: skip
    def headline_captured(self):
        """Under feature noise in all patches, mask reconstruction captures every feature of every class.

        The theorem says all. Noise delays the last ones, so a few may come after the last step; the pilot gave 1.0.
        """
        return self.of("pretrained", "captured")

    @claim("Theorem 2; Theorem G.2", "single-view accuracy of a converged head on the pre-trained kernels", low=0.95,
           high=1.0, baselines="accuracies", changed="The band, from .90, was raised to .95 then.",
           paper_says="“correctly with high probability for both multi-view and single-view test data”")  # fmt: skip
    def headline_single_view(self):
        """A linear head on the pre-trained kernels is right on nearly all single-view data, though it saw none in training.

        The theorem says all, with high probability, at a noise far below this one; the second pilot gave 1.00.
        """
        return self.of("pretrained", SINGLE)

    @claim("Control (ours) to Theorem 2",
           "single-view accuracy, head on pre-trained or on fine-tuned kernels, the worse of the two, minus the baseline "
           "with the largest mean, paired over replicates", kind=CONTROL, low=0.0, high=1.0,
           possible=DIFFERENCE_OF_SHARES, premises=(), baselines="leads",
           changed=f"Merged from headline-beats-best-opponent and headline-finetuned-beats-best-opponent {MERGED} A theorem "
           "until 2026-11-26; since then with features that nobody learned as baselines, which were known to be ahead.")  # fmt: skip
    def headline_beats_best_opponent(self):
        """On single-view data mask reconstruction beats the best of its baselines, with and without fine-tuning.

        An advantage is a difference above 0. Baselines are heads on features that nobody learned (sum, extremes and
        second moments of the patches, 50 and 1,000 random kernels) and supervised networks in every form.
        """
        return np.minimum(*(self.lead_over_best(model, BASELINES, SINGLE)
                            for model in ("pretrained", "finetuned")))  # fmt: skip

    @claim("Theorem 2 against Lemma 1",
           "single-view accuracy, head on pre-trained kernels minus supervised with fixed blocks, paired over replicates",
           low=0.1, high=1.0, possible=DIFFERENCE_OF_SHARES, paper_says=Quoted.SUPERIOR)  # fmt: skip
    def headline_beats_supervised(self):
        """On single-view data mask reconstruction beats the network of Lemma 1, as trained, by a tenth or more.

        The limit is 1/2; the pilot gave .27, and .12 over a new head on those kernels.
        """
        return self.lead("pretrained", "supervised", SINGLE)

    @claim("Control (ours) to Theorem 2",
           "the smaller lead of mask reconstruction over supervised training under the same masks: in features captured, "
           "and in single-view accuracy; as trained or with a new head, whichever is the better in the mean", kind=CONTROL,
           low=0.0, high=1.0, possible=DIFFERENCE_OF_SHARES, premises=())  # fmt: skip
    def headline_masks_alone(self):
        """Masks without reconstruction are not enough: under them supervised training still loses features.

        An advantage is a difference above 0, and both must be one. A mask that hides one feature of a class gives
        the other one a gradient, so masks help; by how much the theory does not say. A pilot of other code, two
        replicates: .95 captured, .74 to .77 on single-view data, .80 to .83 with a new head.
        """
        masked = ("supervised_masked", "supervised_masked_head")
        return np.minimum(*(self.lead_over_best("pretrained", masked, one)
                            for one in ("captured", SINGLE)))  # fmt: skip

    @claim("Lemma 1 (Allen-Zhu & Li), finite form", "single-view accuracy of the supervised network with fixed blocks",
           low=0.5, high=0.8, paper_says=Quoted.HALF)  # fmt: skip
    def headline_supervised_single_view(self):
        """Under feature noise supervised training errs on a large part of the single-view data.

        The band of the clean data: half is the limit of many classes. The pilot gave .69.
        """
        return self.of("supervised", SINGLE)
