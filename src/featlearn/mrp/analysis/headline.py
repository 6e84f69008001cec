"""Under feature noise: mask reconstruction against what could do without it.

Bands rest on the theory and on a first pilot with other random streams (four replicates, all heads
converged). Multi-view / single-view accuracy: linear classifier on the summed patches .68 / .36,
random kernels 1.00 / .89, supervised as trained 1.00 / .69 (.80 of the features captured), its
kernels with a new head 1.00 / .84, mask reconstruction 1.00 / .96 (all captured).

A first run, stopped at three times the step of capture, led the best baseline by .035 ± .045 over
ten replicates: too short, as a second pilot showed (four replicates, further streams), in which
accuracy on single-view data rose from .93 at 250 steps to 1.00 at 1500. Pre-training and supervised
training now both make 1500 steps, on fresh streams.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
from matplotlib.colors import LinearSegmentedColormap

from featlearn.core.claim_methods import Claims, claim, premise
from featlearn.core.claims import CONTROL, DIFFERENCE_OF_SHARES, SHARE, THEOREM, needs
from featlearn.core.frames import pick
from featlearn.core.plots import COLOURS, FILLS, canvas
from featlearn.core.publish import Config, Table, figure, table
from featlearn.core.statistical import Look, rows, share_interval
from featlearn.core.stats import side_by_side, summary
from featlearn.mrp.labels import BASELINES, LABELS, MODEL_COLOURS, SINGLE, Models

if TYPE_CHECKING:
    from matplotlib.figure import Figure

LENGTH = (
    "Length and streams after a run of ten replicates, which stopped at three times the step of "
    "capture and led random kernels by .035 ± .045; penalty of the heads after a run at smoke."
)
ACCURACIES = {
    "accuracy_multi_view": "Multi-view images",
    "accuracy_single_view": "Single-view images",
}
#: Marks a feature that no kernel captured.
LOST = "x"
#: Of the feature of a class that ends stronger, and of the other one: no colours of models here.
VIEW_COLOURS = (COLOURS["ink"], COLOURS["red"])
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

    *What to see:* on single-view images the supervised network is right on {{ value("headline", "mean",
    model="supervised", quantity="accuracy_single_view") | percent }}, a linear head after mask reconstruction on {{
    value("headline", "mean", model="pretrained", quantity="accuracy_single_view") | percent }}.

    Accuracy on fresh images with both features of their class (left) or one (middle; dotted: chance), and share of
    features captured (right). Dots are replicates, ticks means with 95 % intervals.

    ---

    All models start from the same kernels and train on the same multi-view images. Every patch carries some of every
    feature (feature noise). A *new head* is trained to its optimum on standardised features; with *fixed blocks* a
    class adds up its kernels and only kernels are trained. On single-view images a linear classifier on the summed
    patches is right on {{ value("headline", "mean", model="raw_linear", quantity="accuracy_single_view") | percent
    }}, the supervised network with a new head on {{ value("headline", "mean", model="supervised_head",
    quantity="accuracy_single_view") | percent }}, the random kernels of the start on {{ value("headline", "mean",
    model="random", quantity="accuracy_single_view") | percent }}. Mask reconstruction captured {{ value("headline",
    "mean", model="pretrained", quantity="captured") | percent }} of the features. Not drawn: a head on far more
    random kernels, or on the second moments of the patches, solves these data too; they need a nonlinearity in each
    patch and no learned features.

    That mask reconstruction beats supervised training of the same kernels by a tenth or more {{
    verdict("mrp/headline-beats-supervised") }}; that it beats the best of its opponents {{
    verdict("mrp/headline-beats-best-opponent") }}; that a head on its kernels is right on nearly all of them {{
    verdict("mrp/headline-single-view") }}.
    """
    looks = {model: Look(_folded(LABELS[model]), colour) for model, colour in MODEL_COLOURS.items()}
    drawn = canvas(8.6, 4.2)
    *panels, right = drawn.subplots(1, 3, sharey=True)
    for ax, (quantity, title) in zip(panels, ACCURACIES.items(), strict=True):
        own = pick(evaluation, quantity=quantity)
        rows(ax, own, "model", looks=looks, errorbar=share_interval)
        ax.axvline(
            1 / config["data"]["classes"], color=COLOURS["ink"], linewidth=0.8, linestyle=":"
        )
        ax.set(xlim=(0, 1.04), title=title, xlabel="share that is right")
    captured = pick(evaluation, quantity="captured")
    for place, (model, look) in enumerate(looks.items()):
        own = captured[captured["model"] == model]
        if own.empty:
            right.annotate("(no kernels)", (0.03, place), va="center", fontsize=8)
        else:
            rows(right, own, "model", looks={model: look}, first=place, errorbar=share_interval)
    right.set_ylim(len(looks) - 0.5, -0.5)
    right.set_yticks(range(len(looks)), [look.words for look in looks.values()])
    for ax in (panels[1], right):
        ax.tick_params(labelleft=False)
    right.axvline(0.5, color=COLOURS["ink"], linewidth=0.8, linestyle=":")
    right.annotate("one of two", (0.5, 0), ha="center", va="bottom", fontsize=8,
                   xytext=(0.43, 1.5), rotation=90)  # fmt: skip
    right.set(xlim=(0, 1.04), title="Features captured", xlabel="share of features")
    return drawn


