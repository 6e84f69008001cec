"""Students on mixtures of pictures and injected inputs, and losses over sizes.

Bands are from the print (of Figure A.22 in a pilot of two replicates, with five Gaussian inputs a picture, students of
FC(5) did best at the largest size tried, 5).
"""

from __future__ import annotations

import numpy as np
import pandas as pd
from matplotlib.figure import Figure

from featlearn.core.drawing.intervals import Look, history, interval, lines, share_interval
from featlearn.core.drawing.plots import COLOURS, PAGE, canvas
from featlearn.core.evidence.claim_methods import Claims, claim
from featlearn.core.evidence.claims import (
    DIFFERENCE_OF_SHARES,
    REFUTES_NOTHING,
    THEOREM,
    first_of,
    needs,
    original,
)
from featlearn.core.evidence.frames import pick
from featlearn.core.evidence.stats import per_replicate, side_by_side, summary
from featlearn.core.run.exhibits import Config, Table, figure, table
from featlearn.emergence.frames import classical_minimum

ARMS = {
    "mixture": "student of the mixture", "alone": "student of as many pictures",
    "fewer": "student of the mixture's pictures", "direct": "student of own labels, by these",
    "linear": "linear on the mixture", "random": "head on the start's features",
    "majority": "majority", "teacher": "the teacher, by own labels",
}  # fmt: skip
PARTS = {"train": "train", "original": "new pictures", "injected": "new injected", "whole": "whole"}
STUDENTS = "emergence/measurements/injected/mnist-students.parquet"
CURVES = {
    ("mixture", "original"): ("mixture: pictures", COLOURS["blue"], "-"),
    ("mixture", "injected"): ("mixture: injected inputs", COLOURS["red"], "-"),
    ("mixture", "whole"): ("mixture: all", COLOURS["ink"], "-"),
    ("alone", "original"): ("pictures alone", COLOURS["sky"], "--"),
    ("fewer", "original"): ("the mixture's pictures alone", COLOURS["purple"], "--"),
    ("direct", "original"): ("pictures with their own labels", COLOURS["grey"], ":"),
}
KINDS = {"gaussian": "Gaussian inputs", "covariance": "Gaussian inputs with their covariance",
         "pictures": "other pictures"}  # fmt: skip
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
    values: pd.DataFrame, config: Config, sets: tuple[str, ...], cells: tuple[str, ...], words: str,
    seen: str,
) -> Figure:  # fmt: skip
    """Do students learn a teacher's labels of pictures better than of noise? {{ words }}

    *What to see:* {% if "{{ seen }}" == "gaussian" %}{{ said("emergence/noise-is-learned-worse", holds="the student's
    gap between both exceeds a linear classifier's", fails="the student's gap between both does not exceed a linear
    classifier's") }}.{% elif "{{ seen }}" == "gaussian-wide" %}{{ said("emergence/wider-student-separates",
    holds="the gap is wider than with nine neurons", fails="the gap is not wider than with nine neurons") }}.{% else
    %}on digits the student agrees with the teacher on {{ value("student-accuracies", pictures="mnist",
    mixture="{{ seen }}", arm="mixture", part="injected") | percent }} of the last panel's injected inputs, and on {{
    value("student-accuracies", pictures="mnist", mixture="gaussian", arm="mixture", part="injected") | percent }} of an
    equal share of Gaussian ones.{% endif %} Agreement with the teacher on new inputs. Solid: student of a mixture
    (injected share α); dashed: of pictures alone; dotted: of true labels.

    ---

    FC(m) has $m$ quadratic units, ResNet(m) $m$ filters in its first stage. Means of {{ value("student-accuracies",
    "replicates", pictures="mnist", mixture="{{ seen }}", arm="mixture", part="original") }} replicates, mixtures with
    95 % intervals. Students of true labels are scored by these.
    """
    known = set(values[["pictures", "cell"]].drop_duplicates().itertuples(index=False, name=None))
    panels = [(one, cell) for one in sets for cell in cells if (one, cell) in known]
    panels = panels or [("mnist", cell) for cell in cells]  # what stands for all
    drawn = canvas(min(PAGE, 1.2 + 3.9 * len(panels)), 3.9)
    axes = drawn.subplots(1, len(panels), sharey=True, squeeze=False)[0]
    for ax, (name, cell) in zip(axes, panels, strict=True):
        own = pick(values, pictures=name, cell=cell)
        for (arm, part), (label, colour, dash) in CURVES.items():
            history(ax, pick(own, arm=arm, part=part), label, colour, dash,
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
    """Does the best student grow with its teacher (Figure A.22)?

    *What to see:* {{ said("emergence/minimum-moves-with-the-teacher", holds="for the largest teacher the minimum of the
    students' test loss lies further right", fails="for the largest teacher the minimum of the students' test loss does
    not lie further right") }}, in doublings of the size. Test (solid) and training loss (dashed) by size, at equal
    steps: of teachers, then of students on Gaussian inputs labelled by teachers of growing size. Dotted: Algorithm 3.

    ---

    Means of {{ value("student-accuracies", "replicates", pictures="mnist", mixture="gaussian", arm="mixture",
    part="original") }} replicates with 95 % intervals.
    """
    chosen = pick(curves, quantity="chosen").set_index("pictures")["size"]
    curves = curves[curves["quantity"] != "chosen"]
    panels = curves[["pictures", "curve", "teacher"]].drop_duplicates().to_numpy().tolist()
    drawn = canvas(min(PAGE, 1 + 2.6 * len(panels)), 3.4)
    axes = drawn.subplots(1, len(panels), squeeze=False)[0]
    looks = {"test_loss": Look("test loss", COLOURS["blue"], "o"),
             "train_loss": Look("training loss", COLOURS["grey"], "s", (3, 2))}  # fmt: skip
    for ax, (name, curve, teacher) in zip(axes, panels, strict=True):
        own = pick(curves, pictures=name, curve=curve, teacher=teacher)
        lines(ax, own, "parameters", "quantity", looks=looks, errorbar=interval)
        if curve == "teachers":
            at = pick(own, size=chosen[name])["parameters"].iloc[0]
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


@table()
def student_accuracies(values: pd.DataFrame) -> Table:
    """How well students agree with the teacher

    *What to see:* a linear classifier shows the gap between pictures and noise as well; {{
    said("emergence/noise-is-learned-worse", holds="the student's is larger", fails="the student's is not larger") }};
    {{ said("emergence/wider-student-separates", holds="a wider student's exceeds it", fails="a wider student's does not
    exceed it") }}. Final accuracy, by the teacher's labels unless a row says otherwise.
    """
    values = values.rename(columns={"cell": "mixture"})
    last = values.groupby("pictures")["step"].transform("max")
    ends = values[(values["step"] == -1) | (values["step"] == last)]
    means = summary(ends, ["pictures", "mixture", "arm", "part"])
    order = {arm: place for place, arm in enumerate(ARMS)}
    means = means.sort_values(["pictures", "mixture", "arm"], key=lambda c: c.map(order).fillna(0)
                              if c.name == "arm" else c, kind="stable", ignore_index=True)  # fmt: skip
    shown = side_by_side(means, ["pictures", "mixture", "arm"], "part", PARTS)
    shown["arm"] = shown["arm"].map(ARMS)
    return Table(means, shown)


class OfStudents(Claims):
    paper, kind = "emergence", THEOREM
    out_of_reach = first_of(
        needs("injected__mnist", replicates=5, students__steps=600, pictures__samples__train=800,
              descent__times=5, descent__steps=1500),
        original("injected__mnist__pictures__original"),
    )  # fmt: skip
    changed = REFUTES_NOTHING

    def end(self, arm, part, cell="gaussian"):
        """Accuracy at the end, of what is trained after the last step."""
        own = pick(self.values, pictures="mnist", cell=cell, arm=arm, part=part)
        return per_replicate(own, step=own["step"].max())

    def gap(self, arm, cell="gaussian"):
        """Accuracy on new pictures minus that on new injected inputs."""
        return self.end(arm, "original", cell) - self.end(arm, "injected", cell)

    def gaps(self):
        """Of the student, and of what learns no features."""
        return {f"gap of {ARMS[arm]}": self.gap(arm) for arm in ("mixture", "linear", "random")}

    @claim("Figures 2.4 and A.18", "accuracy on new pictures minus that on new Gaussian inputs, after the last step: "
           "the student minus a converged linear classifier of the same mixture", low=0.0, high=1.0,
           possible=DIFFERENCE_OF_SHARES, artefact=STUDENTS, baselines="gaps",
           paper_says="“learns slower with worse accuracy on the Gaussian part”", changed="Minus a linear "
           "classifier, and from 0 on, since a published run had a gap of .603 and a linear classifier one of .689; "
           "it was the student's alone, from .2 on.", failure="not reproduced")  # fmt: skip
    def noise_is_learned_worse(self):
        """A student learns the teacher's labels of Gaussian inputs worse than those of pictures, by more than a linear classifier does.

        Any learner has the gap, one that never saw noise included; what exceeds a linear classifier's is of features.
        """
        return self.gap("mixture") - self.gap("linear")

    @claim("Figure 2.4", "accuracy on new pictures after the last step: the student of the mixture minus that of as "
           "many pictures", low=-0.05, high=0.05, possible=DIFFERENCE_OF_SHARES, artefact=STUDENTS,
           paper_says="“with accuracy similar to directly training on the original data”",
           changed="Stated after a published run had .815 and .945.", failure="not reproduced")  # fmt: skip
    def mixture_like_direct(self):
        """On pictures, a student of the mixture is about as good as one of pictures alone.

        Five in a hundred, which two drawn curves hardly tell apart. The mixture has half of the pictures.
        """
        return self.end("mixture", "original") - self.end("alone", "original")

    @claim("Figure A.21", "accuracy on new pictures minus that on new Gaussian inputs, after the last step: wider "
           "minus narrower student", low=0.0, high=1.0, possible=DIFFERENCE_OF_SHARES, artefact=STUDENTS,
           paper_says="“The separation between the two is actually more significant than that for m = 9.”",
           changed="Stated after a published run had .668 and .603.", failure="not reproduced")  # fmt: skip
    def wider_student_separates(self):
        """The gap between pictures and Gaussian inputs is larger for a student of 50 neurons than for one of nine.

        The sign is all that is printed.
        """
        return self.gap("mixture", "gaussian-wide") - self.gap("mixture")

    @claim("Figure A.22", "log2 of the size at the minimum of the largest teacher's students over "
           "that of the chosen teacher's", low=0.5, high=10.0, possible=(-10.0, 10.0),
           artefact="emergence/measurements/injected/mnist-descent.parquet",
           paper_says="“The local minimum of the U-shape becomes larger when the teacher gets "
           "larger”", failure="not reproduced")  # fmt: skip
    def minimum_moves_with_the_teacher(self):
        """The size at the classical minimum of students' losses grows with their teacher.

        Printed as a shift to the right; half a doubling is a step between two sizes.
        """
        losses = pick(self.curves, pictures="mnist", curve="students", quantity="test_loss")

        def places(teacher):
            own = pick(losses, teacher=teacher).sort_values("size").groupby("replicate")
            return np.array([one["size"].iloc[classical_minimum(one["value"].tolist())[0]]
                             for _, one in own])  # fmt: skip

        return np.log2(places(losses["teacher"].max()) / places(losses["teacher"].min()))
