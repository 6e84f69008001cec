"""Where the supervised lottery is and where not: starts, data, classes, length of training."""

from __future__ import annotations

import numpy as np
import pandas as pd
import seaborn as sns
from matplotlib.figure import Figure

from featlearn.core.drawing.intervals import Look, lines, share_interval
from featlearn.core.drawing.plots import COLOURS, PALETTE, canvas
from featlearn.core.evidence.claim_methods import Claims, claim
from featlearn.core.evidence.claims import THEOREM, needs
from featlearn.core.evidence.frames import pick
from featlearn.core.evidence.stats import per_replicate
from featlearn.core.run.exhibits import Config, figure
from featlearn.mrp.labels import DASHED, DOTTED, SINGLE, Quoted, legend, number_ticks

#: Panels: the frame, which is also the model whose start is named, and the model.
PANELS = {
    "Supervised, as trained": ("supervised", "supervised"),
    "Supervised + new head": ("supervised", "supervised_head"),
    "Summed raw patches": ("pretrained", "raw_linear"),
    "Random kernels + new head": ("pretrained", "random"),
    "Mask rec. + new head": ("pretrained", "pretrained"),
}
#: Columns of the figure.
PARAMETERS = {
    "q": "exponent of the\nactivation, $q$",
    "kernels_per_class": "kernels a class, $m$",
    "feature_noise": r"feature noise, $\gamma$",
    "theta": "probability that a\npatch is kept, $\\theta$",
    "sigma_0": "size of the initial\nkernels, $\\sigma_0$",
}
LOOKS = {
    "supervised": Look("supervised", PALETTE["supervised"]),
    "pretrained": Look("mask reconstruction (+ new head)", PALETTE["mask reconstruction"], "s"),
    "at_capture": Look("the same, when the last feature is captured", PALETTE["mask reconstruction"],
                       "^", (1, 1.65)),
    "random": Look("random kernels + new head", PALETTE["random features"], "v"),
    "raw_linear": Look("linear classifier on the summed patches", PALETTE["raw input"], "D"),
}  # fmt: skip
#: Rows of the figure: the quantity, its name, and which models have a line.
ROWS = {
    "captured": ("features\ncaptured", ("supervised", "pretrained")),
    "impure_share": ("winners that\nare impure", ("supervised", "pretrained", "at_capture")),
    SINGLE: ("single-view\naccuracy", ("supervised", "pretrained", "random", "raw_linear")),
}
#: What became of the view that a single-view image shows, in the words of the legend.
CAUSES = {
    "kept": Look("view captured", COLOURS["blue"]),
    "lost_alone": Look("view lost, no captured distractor", COLOURS["green"]),
    "lost_distractor": Look("view lost, captured distractor present", COLOURS["red"]),
}
SHARES = {
    "captured": Look("features captured", COLOURS["ink"]),
    SINGLE: Look("single-view accuracy", COLOURS["orange"], "s"),
    "accuracy_multi_view": Look("multi-view accuracy", COLOURS["sky"], "^"),
}


@figure()
def phase_diagram(supervised_cells: pd.DataFrame, pretrained_cells: pd.DataFrame) -> Figure:
    """Where is the supervised lottery?

    *What to see:* the lottery is the dark corner at the lower left: small initial kernels and hardly any single-view
    training image.

    Mean accuracy on single-view images. Upwards: largest initial correlation of a kernel with a feature, over the
    threshold. To the right: share of single-view training images. Star: most supervised runs did not fit their labels.
    """
    frames = {"supervised": supervised_cells, "pretrained": pretrained_cells}
    drawn = canvas(8.2, 6.0)
    axes = drawn.subplots(2, 3).flat
    for ax, (title, (name, model)) in zip(axes, PANELS.items(), strict=False):
        frame = frames[name]
        cells = _means(frame, model, SINGLE)
        words = cells.map("{:.2f}".format)
        if model == "supervised":
            words += np.where(_means(frame, model, "converged") > 0.5, "", "*")
        ratio = _means(frame, name, "initial_ratio").mean(axis=1)
        named = cells.set_axis([f"{value:.2f}" for value in ratio]).rename(columns="{:g}".format)
        # chance is far below, so the scale begins where the lottery of the theory ends
        sns.heatmap(named, vmin=0.5, vmax=1, cmap="viridis", annot=words, fmt="",
                    annot_kws={"fontsize": 8}, cbar=False, ax=ax)  # fmt: skip
        ax.set(title=title, ylabel=None, xlabel=None)
        ax.tick_params(length=0, rotation=0)
    drawn.supxlabel(r"single-view share of the training data, $\mu$", fontsize=9)
    drawn.supylabel(r"initial correlation / threshold, $\Lambda^{(0)}/\varrho$", fontsize=9)
    spare = drawn.axes[len(PANELS)]
    spare.set_axis_off()
    place = spare.inset_axes((0.05, 0.05, 0.12, 0.9))
    bar = drawn.colorbar(drawn.axes[0].collections[0], cax=place, extend="min")
    bar.set_label("single-view accuracy")
    return drawn