def _folded(words: str) -> str:
    """On two lines, broken where it is long."""
    return words.replace(" + ", "\n+ ").replace(", fixed blocks", ",\nfixed blocks", 1).replace(
        ", head trained too", ",\nhead trained too", 1).replace("classifier on", "classifier\non")  # fmt: skip


@figure(replicates=4)
def captured_features(features: pd.DataFrame, config: Config, replicates: int) -> Figure:
    """Which features does each model hold?

    *What to see:* a class with an x lost one of its two features, another one in each replicate: a lottery of the
    initial kernels.

    A square is one feature of one class in one replicate, its colour the largest correlation of a kernel with it.
    Blue is captured (at or above the activation's threshold), a red x lost.

    ---

    Over all replicates the supervised network captures {{ value("headline", "mean", model="supervised",
    quantity="captured") | percent }} of the features; {{ said("mrp/headline-captured", holds="mask reconstruction
    captures nearly all", fails="mask reconstruction does not capture nearly all") }}.
    """
    varrho = config["network"]["varrho"]
    shown = sorted(features["replicate"].unique())[:replicates]
    models = {"supervised": "supervised", "pretrained": "mask rec."}
    top = max(pick(features, model=model)["strength"].max() for model in models)
    drawn = canvas(8.2, 2.6)
    axes = drawn.subplots(len(models), len(shown), sharex=True, sharey=True, squeeze=False)
    colours = _lit_above(varrho / top)
    for row, (model, name) in enumerate(models.items()):
        for column, replicate in enumerate(shown):
            ax = axes[row, column]
            own = pick(features, model=model, replicate=replicate)
            grid = own.pivot_table(index="view", columns="class", values="strength").to_numpy()
            image = ax.imshow(grid, vmin=0, vmax=top, cmap=colours, aspect="auto")
            for view, cls in zip(*np.nonzero(grid < varrho), strict=True):
                ax.text(cls, view, LOST, ha="center", va="center", fontsize=8, color=COLOURS["red"])
            ax.set_xticks(range(grid.shape[1]), range(1, grid.shape[1] + 1), fontsize=8)
            ax.set_yticks(range(grid.shape[0]), [f"feature {v + 1}" for v in range(len(grid))])
            ax.tick_params(length=0)
            ax.grid(visible=False)
            if row == 0:
                ax.set_title(f"replicate {replicate}", fontsize=9)
            if row == len(models) - 1:
                ax.set_xlabel("class")
        axes[row, 0].set_ylabel(name, fontweight="bold")
    bar = drawn.colorbar(image, ax=axes, shrink=0.9, pad=0.01)
    bar.set_label(r"correlation $\Lambda_{i,l}$")
    bar.ax.axhline(varrho, color=COLOURS["ink"], linewidth=1)
    return drawn


def _lit_above(threshold: float) -> LinearSegmentedColormap:
    """White to light grey below the threshold, blue above: captured features stand out."""
    stops = [(0.0, FILLS["white"]), (threshold, FILLS["light"]), (threshold, FILLS["captured"]),
             (1.0, FILLS["captured, strongest"])]  # fmt: skip
    return LinearSegmentedColormap.from_list("captured", stops)


