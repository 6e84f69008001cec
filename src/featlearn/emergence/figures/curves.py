"""Accuracy along the training, maps of the weights in the first two steps, directions of gradients,
and what the thesis prints against what its own algorithm does."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import pandas as pd

from featlearn.core.plots import COLOURS, PAGE, PALETTE, canvas
from featlearn.core.publish import figure
from featlearn.core.quoted import quoted_table
from featlearn.core.statistical import Look, bars, history
from featlearn.emergence.figures.maps import hollow
from featlearn.emergence.figures.maps import panels as maps_of
from featlearn.emergence.reading import dimension, measured, rows

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

#: How the trained arms are drawn.
ARMS = {
    "network": ("network", PALETTE["network"]),
    "unweighted": ("network, plain loss", COLOURS["orange"]),
    "ntk": ("tangent kernel (NTK)", PALETTE["tangent kernel"]),
    "rf": ("random features", PALETTE["random features"]),
}
#: Cells in words.
CELLS = {
    "parity": "Parity labels",
    "interval": "Interval labels",
    "negatives-80": "80 % negative",
    "negatives-90": "90 % negative",
    "samples-25000": "25,000 samples",
    "samples-10000": "10,000 samples, narrow",
    "hidden": "Hidden representation",
}
MOMENTS = ("start", "after one step", "after two steps")
#: Neurons with an absolute cosine of so much after the second step are coloured.
NEAR = 0.9


@figure("fig-2-1", cells=("parity",), words="parity labels (Figure 2.1)",
        seen="parity", table="table-a-1", drawn_as="means with 95 % intervals", more="")  # fmt: skip
@figure("fig-a-1", cells=("parity",), words="parity labels again (Figure A.1)",
        seen="parity", table="table-a-1", drawn_as="means with 95 % intervals", more="")  # fmt: skip
@figure("fig-a-3", cells=("interval",), words="interval labels (Figure A.3)",
        seen="interval", table="table-a-2", drawn_as="means with 95 % intervals", more="")  # fmt: skip
@figure("fig-a-5", cells=("parity",), words="every dimension of the input (Figure A.5)",
        seen="parity", table="table-a-1", drawn_as="means with 95 % intervals", more="")  # fmt: skip
@figure("fig-a-7", cells=("negatives-80", "negatives-90"), words="unequal classes (Figure A.7)",
        seen="negatives-90", table="table-a-4",
        drawn_as="the median (thick) and each (thin)", more="""