def _means(frame: pd.DataFrame, model: str, quantity: str) -> pd.DataFrame:
    """Means over replicates: a row a sigma_0, smallest last, a column a share."""
    chosen = pick(frame, model=model, quantity=quantity)
    means = chosen.pivot_table(index="sigma_0", columns="single_view_share", values="value")
    return means.sort_index(ascending=False)


def sigma_sweep(grid: pd.DataFrame) -> pd.DataFrame:
    """The cells of the phase diagram without single-view data, as a sweep over sigma_0."""
    alone = grid[grid["single_view_share"] == grid["single_view_share"].min()]
    alone = alone.rename(columns={"sigma_0": "at"}).assign(parameter="sigma_0")
    return alone[["parameter", "at", "model", "replicate", "quantity", "value"]]


def with_impure_share(frame: pd.DataFrame) -> pd.DataFrame:
    """The frame with a further quantity: impure winners as a share of all winners."""
    keys = [name for name in frame.columns if name not in ("quantity", "value")]
    both = pick(frame, quantity=["winners", "impure_winners"])
    wide = both.pivot_table(index=keys, columns="quantity", values="value")
    share = (wide["impure_winners"] / wide["winners"].clip(lower=1)).rename("value").reset_index()
    return pd.concat([frame, share.assign(quantity="impure_share")], ignore_index=True)


@figure()
def sweeps(supervised: pd.DataFrame, pretrained: pd.DataFrame, grid: pd.DataFrame) -> Figure:
    """What does each parameter do?

    *What to see:* the supervised lottery needs large exponents, few kernels, little feature noise and small initial
    kernels; mask reconstruction only enough kernels.

    Rows: features captured, winning kernels with more than one feature, single-view accuracy. A column varies one
    parameter; dotted: at the last capture. Means with 95 % intervals.
    """
    frame = with_impure_share(pd.concat([supervised, pretrained, sigma_sweep(grid)]))
    drawn = canvas(8.2, 5.6)
    axes = drawn.subplots(len(ROWS), len(PARAMETERS), sharex="col", sharey="row")
    for column, (parameter, words) in enumerate(PARAMETERS.items()):
        own = pick(frame, parameter=parameter)
        points = np.sort(own["at"].unique())
        # evenly spaced, whatever the values
        own = own.assign(place=np.searchsorted(points, own["at"]))
        for ax, (quantity, (label, models)) in zip(axes[:, column], ROWS.items(), strict=True):
            looks = {model: LOOKS[model] for model in models}
            lines(ax, pick(own, quantity=quantity), "place", "model", looks=looks,
                  errorbar=share_interval)  # fmt: skip
            ax.set(ylim=(-0.05, 1.07), ylabel=None if column else label)
        names = [f"{point:g}" for point in points]
        ax.set_xticks(range(len(points)), names, rotation=45 * (len(points) > 3))
        ax.set(xlim=(-0.35, len(points) - 0.65), xlabel=words)
    legend(drawn, *axes[:, 0], ncols=2)
    return drawn