@figure(replicate=0)
def feature_growth(
    supervised: pd.DataFrame, pretrained: pd.DataFrame, config: Config, replicate: int
) -> Figure:
    """Why does supervision lose features?

    *What to see:* once the stronger feature of a class explains the labels, its sibling stops growing; under mask
    reconstruction every feature follows.

    A line is the largest correlation of a kernel with one feature, in the first replicate. Above the dashed threshold
    of the activation a feature counts as captured. Both axes are logarithmic.

    ---

    Full-batch gradient descent. Mask reconstruction has no labels that a first feature could explain. That it ends
    with every feature, in all replicates, {{ verdict("mrp/headline-captured") }}.
    """
    varrho = config["network"]["varrho"]
    drawn = canvas(8.2, 3.2)
    axes = drawn.subplots(1, 2, sharey=True)
    panels = {"Supervised": supervised, "Mask reconstruction": pretrained}
    for ax, (title, history) in zip(axes, panels.items(), strict=True):
        own = history[history["replicate"] == replicate]
        weaker = _weaker_view(own)
        for _, line in own.groupby(["class", "view"]):
            second = weaker[line["class"].iloc[0]] == line["view"].iloc[0]
            ax.plot(
                line["step"] + 1,
                line["strength"],
                color=VIEW_COLOURS[1] if second else VIEW_COLOURS[0],
                linewidth=1,
                alpha=0.85,
                label="a class's feature that ends weaker"
                if second
                else "its feature that ends stronger",
            )
        ax.axhline(varrho, color=COLOURS["ink"], linewidth=0.9, linestyle="--")
        # a feature that is lost stays small: on a linear axis it is a line at the bottom
        ax.set(title=title, xscale="log", yscale="log")
        ax.set_xlabel("1 + step of gradient descent (full batch)")
    axes[0].set_ylabel(r"correlation $\Lambda_{i,l}$ with the feature")
    ticks = [0.03, 0.1, 0.3, 1, 3]
    axes[0].set_yticks(ticks, [f"{tick:g}" for tick in ticks])
    axes[0].minorticks_off()
    axes[0].annotate(
        r"captured: $\Lambda\geq\varrho$", (0.02, varrho), xycoords=("axes fraction", "data"),
        ha="left", va="bottom", fontsize=8,
    )  # fmt: skip
    handles, labels = axes[0].get_legend_handles_labels()
    unique = dict(zip(labels, handles, strict=True))
    drawn.legend(unique.values(), unique.keys(), loc="outside lower center", ncols=2, fontsize=8)
    return drawn


def _weaker_view(history: pd.DataFrame) -> dict[int, int]:
    """For each class, which of its features is weakest at the end."""
    last = history[history["step"] == history["step"].max()]
    weakest = last.loc[last.groupby("class")["strength"].idxmin()]
    return dict(zip(weakest["class"], weakest["view"], strict=True))


@table("headline")
def headline_table(evaluation: pd.DataFrame) -> Table:
    """Mask-reconstruction pre-training against what could do without it

    Feature noise in many patches; chance is one in the number of classes. A new head is a logistic regression on
    standardised features, trained to its optimum, its penalty chosen on multi-view validation data. Networks *as
    trained* count features in the kernels of their own class, others in all.
    """
    order = {model: place for place, model in enumerate(LABELS)}
    own = evaluation[evaluation["model"].isin(LABELS)]
    own = own.sort_values("model", key=lambda names: names.map(order), kind="stable")
    means = summary(own, ["model", "quantity"]).drop(columns="largest")
    means.insert(1, "label", means["model"].map(LABELS))
    wide = side_by_side(means, ["label"], "quantity", HEADS)
    return Table(means, wide.rename(columns={"label": "model"}))


def chance(mrp: Mapping[str, Any]) -> float:
    """Accuracy of a guess."""
    return 1 / mrp["headline"]["data"]["classes"]


