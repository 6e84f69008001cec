"""Probe, fine-tuning, and the contrastive loss beside them.

Bands were fixed with two seeds on other streams, of longer pre-training and shorter fine-tuning. Networks
that have not learned their labels are not compared (`tuned-to-the-end`).
"""

from __future__ import annotations

from collections.abc import Sequence

import pandas as pd
from matplotlib.figure import Figure

from featlearn.core.drawing.intervals import Look, lines, share_interval
from featlearn.core.drawing.plots import COLOURS, PAGE, PALETTE, canvas
from featlearn.core.evidence.claim_methods import Claims, claim
from featlearn.core.evidence.claims import CONTROL, DIFFERENCE_OF_SHARES, SHARE, THEOREM, needs
from featlearn.core.evidence.frames import pick
from featlearn.core.run.exhibits import PaperValues, Table, figure, table
from featlearn.universality.analysis import NOTHING, dots, stand_in
from featlearn.universality.printed import beside
from featlearn.universality.words import CR, FT, LP, ours

LOOKS = {LP: Look("probe", COLOURS["blue"], "s"),
         CR: Look("contrastive loss, then probe", COLOURS["sky"], "v"),
         FT: Look("fine-tuning", COLOURS["orange"]),
         ours(0.1): Look("fine-tuning, contrast of 0.1", COLOURS["green"], "^"),
         ours(1): Look("fine-tuning, contrast of 1", COLOURS["red"], "D")}  # fmt: skip


@figure("remedy")
def by_labels(tuned: pd.DataFrame) -> Figure:
    """Probe or fine-tuning, and does a contrastive loss help?

    *What to see:* {{ said("universality/fine-tuning-wins-many", holds="with all labels fine-tuning wins (all tasks)",
    fails="with all labels fine-tuning does not win by .02 (all tasks)") }}; {{ said("universality/probe-wins-few",
    holds="with 5 % a probe wins (target)", fails="with 5 % a probe does not win (target)") }}; {{
    said("universality/fine-tuning-forgets-diversity", holds="with contrast more tasks hardly cost accuracy",
    fails="with contrast more tasks cost accuracy") }}. What fine-tuning owes to pre-training is its lead over the
    dotted line, without any. Target accuracy on vectors, 95 % intervals.
    """
    mixtures = sorted(set(tuned["mixture"]) - {0})
    looks = {name: look for name, look in LOOKS.items() if name in set(tuned["method"])}
    begun = pick(tuned, method=FT, mixture=0).groupby("labels")["value"].mean()
    drawn = canvas(7.6, 3.6)
    every = drawn.subplots(1, 2, sharey=True)
    for ax, mixture in zip(every, (mixtures[0], mixtures[-1]), strict=True):
        own = pick(tuned, mixture=mixture)
        lines(ax, own, "labels", "method", looks=looks, errorbar=share_interval, apart=1.05)
        dots(ax, own, "labels", "method", looks, 1.05)
        ax.plot(begun.index, begun, ":", color=PALETTE["untrained"],
                label="fine-tuning, not pre-trained")  # fmt: skip
        labels = sorted(tuned["labels"].unique())
        ax.set(xscale="log", xlabel="labels",
               title="pre-trained on the target" if mixture == 1 else f"pre-trained on {mixture} tasks")  # fmt: skip
        ax.set_xticks(labels, [str(number) for number in labels])
        ax.minorticks_off()
    every[0].set_ylabel(f"target accuracy, n = {tuned['replicate'].nunique()}")
    drawn.legend(*every[0].get_legend_handles_labels(), loc="outside lower center", ncols=3)
    return drawn