@figure()
def lottery_and_classes(classes: pd.DataFrame, length: pd.DataFrame, config: Config) -> Figure:
    """Does the supervised lottery survive many classes and long training?

    *What to see:* as classes are added the captured share falls, and single-view accuracy equals it; {{
    said("mrp/t16-classes-limit", holds="it tends to one half", fails="it does not tend to one half") }}.

    Top: features captured and accuracy; what became of the view that a single-view image shows. Below: accuracy in
    these groups; longer training (dashed: usual end). Means with 95 % intervals.
    """
    # when the clean data's run ends its supervised training, in the units of the figure
    supervised = config["supervised"]
    marked = supervised["steps"] * supervised["learning_rate"] / config["data"]["classes"]
    drawn = canvas(8.2, 6.4)
    (shares, kinds), (groups, time) = drawn.subplots(2, 2)
    counts = np.sort(classes["classes"].unique())

    lines(shares, classes, "classes", "quantity", looks=SHARES, errorbar=share_interval)
    shares.annotate("theory, many classes: 1/2", (0.02, 0.49), xycoords=("axes fraction", "data"),
                    va="top", fontsize=8)  # fmt: skip
    shares.set(ylim=(0.4, 1.03), ylabel="share", title="The lottery as classes are added")

    bottom = np.zeros(len(counts))
    for cause, look in CAUSES.items():
        chosen = classes[classes["quantity"] == f"share_{cause}"]
        means = chosen.groupby("classes")["value"].mean().reindex(counts).to_numpy()
        kinds.bar(range(len(counts)), means, 0.6, bottom, color=look.colour)
        bottom += means
    kinds.set_xticks(range(len(counts)), [str(count) for count in counts])
    kinds.set(ylim=(0, 1), ylabel="share of single-view test images",
              title="What became of the view they show")  # fmt: skip
    kinds.grid(axis="x", visible=False)

    accuracies = {f"accuracy_{cause}": look for cause, look in CAUSES.items()}
    lines(groups, classes, "classes", "quantity", looks=accuracies, errorbar=share_interval)
    groups.set(ylim=(-0.03, 1.03), ylabel="accuracy within the group",
               title="Which of them are right")  # fmt: skip
    for ax in (shares, groups):
        ax.set_xscale("log")
        number_ticks(ax, counts, "x")

    lines(time, length, "time", "quantity", looks=SHARES, errorbar=share_interval)
    time.axvline(marked, **DASHED | {"color": COLOURS["grey"]})
    time.annotate("usual training\nends here", (marked, 0.36), xytext=(4, 0), textcoords="offset points",
                  fontsize=8, color=COLOURS["grey"])  # fmt: skip
    time.set(xscale="log", ylim=(0.3, 1.03), ylabel="share", title="On the clean data, trained longer",
             xlabel=r"training time: steps $\times$ learning rate / $k$")  # fmt: skip
    times = np.sort(length["time"].unique())
    number_ticks(time, [at for at in times if float(np.log2(at / times[0])).is_integer()], "x")
    for ax in (shares, kinds, groups):
        ax.set_xlabel("number of classes, $k$")
    for ax in (shares, kinds, time):
        ax.axhline(0.5, **DOTTED)
    legend(drawn, shares, groups, ncols=2)
    return drawn


class Classes(Claims):
    paper = "mrp"
    out_of_reach = needs(classes__classes=50, classes__replicates=10, classes__training__max_steps=2000,
                         classes__length__watched=800)  # fmt: skip

    @claim("Lemma 1 (Allen-Zhu & Li)",
           "share of features captured, a line in $\\log(k)/k$ through all $k$, at infinite $k$", kind=THEOREM,
           low=0.4, high=0.6, id="t16-classes-limit",
           changed="Was a line in $1/k$, which overshoots, with a band up to 0.62 that 0.59 ± 0.05 met in a run: both "
           "were replaced after it.", paper_says=Quoted.LOTTERY, failure="limit only")  # fmt: skip
    def limit(self):
        r"""As the number of classes grows, the share of features that supervised training captures tends to 1/2.

        The window in which both features are kept closes like $\log(k)/k$. Shares of $2k$ features scatter like
        $1/\sqrt{k}$, so the fit is weighted by $k$; ten replicates, paired by number, leave a noise of about 0.05.
        """
        counts = np.sort(self.classes["classes"].unique())
        shares = [per_replicate(self.classes, model="supervised", quantity="captured", classes=count)
                  for count in counts]  # fmt: skip
        x, weights = np.log(counts) / counts, np.sqrt(counts)
        return np.polynomial.polynomial.polyfit(x, np.array(shares), 1, w=weights)[0]
