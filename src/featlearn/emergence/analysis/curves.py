"""Accuracies along the training, maps of the weights in the first two steps, Tables A.1 to A.5."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from featlearn.core.drawing.intervals import history
from featlearn.core.drawing.plots import COLOURS, PAGE, PALETTE, canvas
from featlearn.core.evidence.claim_methods import Claims, claim, premise
from featlearn.core.evidence.claims import (
    CONTROL,
    DIFFERENCE_OF_SHARES,
    OBSERVATION,
    POSITIVE,
    SHARE,
    THEOREM,
    OutOfReach,
    first_of,
    needs,
)
from featlearn.core.evidence.frames import pick
from featlearn.core.evidence.paper_values import paper_table
from featlearn.core.evidence.stats import SPREAD_KIND, estimate
from featlearn.core.run.exhibits import Config, PaperValues, Table, figure, table
from featlearn.emergence.analysis import hollow
from featlearn.emergence.analysis import panels as maps_of
from featlearn.emergence.frames import (
    NEURONS,
    accuracies,
    at_the_end,
    bracketed,
    by_replicate,
    cosine,
    dimension,
    is_measured,
    measured,
)

TRAINED = {"network": ("network", PALETTE["network"]),
           "unweighted": ("network, plain loss", COLOURS["orange"]),
           "ntk": ("tangent kernel (NTK)", PALETTE["tangent kernel"]),
           "rf": ("random features", PALETTE["random features"])}  # fmt: skip
KINDS = {"parity": "Parity labels", "interval": "Interval labels", "prototypes": "Hidden patterns"}
#: Neurons with an absolute cosine of so much after the second step are coloured.
NEAR = 0.9
ARMS = {
    "network": "Network", "unweighted": "Network, two steps by the plain loss", "ntk": "NTK",
    "rf": "Random features", "rbf": "RBF kernel", "one_step": "One Step", "two_step": "Two Step",
    "rescaled": "One Step, lengths and biases of Two", "flat": "Network w/o structure",
    "linear": "linear on the input", "threshold": "best threshold on the count",
    "majority": "majority", "flat_majority": "majority w/o structure",
}  # fmt: skip
PARTS = {"train": "train accuracy", "test": "test accuracy", "balanced": "mean over both labels",
         "cosine": "largest cosine"}  # fmt: skip
#: What is fixed before any label is seen.
FIXED = ("ntk", "rf", "rbf", "linear")
ROW = ["cell", "d", "arm", "quantity", "mean", "half_width", "replicates", "paper_value"]


@figure("fig-2-1", panels=(("parity", ""),), words="parity labels (Figure 2.1)",
        seen="parity", table="table-a-1")  # fmt: skip
@figure("fig-a-1", panels=(("parity", ""),), words="parity labels again (Figure A.1)",
        seen="parity", table="table-a-1")  # fmt: skip
@figure("fig-a-3", panels=(("interval", ""),), words="interval labels (Figure A.3)",
        seen="interval", table="table-a-2")  # fmt: skip
@figure("fig-a-5", panels=(("parity", ", d = 100"), ("parity", ", d = 2000")),
        words="d = 100 and 2000 (Figure A.5)", seen="parity", table="table-a-1")  # fmt: skip
@figure("fig-a-7", panels=(("negatives-80", ""), ("negatives-90", "")),
        words="unequal classes (Figure A.7)", seen="negatives-90", table="table-a-4")  # fmt: skip
@figure("fig-a-9", panels=(("samples-25000", ""), ("samples-10000", "")),
        words="sample sizes (Figure A.9)", seen="samples-10000", table="table-a-5")  # fmt: skip
def accuracy_curves(
    values: pd.DataFrame, config: Config, panels: tuple[tuple[str, str], ...], words: str,
    seen: str, table: str,
) -> Figure:  # fmt: skip
    """Accuracy during training: {{ words }}

    *What to see:* {{ said("emergence/network-{{ seen }}", holds="the network learns the labels", fails="the network
    does not learn all labels") }} (last panel). {% if "{{ seen }}" == "negatives-90" %}Its full steps weigh classes; by the
    plain loss, as printed (orange), {{ said("emergence/network-negatives-90-as-printed", holds="it learns them, too",
    fails="it does not") }}. {% elif "2000" in "{{ words }}" %}Both panels are one training, the same at every $d$.
    {% endif %}Solid: structured inputs, dashed: fair bits; means with 95 % intervals,
    of unequal classes medians; below, the mean over both labels. Dotted: best threshold on the count; grey: majority.

    ---

    Means are of {{ value("{{ table }}", "replicates", cell="{{ seen }}", arm="network", quantity="test") }} replicates.
    The tangent kernel is the Taylor model at the start. Without structure Adam trains the network; its last steps may lie
    beyond the axis.
    """
    panels = tuple(one for one in panels if measured(values, one[:1]))
    unequal = any(_negative(config[cell]) != 0.5 for cell, _ in panels)
    lines = {"test": "test accuracy"} | ({"balanced": "mean over both labels"} if unequal else {})
    drawn = canvas(min(PAGE, 1.2 + 3.9 * len(panels)), 0.9 + 2.5 * len(lines))
    axes = drawn.subplots(len(lines), len(panels), sharey="row", sharex="col", squeeze=False)
    for column, (cell, size) in zip(axes.T, panels, strict=True):
        own = pick(values, cell=cell)
        for ax, (quantity, called) in zip(column, lines.items(), strict=True):
            # of unequal classes arms without structure tell something below alone
            _curves(ax, own, quantity, both=quantity == [*lines][-1], each=unequal)
            ax.set(ylabel=called, xlabel=None, xlim=(0, 1.03 * config[cell]["steps"]),
                   ylim=(0.45 if unequal else 0.3, 1.03))  # fmt: skip
        column[0].axhline(pick(own, structured=True, arm="threshold")["value"].iloc[0], linestyle=":",
                          color=COLOURS["ink"], linewidth=1, label="best threshold")  # fmt: skip
        majority = pick(own, arm="majority").groupby("structured")["value"].first()
        for structured, style in ((True, "-."), (False, (0, (1, 3)))):
            if structured or abs(majority[False] - majority[True]) > 0.01:
                label = "majority" if structured else "majority, no structure"
                column[0].axhline(majority[structured], color=COLOURS["grey"], linestyle=style,
                                  linewidth=1, label=label)  # fmt: skip
        column[0].set_title(_title(config[cell]) + size)
        column[-1].set_xlabel("step")
    known = {label: handle for ax in axes[:, 0]
             for handle, label in zip(*ax.get_legend_handles_labels(), strict=True)}  # fmt: skip
    drawn.legend([*known.values()], [*known], loc="outside lower center", ncols=3)
    return drawn


def _title(cell: Config) -> str:
    """Labels and sizes of a cell."""
    share = _negative(cell)
    negative = "" if share == 0.5 else f", {100 * share:g} % negative"
    sizes = f"n = {cell['samples']['train']:,}, m = {cell['pairs']}, T = {cell['steps']}"
    return f"{KINDS[cell['data']['kind']]}{negative}\n{sizes}"


def _negative(cell: Config) -> float:
    """Share of negative labels."""
    return float(cell["data"].get("negative_share", 0.5))


def _curves(ax: Axes, own: pd.DataFrame, quantity: str, *, both: bool, each: bool) -> None:
    """The arms with structure and, with ``both``, those without; ``each`` replicate or intervals."""
    for structured, dash in ((True, "-"), (False, "--")):
        for arm, (words, colour) in TRAINED.items():
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


@figure("fig-2-2", panels=(("parity", 500),), words="parity labels (Figure 2.2)")
@figure("fig-a-2", panels=(("parity", 500),), words="parity labels (Figure A.2)")
@figure("fig-a-4", panels=(("interval", 500),), words="interval labels (Figure A.4)")
@figure("fig-a-6", panels=(("parity", 100), ("parity", 2000)), words="d = 100, 2000 (Figure A.6)")
@figure("fig-a-8", panels=(("negatives-80", 500), ("negatives-90", 500)),
        words="unequal classes (Figure A.8)")  # fmt: skip
@figure("fig-a-10", panels=(("samples-25000", 500), ("samples-10000", 500)),
        words="sample sizes (Figure A.10)")  # fmt: skip
@figure("fig-a-11", panels=(("hidden", 500),), words="hidden representation (Figure A.11)")
def weight_maps(
    maps: pd.DataFrame, config: Config, panels: tuple[tuple[str, int], ...], words: str
) -> Figure:
    r"""Where do the weights point? {{ words }}

    *What to see:* two places mean that all weights are multiples of one vector. Maps by $1 - \cos$ at the start and
    after one and two full steps: the theory's, and with half of the start kept. Stars: plus and minus the sum of the
    relevant patterns; blue, orange: neurons near one.

    ---

    One replicate is shown. Weights gather gradually, as in the thesis, only if part of the start is kept. Both steps
    weigh unequal classes, which appendix A.7.2 does not.
    """
    kinds = {"practical": "theory's step", "partial_forget": "half is kept"}
    lines = [
        (", ".join((*_title(config[cell]).split("\n"), f"d = {d}: {kind}")), pick(maps, cell=cell, preset=preset, dimension=d))
        for cell, wanted in panels if measured(maps, [cell])
        for d in [dimension(maps, cell, wanted)] for preset, kind in kinds.items()
    ]  # fmt: skip
    drawn, axes = maps_of([[_seen(own, moment) for moment in range(3)] for _, own in lines])
    for (title, own), line in zip(lines, axes, strict=True):
        line[0].set_title(title, fontsize=8.5)
        for moment, words in enumerate(("start", "after one step", "after two steps")):
            _map(line[moment], own, moment)
            line[moment].set_xlabel(words)
    return drawn


def _seen(own: pd.DataFrame, moment: int) -> pd.DataFrame:
    """Stars, and the neurons that have a direction: those with weight."""
    here = pick(own, moment=moment)
    return here[(here["cosine"] != 0) | (here["point"] < 0)]


def _map(ax: Axes, own: pd.DataFrame, moment: int) -> None:
    last = pick(own, moment=2).set_index("point")["cosine"]
    here = _seen(own, moment)
    for low, high, colour in ((-NEAR, NEAR, "grey"), (NEAR, 2, "blue"), (-2, -NEAR, "orange")):
        side = last[(last > low) & (last <= high) & (last.index >= 0)].index
        shown = here[here["point"].isin(side)]
        ax.plot(shown["x"], shown["y"], ".", color=COLOURS[colour], markersize=3, alpha=0.5)
    for point, colour in ((-2, "blue"), (-1, "orange")):
        hollow(ax, here[here["point"] == point], "*", colour)


@table("table-a-1", cells=(("parity", 500),), words="parity labels", seen="""
{{ said("emergence/fixed-features-fall-short", holds="fixed features stay behind the network",
fails="fixed features keep up with the network") }}.""")  # fmt: skip
@table("table-a-2", cells=(("interval", 500),), words="interval labels", seen="""
{{ said("emergence/interval-needs-features", holds="a linear classifier does not learn them",
fails="a linear classifier learns them as well, and nothing about features follows") }}.""")  # fmt: skip
@table("table-a-3", cells=(("parity", 100), ("parity", 2000)), words="other dimensions of the input", seen="""
the cosine after one step {{ said("emergence/one-step-cosine-falls", holds="falls with $d$ as printed",
fails="does not fall with $d$ as printed") }}; accuracies are the same at every $d$.""")  # fmt: skip
@table("table-a-4", cells=(("negatives-80", 500), ("negatives-90", 500)), words="unequal classes", seen="""
with nine negatives to a positive, by the plain loss of appendix A.7.2,
{{ said("emergence/network-negatives-90-as-printed", holds="the network learns all labels",
fails="the network does not learn all labels") }}; the other network weighs classes in its two full steps.""")  # fmt: skip
@table("table-a-5", cells=(("samples-25000", 500), ("samples-10000", 500)), words="sample sizes", seen="""
from 10,000 samples {{ said("emergence/network-samples-10000", holds="the network learns the labels",
fails="the network does not learn all labels") }}.""")  # fmt: skip
@table("other-cells", cells=(), words="cells without a printed table", seen="""
at $p_o = k^2 / D$ (cell `sparse`) the second step {{ said("emergence/second-step-improves",
holds="halves the error of the directions, or more", fails="does not halve the error of the directions") }}.""")  # fmt: skip
def accuracies_of_all_arms(
    values: pd.DataFrame, config: Config, paper_values: PaperValues,
    cells: tuple[tuple[str, int], ...], words: str, seen: str,
) -> Table:  # fmt: skip
    """Six arms and what solves the labels without them: {{ words }}

    *What to see:* {{ seen }}

    Test accuracies, and the largest cosine of a neuron with the sum of the relevant patterns; in brackets: printed.

    ---

    Network: last step; NTK: the Taylor model at the start, at its best step; other arms: converged heads on
    standardised features. Validation samples choose penalties and steps.
    """
    tables = [paper_table(paper_values, name)[0] for name in paper_values]
    printed = pd.concat([each for each in tables if "cell" in each], ignore_index=True).set_index(
        ["cell", "dimension", "arm", "quantity"]
    )["paper_value"]
    named = {*printed.index.get_level_values("cell")}
    laws = [law for entry in paper_values.values() for law in entry.get("data", {}).items()]
    for cell, data in laws:
        if cell in config and not data.items() <= config[cell]["data"].items():
            printed = printed[printed.index.get_level_values("cell") != cell]
    others = [(cell, config[cell]["dimensions"][0]) for cell in config if cell not in named]
    shown = [own for own in cells or others if measured(values, own[:1])]
    rows = [row for own in shown for row in _rows(values, printed, *own)]
    result = pd.DataFrame(rows, columns=ROW)
    wide = result.assign(text=bracketed(result)).pivot_table(
        index=["cell", "d", "arm"], columns="quantity", values="text", aggfunc="first", sort=False
    )
    wide = wide.reindex(columns=[part for part in PARTS if part in wide]).fillna("-")
    wide = wide.rename(columns=PARTS).reset_index()
    wide["arm"] = wide["arm"].map(ARMS)
    sizes = [_title(config[cell]).partition("\n")[2] for cell, _ in shown]
    note = f"{'; '.join(dict.fromkeys(sizes))}. {int(result['replicates'].max())} replicates; "
    note += f"after the sign: {SPREAD_KIND}"
    if result["paper_value"].notna().any():
        note += "; in brackets: as printed, the mean of five runs"
    return Table(result, wide.rename_axis(columns=None), f"{note}.")


def _rows(
    values: pd.DataFrame, printed: pd.Series[float], cell: str, wanted: int
) -> Iterator[tuple[Any, ...]]:
    """:data:`ROW` of each arm and quantity."""
    d, unequal = dimension(values, cell, wanted), is_measured(values, cell, "unweighted")
    for arm in (one for one in ARMS if is_measured(values, cell, one)):
        quantities = {"train": arm not in ("threshold", "majority", "flat_majority"), "test": True,
                      "balanced": unequal and arm != "threshold", "cosine": arm in NEURONS}  # fmt: skip
        for quantity in (name for name, has in quantities.items() if has):
            own = (cosine(values, cell, arm, d) if quantity == "cosine"
                   else accuracies(values, cell, arm, quantity))  # fmt: skip
            seen = estimate(own.to_numpy())
            paper = printed.get((cell, wanted if wanted == d else 0, arm, quantity), float("nan"))
            yield cell, d, arm, quantity, seen.mean, seen.half_width, seen.replicates, paper


def file(cell: str) -> str:
    return f"emergence/measurements/curves/{cell}.parquet"


def reach(cell: str, pairs: int, samples: int = 20000, **data: Any) -> OutOfReach:
    """Sizes of desk: fewer neurons or samples were not tried in the pilots; ``data`` as given."""
    data = {"patterns": 100, "relevant": 5, "background": 0.5} | data
    return needs(f"curves__{cell}", {f"data__{key}": value for key, value in data.items()},
                 replicates=5, pairs=pairs, samples__train=samples)  # fmt: skip


def dimensions(config: Config) -> str | None:
    """Table A.3 is of two dimensions."""
    own = config["curves"]["parity"]["dimensions"]
    return None if {100, 2000} <= {*own} else f"dimensions {own}; Table A.3 has 100 and 2000."


INTERVAL: dict[str, Any] = {"relevant": 30, "interval": [20, 30]}
NEGATIVES: dict[str, Any] = {"negative_share": 0.9}


#: What a trained network learns, by the cell: 100 % is printed of each.
LEARNED: list[dict[str, Any]] = [
    {"cell": "parity", "labels": "parity labels on structured inputs",
     "source": "Theorem 2.1, Table A.1",
     "paper_says": "“the network trained by gradient descent can obtain a small classification error”",
     "artefact": file("parity"), "out_of_reach": reach("parity", 300)},
    {"cell": "interval", "source": "Table A.2, appendix A.7.2", "arm": "unweighted",
     "labels": "interval labels, 59 % positive, by the plain loss in all steps",
     "paper_says": "“Network, NTK and Two Step succeed”",
     "changed": "By the plain loss, as printed, after published runs whose full steps weighed the classes (1.000).",
     "artefact": file("interval"), "out_of_reach": reach("interval", 100, **INTERVAL)},
    {"cell": "negatives-90", "source": "Table A.4, appendix A.8",
     "labels": "parity with nine negatives to a positive, if its two full steps weigh classes",
     "paper_says": "“our claim is robust under different class imbalance ratios”",
     "changed": "600 steps and a further pair of rates, after desk had .970. The statement names "
     "the weights since a published run: appendix A.7.2 has none.",
     "artefact": file("negatives-90"), "out_of_reach": reach("negatives-90", 300, **NEGATIVES)},
    {"cell": "samples-10000", "labels": "parity from 10,000 samples with m = 50",
     "source": "Table A.5", "paper_says": "“our claim is robust under different sample sizes”",
     "changed": "800 steps and a further pair of rates, after desk had .943 [.868, 1].",
     "artefact": file("samples-10000"), "out_of_reach": reach("samples-10000", 50, 10000)},
]  # fmt: skip


class OfNetworks(Claims):
    """Each law of the data is learned; the rates are chosen inside a run, by a pilot."""

    paper, kind, possible = "emergence", THEOREM, SHARE
    changed = (
        "The pilot that chooses the rates runs all the steps, after one of half the steps had "
        "chosen rates that gave .85 ± .06 from 10,000 samples; band kept."
    )

    @claim("{source}", "test accuracy after the last step", low=0.99, high=1.0,
           id="network-{cell}", each=LEARNED, failure="printed number")  # fmt: skip
    def network(self, cell, arm="network"):
        """A trained network learns {labels}.

        100 % is printed; a hundredth is left for test samples.
        """
        return accuracies(self.values, cell, arm, "test")

    @claim("Table A.4, appendix A.7.2", "test accuracy after the last step", low=0.99, high=1.0,
           failure="printed number", artefact=file("negatives-90"),
           out_of_reach=reach("negatives-90", 300, **NEGATIVES),
           paper_says="“We reuse the same setting as the simulation in the main text”", changed="Stated after a "
           "published run had .867; eight pairs of rates had ended at .85 or less of both labels' mean.")  # fmt: skip
    def network_negatives_90_as_printed(self):
        """A trained network learns parity with nine negatives to a positive by the plain loss in all steps.

        100 % is printed; a hundredth is left for test samples. By the plain loss the second step moves biases by 0.4
        times the output weight, some 1.6 where a neuron's whole range is 1, so we expect the claim to fail.
        """
        return accuracies(self.values, "negatives-90", "unweighted", "test")


class OfParity(Claims):
    paper, kind, possible = "emergence", THEOREM, SHARE
    artefact, out_of_reach = file("parity"), reach("parity", 300)

    @premise(">=")
    def neurons_enough(self):
        r"""$m \geq k^{12}$ (Theorem A.20, constants as 1)"""
        own = self.config["curves"]["parity"]
        return own["pairs"], own["data"]["relevant"] ** 12

    @premise(">=")
    def steps_enough(self):
        r"""$T \geq m^{4/3}$ (Theorem A.20, constants as 1)"""
        own = self.config["curves"]["parity"]
        return own["steps"], own["pairs"] ** (4 / 3)

    @premise(">=")
    def fitted(self):
        """training accuracy without structure at least 0.99 (Table A.1 prints 1)"""
        return self.test("flat", "train").mean(), 0.99

    def test(self, arm, part="test"):
        """Accuracy of an arm, of the test samples if not told otherwise."""
        return accuracies(self.values, "parity", arm, part)

    def leads(self):
        """Test accuracy of the network minus that of each kind of fixed features, in pairs."""
        return {f"lead over {ARMS[arm]}": self.test("network") - self.test(arm) for arm in FIXED}

    @claim("Theorem 2.2, Corollary 2.3, Table A.1", "test accuracy of the network minus that of the best of NTK, "
           "random features, 300 Fourier features of an RBF kernel and the raw input", low=0.1, high=1.0,
           possible=DIFFERENCE_OF_SHARES, baselines="leads", paper_says="“NTK, random feature, One Step all failed, "
           "while Network and Two Step can achieve 100% test accuracy.”", changed="The statement names its labels "
           "since a published run: a linear classifier gets interval labels right. The best of all fixed features "
           "since a linear classifier had led NTK and random features; band kept.")  # fmt: skip
    def fixed_features_fall_short(self):
        """On parities of structured inputs a trained network is ahead of all fixed features tried, each at its best length and penalty.

        The best threshold has 27/32, 0.16 below; a third of that is left to what the NTK gains over it in the thesis
        (86.4 %).
        """
        return pd.DataFrame(self.leads()).min(axis=1)

    @claim("Theorem 2.4, Table A.1", "test accuracy after the last step, inputs of fair bits", low=0.47, high=0.53,
           premises=("fitted",), changed="Premise, Adam and 800 steps since a published run had .53 on the training "
           "samples: who fits nothing is at chance as well.", paper_says="“when the input structure is removed, all "
           "three methods get test accuracy similar to random guessing”")  # fmt: skip
    def structure_is_needed(self):
        """Without the structure of the inputs, the network does not learn parities.

        Chance; 0.03 is four standard errors of 5,000 test samples.
        """
        return self.test("flat")

    @claim("Lemma A.17, Table A.1", "test accuracy of the converged head", low=0.99, high=1.0,
           paper_says="“if the same is done after the second step, the test accuracy is about 100%”")  # fmt: skip
    def two_steps_suffice(self):
        """A head on the features after two steps predicts all parity labels.

        100 % is printed.
        """
        return self.test("two_step")

    @premise(">=")
    def background_enough(self):
        r"""$p_o \geq k^2 / D$ (Lemma A.14, constant as 1)"""
        data = self.config["curves"]["sparse"]["data"]
        return data["background"], data["relevant"] ** 2 / data["patterns"]

    @claim("main text, on Table A.1", "test accuracy of a converged head on the directions of one step, at the "
           "lengths and with the biases of two", kind=OBSERVATION, low=0.99, high=1.0, paper_says="“while some "
           "effective features emerge in the first step, they need to be improved in the second step”",
           changed="Stated after an early check of one replicate had 1.")  # fmt: skip
    def one_step_lacks_scale(self):
        """What features of one step lack on parity labels is scale: at the lengths and biases of the second, their directions have all labels.

        As of two steps. If directions had to improve, a head on these would have the best threshold's 27/32.
        """
        return self.test("rescaled")

    @claim("Lemma A.14, section 2.5", "tangent of the median neuron's angle with the relevant direction, after "
           "two steps over after one, $p_o = k^2 / D$", low=0.0, high=0.5, possible=POSITIVE,
           premises=("background_enough",), artefact=file("sparse"),
           out_of_reach=reach("sparse", 100, background=0.25), failure="not reproduced",
           paper_says="“giving better features allowing accurate prediction”",
           changed="Stated after an early check of one replicate, 50,000 samples, had .24.")  # fmt: skip
    def second_step_improves(self):
        r"""Where few irrelevant patterns are present, the second step at least halves the error of the weights' directions.

        Of sampling alone it would be $\sqrt{1/2}$: in the first step half of the samples are in a neuron's range. At
        $p_o = 1/2$ sampling is nearly all of it.
        """
        own = pick(self.values, cell="sparse", structured=True, quantity="median_cosine")
        own = own[own["dimension"] == own["dimension"].min()]
        tangent = own.assign(value=np.sqrt(own["value"] ** -2 - 1), quantity="tangent")
        one, two = (
            by_replicate(pick(tangent, arm=arm), "tangent") for arm in ("one_step", "two_step")
        )
        return two / one

    @claim("Table A.1", "test accuracy of the converged head", low=0.45, high=0.6,
           paper_says="“One Step gets test accuracy about 52%, while Two Step gets accuracy about 100%.”",
           changed="Statement and reason say which head since a published run.", failure="printed number")  # fmt: skip
    def one_step_is_chance(self):
        """The best head on the features after one step stays at chance.

        The thesis prints 52.2 % for the best classifiers on these features and does not say how they are trained. In
        an early check, descent on the features as small as they are stayed at .5 with all rates. At the theory's rate
        the features are a constant plus an affine function of the right direction, a billionth in size. A standardised
        head can read it, so we expect the best threshold's 27/32, and the claim to fail.
        """
        return self.test("one_step")

    @claim("Table A.3", "largest cosine at the smallest d minus that at the largest", low=0.2,
           high=0.6, possible=(-2.0, 2.0), failure="printed number", statistic="exact",
           out_of_reach=first_of(reach("parity", 300), dimensions))  # fmt: skip
    def one_step_cosine_falls(self):
        """The largest cosine after one step falls with the input dimension $d$.

        0.967 − 0.560 is printed. The theory's step forgets the start completely, so nothing is left that could depend
        on $d$: by algebra the difference is 0, and the claim fails.
        """
        own = pick(self.values, cell="parity", structured=True, arm="one_step",
                   quantity="largest_cosine")  # fmt: skip
        wide = own.pivot_table(index="replicate", columns="dimension", values="value")
        return wide.iloc[:, 0] - wide.iloc[:, -1]

    @claim("Lemma 2.6, Lemmas A.9 to A.11", "largest relative distance of the part along a relevant pattern to the "
           "lemma's, median neuron", low=0.0, high=0.1, possible=POSITIVE, paper_says=r"“if $j \in \mathbf{A}$, then "
           r"$|T_j - \beta \gamma / \tilde{\sigma}| \leq O(\epsilon_e / \tilde{\sigma})$”")  # fmt: skip
    def first_gradient(self):
        r"""Along each relevant pattern the first gradient is $\beta\gamma/\tilde\sigma$, with $\beta$ the share of samples in the neuron's linear part.

        Sampling noise is some two hundredths at 20,000 samples, and the largest of five is taken.
        """
        own = pick(self.values, cell="parity", structured=True, arm="one_step", dimension=0)
        return by_replicate(own, "lemma_error")

    @claim("Table A.1, by the schedule of Theorem A.20", "test accuracy after the last step at the theory's rate",
           low=0.99, high=1.0, premises=("neurons_enough", "steps_enough"), changed="The source is the table since a "
           "published run: the theorem asks for more neurons and steps, and is not contradicted.",
           paper_says="“We then train a two-layer network with $m = 300$ following our learning process”")  # fmt: skip
    def theory_rates_learn(self):
        """With the theory's rate after the two full steps, too, the thesis' network learns in its $T$ steps.

        100 % is printed. Sizes are far below what the theorem needs, and the rate is the same for output weights as
        for others: we expect the best threshold's 27/32 and the claim to fail.
        """
        own = pick(self.values, cell="parity", structured=True, arm="theory-1")
        return at_the_end(own, "test")

    @claim("appendix A.7.1", "test accuracy of a converged linear classifier", kind=CONTROL, low=0.5, high=0.95,
           possible=SHARE, artefact=file("interval"), out_of_reach=reach("interval", 100, **INTERVAL))  # fmt: skip
    def interval_needs_features(self):
        """Interval labels from 20 to all 30 patterns need learned features: no linear classifier on the raw input predicts them.

        If a linear classifier solves the labels, as the thesis says of simpler ones, they cannot show that features are
        learned. No count exceeds 30, so
        a threshold at 20 gives every label: we expect the claim to fail.
        """
        return accuracies(self.values, "interval", "linear", "test")
