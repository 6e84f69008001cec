"""Students on mixtures of pictures and injected inputs, and losses over sizes."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pandas as pd

from featlearn.core.plots import COLOURS, PAGE, canvas
from featlearn.core.publish import Config, figure
from featlearn.core.statistical import Look, history, interval, lines, share_interval
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
#: Injected inputs, sets of pictures and networks in words.
KINDS = {
    "gaussian": "Gaussian inputs",
    "covariance": "Gaussian inputs with their covariance",
    "pictures": "other pictures",
}
SETS = {"mnist": "MNIST", "cifar10": "CIFAR-10", "svhn": "SVHN"}
FAMILIES = {"fc": "FC", "resnet": "ResNet"}


@figure("fig-2-4", sets=("mnist", "cifar10", "svhn"), cells=("gaussian",),
        words="equal shares (Figure 2.4)", seen="gaussian")  # fmt: skip
@figure("fig-a-18", sets=("mnist", "cifar10", "svhn"), cells=("gaussian",),
        words="equal shares (Figure A.18)", seen="gaussian")  # fmt: skip
@figure("fig-a-19", sets=("cifar10", "svhn"), cells=("covariance",),
        words="injected inputs with structure (Figure A.19)", seen="covariance")  # fmt: skip
@figure("fig-a-20", sets=("cifar10",), cells=("gaussian-25", "gaussian", "gaussian-75"),
        words="other shares (Figure A.20)", seen="gaussian-75")  # fmt: skip
@figure("fig-a-21", sets=("mnist",), cells=("gaussian-wide",),
        words="a wider student (Figure A.21)", seen="gaussian-wide")  # fmt: skip
def student_curves(
    values: pd.DataFrame,
    config: Config,
    sets: tuple[str, ...],
    cells: tuple[str, ...],
    words: str,
    seen: str,
) -> Figure:
    """Students learn what a teacher says of pictures, less what it says of noise: {{ words }}

    Accuracy on new inputs along the training of a student: FC(m), a network with one hidden layer of
    m quadratic units, or ResNet(m), with m filters in its first stage. A teacher trained on the
    pictures labels everything, so that accuracy is agreement with it. Solid: a student of a mixture,
    a share α of which is injected. Dashed: students of pictures alone, as many as the mixture
    has inputs, or only those that it holds. Dotted: a student of the pictures' own labels, scored by
    these. Means of
    {{ value("student-accuracies", "replicates", pictures="mnist", mixture="{{ seen }}", arm="mixture", part="original") }}
    replicates, those of the mixture with 95 % intervals. The thesis shows MNIST,
    CIFAR-10 and SVHN, the latter two with ResNets: where a set is not measured, digits of 8 x 8
    pixels stand for it, and where a config names no other pictures, Gaussian inputs with the
    covariance of the pictures stand for Tiny ImageNet.

    *What to see,* of MNIST or what stands for it, in the last panel where there are several: the student of the mixture agrees with its teacher on
    {{ value("student-accuracies", pictures="mnist", mixture="{{ seen }}", arm="mixture", part="original") | percent }}
    of new pictures and on {{ value("student-accuracies", pictures="mnist", mixture="{{ seen }}", arm="mixture", part="injected") | percent }}
    of new injected inputs, of which the most frequent answer has
    {{ value("student-accuracies", pictures="mnist", mixture="{{ seen }}", arm="majority", part="injected") | percent }}; a student of
    as many pictures has {{ value("student-accuracies", pictures="mnist", mixture="{{ seen }}", arm="alone", part="original") | percent }}
    of new ones. At equal shares {{ said("emergence/noise-is-learned-worse",
    holds="what the teacher says of noise is learned worse by a wide margin",
    fails="what the teacher says of noise is not learned worse by the margin that was asked") }}, by the difference of
    both accuracies of the student of the mixture.
    """
    known = set(values[["pictures", "cell"]].drop_duplicates().itertuples(index=False, name=None))
    panels = [(one, cell) for one in sets for cell in cells if (one, cell) in known]
    panels = panels or [("mnist", cell) for cell in cells]  # what stands for all
    drawn = canvas(min(PAGE, 1.2 + 3.9 * len(panels)), 3.9)
    axes = drawn.subplots(1, len(panels), sharey=True, squeeze=False)[0]
    for ax, (name, cell) in zip(axes, panels, strict=True):
        own = rows(values, pictures=name, cell=cell)
        for (arm, part), (label, colour, dash) in CURVES.items():
            history(ax, rows(own, arm=arm, part=part), label, colour, dash,
                    errorbar=share_interval if dash == "-" else None)  # fmt: skip
        settings = config[name]["students"]["cells"][cell]
        student = f"{FAMILIES[config[name]['network']]}({settings['student']})"
        ax.set_title(
            f"{_set(config, name)}, {KINDS[settings['injected']]}\n"
            rf"$\alpha$ = {settings['alpha']:g}, student {student}", fontsize=9,
        )  # fmt: skip
        ax.set(xlabel="step", ylabel="accuracy", ylim=(0, 1.02))
    drawn.legend(*axes[0].get_legend_handles_labels(), loc="outside lower center",
                 ncols=2 if len(panels) == 1 else 3)  # fmt: skip
    return drawn


def _set(config: Config, name: str) -> str:
    """The set in words; what stands for MNIST stands for all."""
    return SETS[name] if config[name]["pictures"]["original"] else "Stand-in pictures"


@figure("fig-a-22")
def descent(curves: pd.DataFrame, config: Config) -> Figure:
    """Losses over the number of parameters (Figure A.22)

    Test loss (solid) and training loss (dashed) of networks of growing size at the same number of
    steps: of teachers on labelled pictures; then of students on Gaussian inputs with the labels of
    teachers of growing size, the first of the size that Algorithm 3 chooses (dotted, on the teachers'
    panel): the least validation loss, in the mean of the replicates, left of the peak of that curve. The thesis says
    test loss; on validation pictures the minimum need not be the first one of the test loss that is drawn. Means of
    {{ value("teacher-sizes", "replicates", curve="teachers", pictures="mnist", quantity="classical") }} replicates with 95 % intervals. The thesis shows FC(m) on MNIST,
    for which digits of 8 x 8 pixels stand unless a config names it, and has the first minimum of
    teacher and student at about the same size, and further right for larger teachers. *What to see:*
    {{ said("emergence/minimum-moves-with-the-teacher", holds="the minimum of the students' test loss lies further right for the largest teacher",
    fails="the minimum of the students' test loss does not lie further right for the largest teacher") }}, in doublings of the size.
    """
    chosen = rows(curves, quantity="chosen").set_index("pictures")["size"]
    curves = curves[curves["quantity"] != "chosen"]
    panels = curves[["pictures", "curve", "teacher"]].drop_duplicates().to_numpy().tolist()
    drawn = canvas(min(PAGE, 1 + 2.6 * len(panels)), 3.4)
    axes = drawn.subplots(1, len(panels), squeeze=False)[0]
    looks = {
        "test_loss": Look("test loss", COLOURS["blue"], "o"),
        "train_loss": Look("training loss", COLOURS["grey"], "s", (3, 2)),
    }
    for ax, (name, curve, teacher) in zip(axes, panels, strict=True):
        own = rows(curves, pictures=name, curve=curve, teacher=teacher)
        lines(ax, own, "parameters", "quantity", looks=looks, errorbar=interval)
        if curve == "teachers":
            at = rows(own, size=chosen[name])["parameters"].iloc[0]
            ax.axvline(at, color=COLOURS["ink"], linestyle=":", linewidth=1,
                       label="chosen by validation loss")  # fmt: skip
        family = FAMILIES[config[name]["network"]]
        words = (
            f"{family}(m): teachers" if curve == "teachers" else f"students of {family}({teacher})"
        )
        ax.set_title(f"{_set(config, name)}\n{words}", fontsize=9)
        ax.set(xscale="log", xlabel="parameters", ylim=(0, None))
    axes[0].set_ylabel("cross-entropy")
    drawn.legend(*axes[0].get_legend_handles_labels(), loc="outside lower center", ncols=3)
    return drawn