class Headline(Models):
    paper, kind, possible, changed = "mrp", THEOREM, SHARE, LENGTH
    premises = ("noise_small", "few_kernels")
    out_of_reach = needs(
        headline__data__classes=10,
        headline__data__patches=80,
        headline__replicates=10,
        headline__pretraining__min_steps=1500,
        headline__supervised__steps=1500,
    )

    @classmethod
    def made(cls, config: Mapping[str, Any]) -> Sequence[Claims]:
        own = config["headline"]
        data = own["data"]
        of = {
            "patches": data["patches"],
            "noise": data["feature_noise"],
            "classes": data["classes"],
        }
        every = own["replicates"] * data["classes"] * data["features_per_class"]
        return (cls(config, every=every, **of),)

    @premise("<=")
    def noise_small(self):
        r"""$\gamma \leq \sigma_0 / k$ (Assumption 1, constant and logarithms as 1)"""
        of = self.config["headline"]
        return of["data"]["feature_noise"], of["network"]["sigma_0"] / of["data"]["classes"]

    @premise("<=")
    def few_kernels(self):
        r"""$m \leq \sqrt{k}$ (Assumption 1)"""
        of = self.config["headline"]
        return of["network"]["kernels_per_class"], of["data"]["classes"] ** 0.5

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
        return {
            f"lead over {LABELS[one][0].lower()}{LABELS[one][1:]}": np.minimum(
                *(self.lead(model, one, SINGLE) for model in ("pretrained", "finetuned"))
            )
            for one in BASELINES
        }

    @claim("Theorem 1(a), part 2 (MAE); Theorem H.2",
           r"share of the $2k$ features with $\Lambda \ge \varrho$ after pre-training", low=0.98, high=1.0,
           baselines="captured",
           paper_says="“can capture all the discriminative features of each semantic class”")  # fmt: skip
    def headline_captured(self):
        """Under feature noise in all patches, mask reconstruction captures every feature of every class.

        The theorem says all. Noise delays the last ones, so a few of the {every} may come after the last step; the pilot
        gave 1.0.
        """
        return self.of("pretrained", "captured")

    @claim("Theorem 2; Theorem G.2",
           "single-view accuracy of a converged head on the pre-trained kernels", low=0.95, high=1.0,
           baselines="accuracies",
           changed="The band, from .90, was raised to .95 then.",
           paper_says="“correctly with high probability for both multi-view and single-view test data”")  # fmt: skip
    def headline_single_view(self):
        """A linear head on the pre-trained kernels is right on nearly all single-view data, though it saw none in training.

        The theorem says all, with high probability, at a noise far below this one; the second pilot gave 1.00.
        """
        return self.of("pretrained", SINGLE)

    @claim("Theorem 2 against Lemma 1",
           "single-view accuracy, head on pre-trained or on fine-tuned kernels, the worse of the two, minus the baseline "
           "with the largest mean, paired over replicates", low=0.0, high=1.0, possible=DIFFERENCE_OF_SHARES,
           baselines="leads",
           changed="Merged from headline-beats-best-opponent and headline-finetuned-beats-best-opponent on 2026-11-25 "
           "after their results were seen; the band is theirs.", failure="not reproduced")  # fmt: skip
    def headline_beats_best_opponent(self):
        """On single-view data mask reconstruction beats the best of its baselines, with and without fine-tuning.

        An advantage is a difference above 0. Baselines are a linear classifier on the patches, random kernels, and
        supervised networks with fixed and trained heads, as trained and with a new head.
        """
        return np.minimum(*(self.lead_over_best(model, BASELINES, SINGLE)
                            for model in ("pretrained", "finetuned")))  # fmt: skip

    @claim("Theorem 2 against Lemma 1",
           "single-view accuracy, head on pre-trained kernels minus supervised with fixed blocks, paired over replicates",
           low=0.1, high=1.0, possible=DIFFERENCE_OF_SHARES,
           paper_says="“MRP enjoys superior test performance to that of end-to-end supervised learning on the "
           "downstream tasks”")  # fmt: skip
    def headline_beats_supervised(self):
        """On single-view data mask reconstruction beats the network of Lemma 1, as trained, by a tenth or more.

        The limit is 1/2; the pilot gave .27, and .12 over a new head on those kernels.
        """
        return self.lead("pretrained", "supervised", SINGLE)

    @claim("Lemma 1 (Allen-Zhu & Li), finite form",
           "single-view accuracy of the supervised network with fixed blocks", low=0.5, high=0.8,
           paper_says="“the conventional SL only has a half test accuracy on single-view test data”")  # fmt: skip
    def headline_supervised_single_view(self):
        """Under feature noise supervised training errs on a large part of the single-view data.

        The band of the clean data: half is the limit of many classes. The pilot gave .69.
        """
        return self.of("supervised", SINGLE)

    @claim("Control (ours)", "single-view accuracy of a converged linear classifier on the summed patches",
           kind=CONTROL, low=chance, high=0.6, premises=())  # fmt: skip
    def headline_raw_linear(self):
        """A linear classifier on the summed patches does not solve the data.

        The sum of {patches} patches with noise up to {noise} of every feature. The pilot, with 80 and
        .05, gave .36; the band begins at chance, 1 / {classes}.
        """
        return self.of("raw_linear", SINGLE)
