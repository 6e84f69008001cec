"""The three stages: curves, alignment of neurons with atoms, decoupling, what a probe makes of it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pandas as pd
from matplotlib.colors import TwoSlopeNorm

from featlearn.contrastive.figures.shared import level, lines, over_sizes, wide
from featlearn.core.plots import COLOURS, PALETTE, canvas
from featlearn.core.publish import figure
from featlearn.core.statistical import Look, interval, rows, share_interval, within
from featlearn.core.stats import per_replicate

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

ARMS = {"masked": "RandomMask", "unmasked": "No mask"}
#: Panels of the curves: title, then quantity -> (colour, label).
PANELS: dict[str, dict[str, tuple[str, str]]] = {
    "Norm of a neuron": {
        "signal_norm": (COLOURS["blue"], "within span(M)"),
        "dense_norm": (COLOURS["orange"], "outside, noise"),
    },
    "Singletons": {
        "singletons": (COLOURS["blue"], "share of neurons"),
        "covered": (COLOURS["green"], "share of atoms covered"),
    },
    "Threshold": {"bias_over_norm": (COLOURS["purple"], r"$b/\|w\|$, mean")},
    "Loss": {
        "objective": (COLOURS["grey"], "with the regulariser"),
        "loss": (COLOURS["ink"], "contrastive loss"),
    },
}
MOMENTS = {"start": "start", "t1": "T1", "t2": "T2", "end": "end"}


@figure()
def stages(histories: pd.DataFrame, moments: pd.DataFrame) -> Figure:
    """Three stages of contrastive training

    Above with RandomMask, below without a mask, from the same start and with the same schedule; from left to
    right the norm of a neuron within and outside the span of the atoms, the share of *singletons* (living
    neurons with more than half of their squared norm along one atom) and of atoms that have one, the threshold
    over the norm, and the loss, without and with the regulariser that the objective adds. Every thin line is a
    replicate, thick lines are means. Dotted lines mark T1, when thresholds are raised, and T2, when the first
    neuron has grown by a factor of the square root of d.
    *What to see:* with RandomMask the part within the span of the atoms grows, and the rest by far less, from the
    noise of the gradients (stage I); once thresholds are up, neurons become singletons (stage II) until
    {{ value("moments", arm="masked", moment="end", quantity="covered") | percent }} of the atoms have one, and
    training goes on (stage III). Without a mask both parts grow until T1, the span of the atoms faster; then
    thresholds do there too what they do with the mask:
    {{ value("moments", arm="unmasked", moment="end", quantity="covered") | percent }} of the atoms get a
    singleton. The loss falls all the same. With RandomMask it stays above a floor (dashed): samples whose
    sparse codes agree cannot be told apart by a code of z.
    That every atom is learned by some singleton, as the share of atoms,
    {{ verdict("contrastive/theorem-3.4-coverage") }}; that without augmentation, thresholds at zero, the loss goes
    to zero, as a share of the initial one, {{ verdict("contrastive/theorem-3.2-loss") }}; that without it no
    neuron learns an atom, though thresholds are raised, as the share of neurons that do,
    {{ verdict("contrastive/no-augmentation-no-singletons") }}.
    """
    drawn = canvas(8.2, 4.8)
    axes = drawn.subplots(len(ARMS), len(PANELS), sharey="col")
    for row, (arm, name) in enumerate(ARMS.items()):
        own, times = histories[histories["arm"] == arm], _times(moments, arm)
        for ax, (title, shown) in zip(axes[row], PANELS.items(), strict=True):
            for quantity, (colour, label) in shown.items():
                lines(ax, wide(own, "step", quantity=quantity), colour, label)
            if row == 0:
                ax.set_title(title)
            else:
                ax.set_xlabel("step")
            _mark(ax, times, named=title == "Norm of a neuron")
        axes[row, 0].set_ylabel(name, fontweight="bold")
    axes[0, 0].set(yscale="log")
    axes[0, 1].set(ylim=(-0.03, 1.05))
    floor = moments[(moments["quantity"] == "floor") & (moments["arm"] == "masked")]["value"].mean()
    for ax in axes[:, 3]:
        ax.axhline(floor, color=COLOURS["grey"], linewidth=0.9, linestyle="--",
                   label="floor of a code of z")  # fmt: skip
    for ax in axes[-1]:  # below the panels, where no line is
        ax.legend(fontsize=8, loc="upper center", bbox_to_anchor=(0.5, -0.26))
    return drawn


def _times(moments: pd.DataFrame, arm: str) -> dict[str, float]:
    """Mean steps of T1 and T2, over the replicates in which they came."""
    own = moments[(moments["arm"] == arm) & (moments["quantity"] == "step")]
    came = own[own["value"] >= 0]
    return {
        str(name): float(value) for name, value in came.groupby("moment")["value"].mean().items()
    }


def _mark(ax: Axes, times: dict[str, float], *, named: bool) -> None:
    for name, step in times.items():
        ax.axvline(step, color=COLOURS["ink"], linewidth=0.8, linestyle=":")
        if named:
            ax.annotate(MOMENTS[name], (step, 0.02), xycoords=("data", "axes fraction"),
                        xytext=(2, 0), textcoords="offset points", fontsize=8)  # fmt: skip


@figure()
def singletons(alignment: pd.DataFrame, moments: pd.DataFrame) -> Figure:
    """Neurons become singletons

    The share of each neuron (row) along each atom (column), in one replicate: the absolute cosine of the angle
    between weight and atom. Neurons are sorted by the atom that they are closest to at the end. The order of the rows makes a diagonal
    of any matrix: to be judged is how dark it is and how light the rest. *What to see:*
    with RandomMask the picture is diffuse until T1; at the end
    {{ value("moments", arm="masked", moment="end", quantity="singletons") | percent }} of the neurons hold one
    atom. Of the pairs that were lucky at the start
    {{ value("moments", arm="masked", moment="end", quantity="lucky_came_true") | percent }} came true: the
    gradients of stage I are noisy. Without a mask, thresholds raised as well,
    {{ value("moments", arm="unmasked", moment="end", quantity="singletons") | percent }} of the neurons hold one
    atom.
    That a lucky neuron becomes a singleton of its atom, as the share of lucky pairs,
    {{ verdict("contrastive/lottery-precision") }}; that a singleton that lives with the theorem's decay has next to
    nothing along other atoms, over the order that the theorem gives, {{ verdict("contrastive/theorem-3.4b") }}.
    """
    drawn = canvas(8.2, 5.2)
    axes = drawn.subplots(len(ARMS), len(MOMENTS), sharex=True, sharey=True)
    for row, (arm, name) in enumerate(ARMS.items()):
        own = alignment[alignment["arm"] == arm]
        grids = {
            moment: own[own["moment"] == moment]
            .pivot_table(index="neuron", columns="atom", values="alignment")
            .to_numpy()
            for moment in MOMENTS
        }
        order = np.argsort(grids["end"].argmax(1), kind="stable")
        for ax, moment in zip(axes[row], MOMENTS, strict=True):
            image = ax.imshow(grids[moment][order], vmin=0, vmax=1, cmap="Blues", aspect="auto",
                              interpolation="nearest")  # fmt: skip
            ax.grid(visible=False)
            ax.set_title(f"{MOMENTS[moment]}{_step(moments, arm, moment)}", fontsize=9)
            if row == len(ARMS) - 1:
                ax.set_xlabel("atom")
        axes[row, 0].set_ylabel(f"{name}\nneuron", fontweight="bold")
    bar = drawn.colorbar(image, ax=axes, shrink=0.8, pad=0.01)
    bar.set_label(r"$|\langle w_i, M_j\rangle| / \|w_i\|$")
    return drawn


def _step(moments: pd.DataFrame, arm: str, moment: str) -> str:
    chosen = moments[
        (moments["arm"] == arm)
        & (moments["moment"] == moment)
        & (moments["quantity"] == "step")
        & (moments["replicate"] == 0)
    ]["value"]
    return f", step {chosen.iloc[0]:.0f}" if len(chosen) and chosen.iloc[0] >= 0 else ""


MASKINGS = {
    "complementary": "RandomMask",
    "independent": "Two independent masks",
    "none": "No augmentation",
}


@figure()
def decoupling(decoupling: pd.DataFrame) -> Figure:
    """What two views share

    The mean of the product of the two views' coordinates along pairs of directions: four atoms, then four
    dense directions. *What to see:* under RandomMask the views share the atoms and nothing along noise; the
    small negative value is exact, since complementary masks never keep the same coordinate. With two
    independent masks, or without augmentation, they share the noise as well, and noise grows.
    That views share no noise under RandomMask, over that of no masks, {{ verdict("contrastive/decoupling-noise") }};
    that they share the signal, over its exact value, {{ verdict("contrastive/decoupling-signal") }}; that independent
    masks do not decouple the noise, over that of no masks, {{ verdict("contrastive/decoupling-independent-masks") }}.
    """
    drawn = canvas(8.2, 3.2)
    axes = drawn.subplots(1, len(MASKINGS))
    grids = {
        name: _grid(decoupling[decoupling["masking"] == name], "measured") for name in MASKINGS
    }
    top = max(float(np.abs(grid).max()) for grid in grids.values())
    for ax, (masking, title) in zip(axes, MASKINGS.items(), strict=True):
        grid, exact = grids[masking], _grid(decoupling[decoupling["masking"] == masking], "exact")
        image = ax.imshow(grid, cmap="RdBu_r", norm=TwoSlopeNorm(0, -top, top))
        half = len(grid) // 2
        places = [half / 2 - 0.5, 1.5 * half - 0.5]
        ax.set_xticks(places, ["atoms", "dense"])
        ax.set_yticks(places, ["atoms", "dense"])
        ax.tick_params(length=0)
        ax.axhline(half - 0.5, color=COLOURS["ink"], linewidth=0.8)
        ax.axvline(half - 0.5, color=COLOURS["ink"], linewidth=0.8)
        ax.grid(visible=False)
        ax.set_title(title)
        pairs = np.stack([grid.diagonal(), exact.diagonal()], -1)
        words = [
            "{}: {:.4f} (exact {:.4f})".format(kind, *part.mean(0))
            for kind, part in (("atom", pairs[:half]), ("dense", pairs[half:]))
        ]
        ax.set_xlabel("\n".join(words).replace("-", "−"), fontsize=8)
    bar = drawn.colorbar(image, ax=axes, shrink=0.85, pad=0.01)
    bar.set_label(r"$E\,\langle x^+,v\rangle\langle x^{++},v'\rangle$")
    return drawn


def _grid(frame: pd.DataFrame, column: str) -> np.ndarray:
    """Means over replicates, a row and a column a direction, in the order of the frame."""
    names = list(dict.fromkeys(frame["first"]))
    grid = frame.pivot_table(index="first", columns="second", values=column)
    return grid.loc[names, names].to_numpy()


MODELS = {
    "raw": ("raw\nsamples", PALETTE["raw input"]),
    "random-features": ("random\nfeatures", PALETTE["random features"]),
    "unmasked-zero": ("no mask,\nb = 0", PALETTE["contrastive, no threshold"]),
    "masked-zero": ("mask,\nb = 0", PALETTE["contrastive, weak augmentation"]),
    "unmasked": ("no mask,\nb raised", PALETTE["contrastive, no augmentation"]),
    "masked": ("mask,\nb raised", PALETTE["contrastive"]),
    "bayes": ("Bayes\nestimate", PALETTE["bayes"]),
}


@figure()
def downstream(evaluation: pd.DataFrame) -> Figure:
    """What the mask does and what thresholds do

    Linear probes on each representation (*mask*: RandomMask; b: the thresholds; *random features*: the weights
    of the start with the thresholds of T1), for the regression of a linear function of the sparse code and for
    its sign; dots are replicates, a tick is their mean with its 95 % interval. The four trainings share start, length and
    samples. Dashed: the exact error of the best linear predictor, and the Bayes floor that no estimator can
    pass. *What to see:* with thresholds at zero the network is linear, with the mask
    ({{ value("downstream", model="masked-zero", quantity="nmse") | number }}) and without
    ({{ value("downstream", model="unmasked-zero", quantity="nmse") | number }}), and no better than the best
    linear predictor ({{ value("downstream", model="linear-exact", quantity="nmse") | number }}). Raised
    thresholds alone bring the error down to
    {{ value("downstream", model="unmasked", quantity="nmse") | number }}, against what the paper expects; the
    mask brings it down further, to {{ value("downstream", model="masked", quantity="nmse") | number }}, where the
    floor is {{ value("downstream", model="bayes-exact", quantity="nmse") | number }}. Samples with a response of
    zero have no class and are left out of the accuracy.
    That RandomMask with thresholds beats every linear predictor, as the ratio of their errors,
    {{ verdict("contrastive/corollary-3.5") }}; that the mask lowers the error where thresholds are
    raised, as their difference, {{ verdict("contrastive/mask-own-effect") }}; that the probe is no better than linear
    without augmentation, thresholds raised, as the ratio again, {{ verdict("contrastive/corollary-3.3") }}.
    """
    drawn = canvas(8.6, 3.3)
    left, right = drawn.subplots(1, 2)
    looks = {
        model: Look(words.replace("\n", " "), colour) for model, (words, colour) in MODELS.items()
    }
    for ax, quantity, errorbar in (
        (left, "nmse", within(0)),
        (right, "accuracy", share_interval),
    ):
        own = evaluation[evaluation["quantity"] == quantity]
        rows(ax, own, "model", looks=looks, errorbar=errorbar)
    for name, words, height in (
        ("linear", "best linear\npredictor", 0.2),
        ("bayes", "Bayes\nfloor", 1),
    ):
        at = float(per_replicate(evaluation, model=f"{name}-exact", quantity="nmse").mean())
        left.axvline(at, color=COLOURS["ink"], linewidth=0.9, linestyle="--", zorder=2)
        left.annotate(words, (at, height), (4, 0), xycoords=("data", "axes fraction"), va="top",
                      textcoords="offset points", fontsize=8)  # fmt: skip
    left.set(title="Regression: lower is better", xlim=(0, None))
    left.set_xlabel("error / mean square of the response")
    right.axvline(0.5, color=COLOURS["ink"], linewidth=0.8, linestyle=":")
    right.set(title="Classification", xlim=(0.45, 1), xlabel="accuracy (dotted: chance)")
    right.tick_params(labelleft=False)
    return drawn


LABEL_MODELS = {
    "unmasked-zero": ("no mask, thresholds at zero", PALETTE["contrastive, no threshold"]),
    "unmasked": ("no mask, thresholds raised", PALETTE["contrastive, no augmentation"]),
    "masked": ("RandomMask, thresholds raised", PALETTE["contrastive"]),
}


def _geometric_mean(values: pd.Series) -> float:
    return float(np.exp(np.log(values).mean()))


def _of_logarithm(values: pd.Series) -> tuple[float, float]:
    """The interval of the mean logarithm: on a log axis one of the mean may reach below zero."""
    low, high = np.exp(interval(np.log(values)))
    return float(low), float(high)


@figure()
def labels(labels: pd.DataFrame, evaluation: pd.DataFrame) -> Figure:
    """How many labels the probe needs

    Over the number of labelled samples, left the error (NMSE) of the linear probe, right its accuracy. On the left
    geometric means with the 95 % intervals of the mean logarithm, for a few replicates err by far the most; on the
    right means with 95 % intervals. *What to see:* with few labels neither network with raised thresholds reaches the best linear predictor (dashed);
    with more both pass it, the masked one first; with thresholds at zero the probe approaches it from above
    as labels are added, and cannot pass it.
    That with about 30 d labels the probe with RandomMask errs at most half as much again as with the most
    {{ verdict("contrastive/corollary-3.5-labels") }}.
    """
    drawn = canvas(8.2, 3.3)
    left, right = drawn.subplots(1, 2)
    # of few labels an error may be tens of times that of no features
    over_sizes(left, labels, "labels", "nmse", LABEL_MODELS, _of_logarithm, _geometric_mean)
    over_sizes(right, labels, "labels", "accuracy", LABEL_MODELS, share_interval)
    for ax in (left, right):
        ax.set_xlabel("labelled samples")
    for name, words in (("linear", "best linear\npredictor"), ("bayes", "Bayes floor")):
        level(left, evaluation, f"{name}-exact", words)
    left.set(title="Regression", ylabel="NMSE", yscale="log", ylim=(0.1, None))
    right.set(title="Classification", ylabel="accuracy")
    drawn.legend(*right.get_legend_handles_labels(), loc="outside lower center", ncols=3)
    return drawn
