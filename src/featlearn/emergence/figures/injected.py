"""Students on mixtures of pictures and injected inputs, and losses over sizes."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pandas as pd
import seaborn as sns

from featlearn.core.plots import COLOURS, canvas
from featlearn.core.publish import Config, figure
from featlearn.core.statistical import Look, interval, lines, share_interval
from featlearn.emergence.reading import rows

if TYPE_CHECKING:
    from matplotlib.figure import Figure

#: Arm and part of each curve, and how it is drawn.
CURVES = {
    ("mixture", "original"): ("mixture: pictures", COLOURS["blue"], "-"),
    ("mixture", "injected"): ("mixture: injected inputs", COLOURS["red"], "-"),
    ("mixture", "whole"): ("mixture: all", COLOURS["ink"], "-"),
    ("alone", "original"): ("pictures alone", COLOURS["sky"], "--"),
    ("fewer", "original"): ("the mixture's pictures alone", COLOURS["purple"], "--"),
    ("direct", "original"): ("pictures with their own labels", COLOURS["grey"], ":"),
}
#: Injected inputs in words.
KINDS = {"gaussian": "Gaussian", "covariance": "Gaussian with the pictures' covariance"}


@figure("fig-2-4", cells=("gaussian",), words="equal shares (Figure 2.4)")
@figure("fig-a-18", cells=("gaussian",), words="equal shares (Figure A.18)")
@figure("fig-a-19", cells=("covariance",), words="injected inputs with structure (Figure A.19)")
@figure(
    "fig-a-20", cells=("gaussian-25", "gaussian", "gaussian-75"), words="other shares (Figure A.20)"
)
@figure("fig-a-21", cells=("gaussian-wide",), words="a wider student (Figure A.21)")
def student_curves(
    values: pd.DataFrame, config: Config, cells: tuple[str, ...], words: str
) -> Figure:
    """Students learn what a teacher says of pictures, less what it says of noise: {{ words }}

    Accuracy on new inputs along the training of a student, a network with one hidden layer of
    quadratic units. A teacher trained on the pictures labels everything, so that accuracy is
    agreement with it. Solid: a student of a mixture, a share alpha of which is injected. Dashed:
    students of pictures alone, as many as the mixture has inputs, or only those that it holds.
    Dotted: a student of the pictures' own labels, scored by these. Means of the replicates, those
    of the mixture with 95 % intervals. The thesis shows MNIST, CIFAR-10 and SVHN, for the latter two with ResNets: one set
    stands for all three here, digits of 8 x 8 pixels unless a config names another, and Gaussian
    inputs with the covariance of the pictures stand for Tiny ImageNet.
    """
    drawn = canvas(1.2 + 3.9 * len(cells), 3.9)
    axes = drawn.subplots(1, len(cells), sharey=True, squeeze=False)[0]
    for ax, cell in zip(axes, cells, strict=True):
        own, settings = rows(values, cell=cell), config["students"]["cells"][cell]
        for (arm, part), (label, colour, dash) in CURVES.items():
            sns.lineplot(
                rows(own, arm=arm, part=part), x="step", y="value", color=colour, linestyle=dash,
                label=label, legend=False, ax=ax,
                errorbar=share_interval if dash == "-" else None,
                err_kws={"linewidth": 0, "alpha": 0.2},
            )  # fmt: skip
        ax.set_title(
            f"{KINDS[settings['injected']]}\nalpha = {settings['alpha']:g}, student of "
            f"{settings['student']} units", fontsize=9,
        )  # fmt: skip
        ax.set(xlabel="step", ylabel="accuracy", ylim=(0, 1.02))
    drawn.legend(*axes[0].get_legend_handles_labels(), loc="outside lower center",
                 ncols=2 if len(cells) == 1 else 3)  # fmt: skip
    return drawn


@figure("fig-a-22")
def descent(curves: pd.DataFrame) -> Figure:
    """Losses over the number of parameters (Figure A.22)

    Test loss (solid) and training loss (dashed) of networks with one hidden layer of quadratic units
    at the same number of steps: left, of teachers on labelled pictures; then of students on
    Gaussian inputs with the labels of teachers of growing size, the first of the size that
    Algorithm 3 chooses on validation pictures (the dotted line). Means of the replicates with 95 %
    intervals. The thesis has the first minimum of teacher and student at about the same size, and
    further right for larger teachers.
    """
    chosen = int(rows(curves, quantity="chosen")["size"].iloc[0])
    curves = curves[curves["quantity"] != "chosen"]
    panels = curves[["curve", "teacher"]].drop_duplicates().to_numpy().tolist()
    drawn = canvas(1 + 2.6 * len(panels), 3.4)
    axes = drawn.subplots(1, len(panels), squeeze=False)[0]
    looks = {
        "test_loss": Look("test loss", COLOURS["blue"], "o"),
        "train_loss": Look("training loss", COLOURS["grey"], "s", (3, 2)),
    }
    for ax, (curve, teacher) in zip(axes, panels, strict=True):
        own = rows(curves, curve=curve, teacher=teacher)
        lines(ax, own, "parameters", "quantity", looks=looks, errorbar=interval)
        at = rows(own, size=chosen)["parameters"].iloc[0]
        ax.axvline(at, color=COLOURS["ink"], linestyle=":", linewidth=1)
        ax.set_title("teachers" if curve == "teachers" else f"students of FC({teacher})")
        ax.set(xscale="log", xlabel="parameters", ylim=(0, None))
    axes[0].set_ylabel("cross-entropy")
    drawn.legend(*axes[0].get_legend_handles_labels(), loc="outside lower center", ncols=2)
    return drawn