@figure("fig-f-8", contains="stand-in")
def maps(maps: pd.DataFrame, purities: pd.DataFrame) -> Figure:
    """Does a contrastive loss tighten the classes?

    *What to see:* {{ said("universality/ours-purer", holds="they lie tighter with it, difference of shares",
    fails="they do not lie tighter with it, difference of shares") }}. t-SNE of test features on vectors, pre-trained on
    all tasks and tuned on 20 % of the labels; colours are classes. Below: share of the ten nearest neighbours with the
    same class, mean over replicates.
    """
    methods = list(dict.fromkeys(maps["method"]))
    drawn = canvas(min(PAGE, 2.7 * len(methods)), 3.1)
    colours = list(COLOURS.values())
    for ax, method in zip(drawn.subplots(1, len(methods)), methods, strict=True):
        for one, own in maps[maps["method"] == method].groupby("class"):
            ax.plot(own["x"], own["y"], "osD^vPX"[one // len(colours)], markersize=3,
                    markeredgewidth=0, color=colours[one % len(colours)], label=f"{one + 1}")  # fmt: skip
        pure = pick(purities, method=method)["value"].mean()
        ax.set(title=LOOKS[method].words if method in LOOKS else method, xlabel=f"neighbours of the class: {pure:.2f}",
               xticks=[], yticks=[])  # fmt: skip
        ax.set_aspect("equal", "datalim")
    keys = {words: line for ax in drawn.axes
            for line, words in zip(*ax.get_legend_handles_labels(), strict=True)}  # fmt: skip
    drawn.legend([keys[one] for one in sorted(keys, key=int)], sorted(keys, key=int), title="class",
                 loc="outside lower center", ncols=10, markerscale=2)  # fmt: skip
    return drawn


def _column(mixture: int) -> str:
    return "1 task" if mixture == 1 else f"{mixture} tasks"


@table("table-f-9", contains="stand-in", methods=("LP", "CR then LP"), which="table-f-9")
@table("table-7-1", contains="stand-in", methods=("LP", "FT", "Ours 0.1"), which="table-7-1")
def all_labels(
    tuned: pd.DataFrame, paper_values: PaperValues, methods: Sequence[str], which: str
) -> Table:
    """Target accuracy with all labels, by tasks of the pre-training ({{ name }})"""
    own = pick(tuned[tuned["mixture"] > 0], labels=tuned["labels"].max(), method=list(methods))
    measured = own.assign(row=own["method"], column=own["mixture"].map(_column))
    return beside(paper_values, which, measured, index=["method"])


@table("table-f-5", contains="stand-in")
def by_share(tuned: pd.DataFrame, paper_values: PaperValues) -> Table:
    """Target accuracy by share of the labels, pre-training and method

    Fine-tuning has as many steps for any number of labels; the thesis has 200 in all for 1 % of CIFAR-10.
    """
    own = pick(tuned[tuned["mixture"] > 0], method=[LP, FT, ours(0.1), ours(1)])
    share = 100 * own["labels"] / own["labels"].max()
    measured = own.assign(row=own["mixture"].map(_column) + ", " + own["method"],
                          column=share.map(lambda value: f"{value:g} %"))  # fmt: skip
    return beside(paper_values, "table-f-5", measured, index=["pre_train", "method"])


@table("table-f-10", contains="stand-in", target="ImageNet-Bird")
@table("table-f-11", contains="stand-in", target="ImageNet-Vehicle")
def closed_gap(tuned: pd.DataFrame, paper_values: PaperValues, target: str) -> Table:
    """Few labels: specific, universal, and universal with the contrastive loss on {{ target }}

    Here: probes of MoCo on vectors with a tenth of the labels.
    """
    own = pick(tuned, labels=tuned["labels"].max() // 10)
    last = own["mixture"].max()
    # word here, as printed, method, tasks
    cells = (("specific", "specific", LP, 1), ("universal", "ImageNet", LP, last),
             ("universal, then CR", "ImageNet then CR on the target set", CR, last))  # fmt: skip
    measured = pd.concat([pick(own, method=method, mixture=mixture).assign(row="target", column=word)
                          for word, _, method, mixture in cells])  # fmt: skip
    words = {printed: word for word, printed, *_ in cells}
    rows = [{**row, "column": words[row["column"]]}
            for row in paper_values["table-f-10-f-11"]["rows"] if row["target"] == target]  # fmt: skip
    return beside(paper_values, "table-f-10-f-11", measured, index=["target"], rows=rows)


OURS = ours(0.1)
SIZES = needs(remedy__steps=1600, ladders__replicates=5, ladders__steps=400)
DIFFERENCE = "difference of accuracies on the target, replicate by replicate"


class Remedy(Claims):
    paper, kind, possible = "universality", THEOREM, DIFFERENCE_OF_SHARES
    changed = (
        "The thesis' weight of .1 alone and 32 samples a step, after a pilot on other streams in which "
        "fine-tuning beat the probe at 5 % of the labels and a weight of 1 was worse than none. 1,600 steps in "
        "place of 400, which had left a training accuracy of .66 on data that the raw input does not solve. " + NOTHING
    )  # fmt: skip
    out_of_reach = stand_in(SIZES)

    def cells(self, method):
        """Test accuracy: a row for each replicate, a column for each mixture and number of labels."""
        own = pick(self.tuned, method=method)
        own = own[own["mixture"] > 0]
        return own.pivot_table(index="replicate", columns=["mixture", "labels"], values="value")

    def at(self, cells, *, last, few=False):
        """The first or last mixture, at 5 % of the labels or all."""
        mixtures, labels = (sorted(set(cells.columns.get_level_values(at))) for at in (0, 1))
        return cells[mixtures[-1 if last else 0], labels[1 if few else -1]]

    @claim("Table F.5", DIFFERENCE, low=0, high=1, failure="not reproduced")
    def probe_wins_few(self):
        """With 5 % of the labels a probe beats fine-tuning (same pre-training).

        Two earlier seeds: .15 to .2; the thesis has 3 points at CINIC-10.
        """
        return self.at(self.cells(LP) - self.cells(FT), last=False, few=True)

    def begun(self):
        """The same lead where fine-tuning starts from networks that were not pre-trained."""
        own = pick(self.tuned, method=FT, mixture=0, labels=self.tuned["labels"].max())
        return {"not pre-trained": own["value"].mean() - self.at(self.cells(LP), last=True).mean()}

    @claim("Tables 7.1 and F.5", DIFFERENCE, low=0.02, high=1, baselines="begun")
    def fine_tuning_wins_many(self):
        """With all labels fine-tuning beats a probe (pre-trained on all tasks).

        Two earlier seeds: .06; the thesis has 17 points. Beside it stands the lead without any pre-training, which
        says how much of the gain is the labels' alone.
        """
        return self.at(self.cells(FT) - self.cells(LP), last=True)

    @claim("Tables 7.1 and F.5", "accuracy of Ours less FT, mean over mixtures and numbers of labels",
           low=0, high=1, paper_says="“it outperforms the typical fine-tuning method by about 0.7% – 1%”",
           changed="A published run had .006: the band, from 0, was kept, and other claims count a gain "
           "from .02 on only.")  # fmt: skip
    def ours_beats_fine_tuning(self):
        """A contrastive loss of weight .1 raises the accuracy of fine-tuning.

        Two earlier seeds: better in twelve of twelve runs, by .003 to .03.
        """
        return (self.cells(OURS) - self.cells(FT)).mean(axis=1)

    @claim("Table 7.1", "fall of Ours from a pre-training on the target to one on all tasks",
           low=-1, high=0.02)  # fmt: skip
    def fine_tuning_forgets_diversity(self):
        """With all labels, networks tuned with the contrastive loss hardly fall as the pre-training grows.

        Two earlier seeds: .001; the thesis has .9 points.
        """
        own = self.cells(OURS)
        return self.at(own, last=False) - self.at(own, last=True)

    @claim("Table F.9", "gain of CR then LP over LP after all tasks, less that after the target", low=0.01, high=1,
           paper_says="“the improvement is more significant on diverse pre-training data”")  # fmt: skip
    def contrast_on_target(self):
        """The contrastive loss on the target before a probe gains more after a more diverse pre-training.

        Two earlier seeds: .05; the thesis has 6.8 points.
        """
        gain = self.cells(CR) - self.cells(LP)
        return self.at(gain, last=True) - self.at(gain, last=False)

    @claim("Figure F.8", "share of the ten nearest neighbours that have the class, difference", low=0, high=1,
           paper_says="“contrastive regularization can highlight the task-specific features and provide cleaner clustering”",
           failure="not reproduced")  # fmt: skip
    def ours_purer(self):
        """Classes lie tighter after fine-tuning with a contrastive loss than without.

        The thesis, on its map; not piloted.
        """
        wide = self.purities.pivot_table(index="replicate", columns="method", values="value")
        return wide[OURS] - wide[FT]

    @claim("ours", "least training accuracy over methods, mixtures and numbers of labels", kind=CONTROL,
           low=0.9, high=1, possible=SHARE, out_of_reach=SIZES)  # fmt: skip
    def tuned_to_the_end(self):
        """Every fine-tuned network has learned its labels.

        Else it cannot be compared.
        """
        own = pick(self.tuned, method=[FT, OURS])
        return own[own["mixture"] > 0].groupby("replicate")["training"].min()