Below, the mean of both labels' accuracies, of which a constant has a half, and there alone the arms without structure.
What falls below the panels is cut off. Orange: the network after two full
steps by the plain loss, in which the frequent label weighs more; its batches are the same. No arm weighs
labels but the network, in its two full steps; rates are those of the best accuracy on all labels.
At the end, with the most unequal labels, that mean has itself a mean of
{{ value("table-a-4", cell="negatives-90", arm="network", quantity="balanced") | percent }} with weights and
{{ value("table-a-4", cell="negatives-90", arm="unweighted", quantity="balanced") | percent }} without:
{{ said("emergence/weights-of-classes-matter", holds="the two full steps need the weights",
fails="the two full steps do without the weights") }}, by the difference of these two.""")  # fmt: skip
@figure("fig-a-9", cells=("samples-25000", "samples-10000"), words="sample sizes (Figure A.9)",
        seen="samples-10000", table="table-a-5", drawn_as="means with 95 % intervals", more="")  # fmt: skip
def accuracy_curves(
    values: pd.DataFrame, cells: tuple[str, ...], words: str, seen: str, table: str, drawn_as: str,
    more: str,
) -> Figure:  # fmt: skip
    """Accuracy during training: {{ words }}

    Test accuracy of the network, of its Taylor model at the start (NTK) and of a head on random
    features, all from the same start and on the same samples; solid: with the structure of the
    inputs, dashed: with inputs of independent fair bits and the same labels. Of
    {{ value("{{ table }}", "replicates", cell="{{ seen }}", arm="network", quantity="test") }} replicates
    {{ drawn_as }}. Dotted: the best threshold on the number of relevant patterns, which a linear
    classifier can be; grey: the more frequent label, where that differs without structure, too. The
    first two steps are full gradient steps. After the first one, at the theory's rate, outputs of
    600 neurons are as small as the rounding of single precision, which decides their sign: the
    first point of the network says little.
    Training happens in the coordinates of the patterns, so that its accuracies are the same at every
    dimension of the input: the thesis' panels for d = 100 and 2000 are one.

    *What to see,* in the last panel where there are several:
    {{ said("emergence/network-{{ seen }}", holds="the network learns the labels",
    fails="the network does not learn all labels") }}, by its accuracy after the last step. At the step that suits it best the NTK has
    {{ value("{{ table }}", cell="{{ seen }}", arm="ntk", quantity="test") | percent }}; converged heads on random
    features and on the raw input have {{ value("{{ table }}", cell="{{ seen }}", arm="rf", quantity="test") | percent }}
    and {{ value("{{ table }}", cell="{{ seen }}", arm="linear", quantity="test") | percent }}: where the last is near the
    top, the labels need no learned features. Without structure the network ends at
    {{ value("{{ table }}", cell="{{ seen }}", arm="flat", quantity="test") | percent }}, where the more frequent label has
    {{ value("{{ table }}", cell="{{ seen }}", arm="flat_majority", quantity="test") | percent }}.
    {{ more }}
    """
    shown = measured(values, cells)
    lines = {"test": "test accuracy"} | ({"balanced": "mean over both labels"} if more else {})
    drawn = canvas(min(PAGE, 1.2 + 3.9 * len(shown)), 0.9 + 2.5 * len(lines))
    axes = drawn.subplots(len(lines), len(shown), sharey="row", sharex="col", squeeze=False)
    for column, cell in zip(axes.T, shown, strict=True):
        own = rows(values, cell=cell)
        for ax, (quantity, called) in zip(column, lines.items(), strict=True):
            # of unequal classes arms without structure tell something below alone: see the caption
            _curves(ax, own, quantity, both=quantity == [*lines][-1], each=bool(more))
            ax.set(xlabel=None, ylabel=called, ylim=(0.45 if more else 0.3, 1.03))
        _levels(column[0], own)
        column[0].set_title(CELLS[cell])
        column[-1].set_xlabel("step")
    known = {label: handle for ax in axes[:, 0]
             for handle, label in zip(*ax.get_legend_handles_labels(), strict=True)}  # fmt: skip
    drawn.legend([*known.values()], [*known], loc="outside lower center", ncols=3)
    return drawn


def _curves(ax: Axes, own: pd.DataFrame, quantity: str, *, both: bool, each: bool) -> None:
    """The arms with structure and, with ``both``, those without; ``each`` replicate or intervals."""
    for structured, dash in ((True, "-"), (False, "--")):
        for arm, (words, colour) in ARMS.items():
            curve = own[(own["arm"] == arm) & (own["quantity"] == quantity) & (own["step"] > 0)]
            curve = curve[curve["structured"] == structured]
            if curve.empty or not (structured or both):
                continue
            label = words if structured else f"{words}, no structure"
            if not each:
                history(ax, curve, label, colour, dash)
                continue
            wide = curve.pivot_table(index="step", columns="replicate", values="value")
            ax.plot(wide, color=colour, linestyle=dash, linewidth=0.6, alpha=0.35)
            ax.plot(wide.median(axis=1), color=colour, linestyle=dash, label=label)


def _levels(ax: Axes, own: pd.DataFrame) -> None:
    """What needs no training."""
    ax.axhline(rows(own, structured=True, arm="threshold")["value"].iloc[0], color=COLOURS["ink"],
               linestyle=":", linewidth=1, label="best threshold")  # fmt: skip
    majority = rows(own, arm="majority").groupby("structured")["value"].first()
    for structured, style in ((True, "-."), (False, (0, (1, 3)))):
        if structured or abs(majority[False] - majority[True]) > 0.01:
            ax.axhline(majority[structured], color=COLOURS["grey"], linestyle=style, linewidth=1,
                       label="majority" if structured else "majority, no structure")  # fmt: skip


@figure("fig-2-2", panels=(("parity", 500),), words="parity labels (Figure 2.2)",
        seen="parity", table="table-a-1")  # fmt: skip
@figure("fig-a-2", panels=(("parity", 500),), words="parity labels (Figure A.2)",
        seen="parity", table="table-a-1")  # fmt: skip
@figure("fig-a-4", panels=(("interval", 500),), words="interval labels (Figure A.4)",
        seen="interval", table="table-a-2")  # fmt: skip
@figure("fig-a-6", panels=(("parity", 100), ("parity", 2000)),
        words="d = 100 and 2000 (Figure A.6)", seen="parity", table="table-a-1")  # fmt: skip
@figure("fig-a-8", panels=(("negatives-80", 500), ("negatives-90", 500)),
        words="unequal classes (Figure A.8)", seen="negatives-90", table="table-a-4")  # fmt: skip
@figure("fig-a-10", panels=(("samples-25000", 500), ("samples-10000", 500)),
        words="sample sizes (Figure A.10)", seen="samples-10000", table="table-a-5")  # fmt: skip
@figure("fig-a-11", panels=(("hidden", 500),), words="hidden representation (Figure A.11)",
        seen="hidden", table="hidden")  # fmt: skip
def weight_maps(
    maps: pd.DataFrame, panels: tuple[tuple[str, int], ...], words: str, seen: str, table: str
) -> Figure:
    """Where the weights point: {{ words }}

    Classical multidimensional scaling of the neurons' weights by 1 - cosine, at the start and after
    the first two full steps; stars: the sum of the relevant patterns (with hidden representation
    weighted by how they go with the label, the direction of the first step) and its negative. Blue and
    orange: neurons with an absolute cosine above 0.9 with a star after the second step, the colour
    carried back; at the start every neuron has a twin in the same place, of which one hides the
    other. Neurons without any weight are not shown.
    All panels have one scale, each no larger than what it shows.
    For each law two rows: the theory's step, which forgets the start, and below it
    one that keeps half of it. One replicate. At scales with other dimensions the panels are of those
    that stand in their place.

    Where half is kept, outputs are large after one step, so that mostly samples with a wrong answer
    count in the second: it may turn neurons to the other star and leave some between both. Its rate
    was chosen with 300 pairs of neurons and need not suit other sizes.

    *What to see:* a map that collapses to two places has weights that all are multiples of nearly the
    same vector; the gradual gathering that the thesis shows needs some of the start. Of the law
    (the last, where there are two) the largest cosine with a star is, at d = 500,
    {{ value("{{ table }}", cell="{{ seen }}", arm="rf", quantity="cosine") | number }} at the start and
    {{ value("{{ table }}", cell="{{ seen }}", arm="one_step", quantity="cosine") | number }} after one of the theory's
    steps, {{ value("{{ table }}", cell="{{ seen }}", arm="two_step", quantity="cosine") | number }} after two;
    {{ said("emergence/second-step-aligns", holds="with parity labels the median neuron is then off by sampling noise alone",
    fails="with parity labels the median neuron is then off by more, or less, than sampling noise") }}, by the ratio of both;
    {{ said("emergence/hidden-aligns", holds="with hidden representation, too, the weights turn to one direction",
    fails="with hidden representation the weights do not turn to one direction") }}, by the cosine of the median neuron.
    """
    kinds = {"practical": "theory's step", "partial_forget": "half is kept"}
    lines = [
        (f"{CELLS[cell]}, d = {d}: {kind}", rows(maps, cell=cell, preset=preset, dimension=d))
        for cell, wanted in panels if measured(maps, [cell])
        for d in [dimension(maps, cell, wanted)] for preset, kind in kinds.items()
    ]  # fmt: skip
    drawn, axes = maps_of([[_seen(own, moment) for moment in range(3)] for _, own in lines])
    for (words, own), line in zip(lines, axes, strict=True):
        line[0].set_title(words, fontsize=8.5)
        for moment, ax in enumerate(line):
            _map(ax, own, moment)
            ax.set_xlabel(MOMENTS[moment])
    return drawn


@figure("theory-rates")
def theory_rates(values: pd.DataFrame) -> Figure:
    """Parity labels at the theory's rate, and at larger ones

    Test accuracy on parity labels of the network with the theory's two full steps. Blue: rates that
    were chosen on a pilot's validation samples, larger for the output weights than for the others;
    orange and dashed green: gradient descent with one rate for all, the theory's and a multiple of it;
    dotted: the best threshold on the number of relevant patterns, which needs no features. *What to
    see:* all have the same two full steps behind them, and
    {{ said("emergence/theory-rates-learn", holds="with the theory's own rate, too, the network learns all labels",
    fails="with the theory's own rate the network is left with what the threshold has") }}, by its accuracy after the last step. The thesis prints 100 % for a
    run whose rates it does not give.
    """
    drawn = canvas(5.6, 3.3)
    ax = drawn.subplots()
    own = rows(values, cell="parity", structured=True)
    arms = {"network": "chosen rates"} | {
        arm: "the theory's rate" if arm == "theory-1"
        else f"{arm.removeprefix('theory-')} times the theory's rate"
        for arm in own["arm"].unique() if arm.startswith("theory-")
    }  # fmt: skip
    # the theory's rate and its multiple may lie on one another: the latter in dashes
    for (arm, words), colour, dash in zip(
        arms.items(), ("blue", "orange", "green"), ("-", "-", "--"), strict=False
    ):
        history(ax, rows(own, arm=arm, quantity="test"), words, COLOURS[colour], dash)
    ax.axhline(rows(own, arm="threshold")["value"].iloc[0], color=COLOURS["ink"], linestyle=":",
               linewidth=1, label="best threshold")  # fmt: skip
    ax.set(xlabel="step", ylabel="test accuracy", ylim=(0.45, 1.03))
    drawn.legend(*ax.get_legend_handles_labels(), loc="outside lower center", ncols=2)
    return drawn


@figure("one-step-cosine")
def one_step_cosine(values: pd.DataFrame, quoted: Mapping[str, Any]) -> Figure:
    """The cosine after one step, with the start forgotten or kept

    Largest cosine of a neuron with the sum of the relevant patterns after the first full step, over
    the dimension of the input; dots are replicates, crosses what the thesis prints (Tables A.1 and
    A.3). Blue: the theory's step, whose weight decay forgets the start; orange: half of it is kept;
    grey: the start itself. *What to see:* the printed cosines fall with d;
    {{ said("emergence/one-step-cosine-falls", holds="those of the theory's step do so too",
    fails="those of the theory's step do not") }};
    {{ said("emergence/half-kept-cosine-falls", holds="they fall as printed if half of the start is kept",
    fails="nor do they fall as printed if half of the start is kept") }}. In brackets: how far, from the smallest d to the largest.
    """
    drawn = canvas(5.6, 3.3)
    ax = drawn.subplots()
    own = rows(values, cell="parity", structured=True, quantity="largest_cosine")
    for arm, words, colour in (
        ("one_step", "theory's step", "blue"),
        ("partial_one_step", "half is kept", "orange"),
        ("start", "start", "grey"),
    ):
        shown = rows(own, arm=arm).sort_values("dimension")
        means = shown.groupby("dimension")["value"].mean()
        ax.plot(means.index, means, color=COLOURS[colour], label=words)
        ax.plot(shown["dimension"], shown["value"], ".", color=COLOURS[colour], markersize=5)
    printed = pd.concat([quoted_table(quoted, name)[0] for name in ("table-a-1", "table-a-3")])
    printed = rows(printed, cell="parity", arm="one_step", quantity="cosine")
    ax.plot(
        printed["dimension"], printed["paper_value"], "X", color=PALETTE["printed"], label="printed"
    )
    ax.set(
        xscale="log", xlabel="dimension of the input (d)", ylabel="largest cosine", ylim=(0, 1.05)
    )
    tried = sorted(own["dimension"].unique())
    ax.set_xticks(tried, [f"{d:g}" for d in tried])
    ax.minorticks_off()
    drawn.legend(*ax.get_legend_handles_labels(), loc="outside lower center", ncols=4)
    return drawn


#: Pairs of stretches, as the frame and as people call them.
STRETCHES = {
    "v1-mean": "v1, mean", "v2-mean": "v2, mean", "v3-mean": "v3, mean",
    "v1-v2": "v1, v2", "v1-v3": "v1, v3", "v2-v3": "v2, v3",
}  # fmt: skip


@figure("gradient-directions")
def gradient_directions(values: pd.DataFrame) -> Figure:
    """Directions of the first gradients, with structure and without

    The network on parity labels by plain descent from the start, without the two full steps. The
    gradients of a neuron's weights over 30 steps are averaged in three stretches of ten (v1, v2, v3):
    cosines between these and with the mean of the three, as Table A.7 has them of ResNets, of the
    median neuron. A dot is one of
    {{ value("first-steps", "replicates", arm="early", quantity="v1-v3", structured=True) }} replicates, a short line
    their mean, with its 95 % interval. Dashed: what
    independent gradients have, which with the mean they are a part of is not zero. *What to see:*
    what the structure of the inputs adds. The first and the last stretch have a cosine of
    {{ value("first-steps", arm="early", quantity="v1-v3", structured=True) | number }} with it and of
    {{ value("first-steps", arm="early", quantity="v1-v3", structured=False) | number }} without, where they share
    what the training samples, which come again and again, have by chance. The last stretch and the mean have
    {{ value("first-steps", arm="early", quantity="v3-mean", structured=True) | number }} with it and
    {{ value("first-steps", arm="early", quantity="v3-mean", structured=False) | number }} without: a mean is near to its
    longest gradients, which need not be the last.
    """
    drawn = canvas(6.4, 3.4)
    ax = drawn.subplots()
    own = rows(values, cell="parity", arm="early")
    looks = {
        True: Look("with structure", COLOURS["blue"]),
        False: Look("without", COLOURS["orange"]),
    }
    bars(ax, own, "quantity", "structured", groups=STRETCHES, looks=looks)
    for start, end, level in ((-0.5, 2.5, 3**-0.5), (2.5, 5.5, 0.0)):
        ax.plot((start, end), (level, level), "--", color=COLOURS["ink"], linewidth=1)
    ax.set(ylabel="cosine", xlabel=None)
    drawn.legend(*ax.get_legend_handles_labels(), loc="outside lower center", ncols=2)
    return drawn


def _seen(own: pd.DataFrame, moment: int) -> pd.DataFrame:
    """Stars, and the neurons that have a direction: those with weight."""
    here = rows(own, moment=moment)
    return here[(here["cosine"] != 0) | (here["point"] < 0)]


def _map(ax: Axes, own: pd.DataFrame, moment: int) -> None:
    last = rows(own, moment=2).set_index("point")["cosine"]
    here = _seen(own, moment)
    for low, high, colour in ((-NEAR, NEAR, "grey"), (NEAR, 2, "blue"), (-2, -NEAR, "orange")):
        side = last[(last > low) & (last <= high) & (last.index >= 0)].index
        shown = here[here["point"].isin(side)]
        ax.plot(shown["x"], shown["y"], ".", color=COLOURS[colour], markersize=3, alpha=0.5)
    for point, colour in ((-2, "blue"), (-1, "orange")):
        hollow(ax, here[here["point"] == point], "*", colour)
