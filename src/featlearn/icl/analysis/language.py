"""Figures 5.1 to 5.3 and claims: of the models that the config names, or else of the small ones."""

from __future__ import annotations

import pandas as pd
import seaborn as sns
from matplotlib.figure import Figure

from featlearn.core.drawing.plots import COLOURS, FILLS, canvas
from featlearn.core.evidence.claim_methods import Claims, claim
from featlearn.core.evidence.claims import DIFFERENCE_OF_SHARES, OBSERVATION, SHARE, needs
from featlearn.core.evidence.frames import pick
from featlearn.core.evidence.stats import percent
from featlearn.core.run.exhibits import Config, figure
from featlearn.icl.analysis import flipped, looks


def of_family(frame: pd.DataFrame, family: str = "base") -> pd.DataFrame:
    """Models of a family; of a config that lacks it, those of the first one."""
    return pick(
        frame, family=family if (frame["family"] == family).any() else frame["family"].iloc[0]
    )


@figure("fig-5-1", family="chat")
@figure("fig-5-2", family="base")
def accuracies(flips: pd.DataFrame, family: str) -> Figure:
    """Do larger models follow flipped labels further? ({{ family }} models)

    *What to see:* {% if "{{ family }}" == "base" %}with all labels flipped {{ said("icl/large-overrides", holds="the
    largest follows its prompt", fails="the largest does not follow its prompt") }}; {{ said("icl/small-falls-less",
    holds="the smallest falls less", fails="the smallest does not fall less") }}. With about a quarter flipped {{
    said("icl/small-stays-flat", holds="the smallest stays flat, loss", fails="the smallest does not stay flat, loss")
    }}. {% else %}how far each size falls; claims are on base models, in Figure 5.2. {% endif %}Dots are seeds, lines means with 95 % intervals; dashed is chance, crosses a Bayesian who knows the corpus.

    ---

    Stand-ins are small transformers, with fewer (chat) or more (base) inverted documents in their corpus. Where the
    title says SST-2, a prompt holds 16 reviews of its test part and a query, each with a sentence of an essay. The
    networks learned from its 67,000 other phrases and see sums of word vectors; the Bayesian reads by counted words.
    The thesis' Llama of 3B to 70B, and its other four sets, take a larger machine.
    """
    own = of_family(pick(flips, noise="labels"), family)
    sets = list(dict.fromkeys(own["data"]))
    mean = own.groupby(["model", "share", "replicate"], sort=False)["value"].mean().reset_index()
    panels = {name: pick(own, data=name) for name in sets}
    if len(sets) > 1:
        panels["Average"] = mean
    drawn = canvas(max(4.4, 2.6 * len(panels)), 3.2)
    axes = drawn.subplots(1, len(panels), sharey=True, squeeze=False)[0]
    for ax, (name, part) in zip(axes, panels.items(), strict=True):
        flipped(ax, part, looks(own))
        title = "documents of words (ours)" if name == "words" else name
        ax.set(title=title, xlabel="share of flipped labels")
    axes[0].set_ylabel("accuracy")
    axes[-1].legend()
    return drawn


@figure("fig-5-3")
def attention(attention: pd.DataFrame) -> Figure:
    """Does a larger model attend more to an irrelevant sentence?

    *What to see:* the percentage above each pair, the share of the irrelevant sentence; {{
    said("icl/attention-irrelevant", holds="it is larger for the larger model, by the difference", fails="it is not
    larger for the larger model, by the difference") }} (correct label). Boxes: norm of the last layer's attention to
    either sentence, over all prompts; diamonds: means of replicates.

    ---

    Small transformers have a word and a filler as sentences, or a review of SST-2 and a sentence of an essay, and attend
    from where the label is asked.
    """
    own = of_family(attention)
    models = looks(own)
    shown = list(dict.fromkeys((next(iter(models)), list(models)[-1])))
    own = own[own["model"].isin(shown)]
    order = {(name, kind): f"{name},\n{kind}" for name in shown
             for kind in ("relevant", "irrelevant")}  # fmt: skip
    own = own.assign(
        group=[order[pair] for pair in zip(own["model"], own["sentence"], strict=True)]
    )
    drawn = canvas(7.6, 3.6)
    axes = drawn.subplots(1, 2, sharey=True)
    for ax, label in zip(axes, ("correct", "wrong"), strict=True):
        part = pick(own, label=label)
        ax.set_yscale("log")  # of its numbers seaborn then takes the quartiles
        sns.boxplot(part, x="group", y="value", hue="model", order=list(order.values()),
                    hue_order=shown, palette=[models[name].colour for name in shown], dodge=False,
                    width=0.6, fliersize=1.5, linewidth=0.8, legend=False, ax=ax)  # fmt: skip
        means = part.groupby(["group", "replicate"], sort=False)["value"].mean().reset_index()
        ax.plot(means["group"].map(list(order.values()).index), means["value"], "D", markersize=4,
                color=FILLS["white"], markeredgecolor=COLOURS["ink"])  # fmt: skip
        wide = means.pivot_table(index="replicate", columns="group", values="value")
        for place, name in enumerate(shown):
            relevant, irrelevant = (wide[order[name, kind]] for kind in ("relevant", "irrelevant"))
            share = (irrelevant / (relevant + irrelevant)).mean()
            ax.text(2 * place + 0.5, 1.0, f"irrelevant: {percent(share)}", ha="center", va="top", fontsize=9,
                    transform=ax.get_xaxis_transform())  # fmt: skip
        ax.set(title=f"{label} label", xlabel=None, ylabel="norm of attention",
               ylim=(None, 3 * own["value"].max()))  # fmt: skip
        ax.grid(axis="x", visible=False)
    return drawn


WIDER = (
    "Width 6 of the smallest, after pilots on another seed in which it had not learned the prior "
    "at 4; band kept."
)
SIZES = {
    "small transformers": needs(small__training__steps=1000, small__replicates=3,
                                small__prompts=1000),
    "small transformers, SST-2": lambda icl: (
        "three small transformers on one set of sentences; the thesis prints this of Llama."
    ),
    "language models": needs(language__seeds=5, language__prompts=1000),
}  # fmt: skip


def read_by(icl: Config) -> str:
    """Of :data:`SIZES`: the models that the config names, or else the small ones."""
    small, on_sentences, large = SIZES
    if icl["language"]["models"]:
        return large
    return on_sentences if icl["sentences"]["sst2"] else small


def reach(icl: Config) -> str | None:
    """Whether these sizes show it."""
    return SIZES[read_by(icl)](icl)


class Models(Claims):
    """Of the smallest and the largest base model, whichever the figures show.

    On sentences bands are those of words; one network of a pilot there had .64 and .22 with all labels flipped.
    """

    paper, kind, possible = "icl", OBSERVATION, DIFFERENCE_OF_SHARES

    out_of_reach = reach

    @classmethod
    def made(cls, config):
        real = bool(config["language"]["models"])
        shares = config["language" if real else "small"]["shares"]
        few = min((share for share in shares if share), key=lambda share: abs(share - 0.25))
        return (cls(config, of=read_by(config), few=few),)

    def accuracy(self, place, share):
        """Of the model at this place by size, mean over data sets."""
        own = of_family(pick(self.flips, noise="labels", share=share))
        return pick(own, model=list(looks(own))[place]).groupby("replicate")["value"].mean()

    @claim("after Figure 5.2, on {of}", "accuracy with all labels flipped", low=0, high=0.2, possible=SHARE,
           changed=WIDER)  # fmt: skip
    def large_overrides(self):
        """With all labels flipped the largest model falls far below chance.

        0 in a pilot on other data and for a Bayesian who knows the corpus.
        """
        return self.accuracy(-1, 1)

    @claim("after Figure 5.2, on {of}", "accuracy of the smallest minus that of the largest, all labels flipped",
           low=0.1, high=1, changed=f"{WIDER} Kind, after a run was published: a theorem before, but one end of the "
           f"curve on documents of ours.", paper_says="“larger models are more easily affected by noise (flipped "
           "labels) and override pretrained biases than smaller models”")  # fmt: skip
    def small_falls_less(self):
        """With all labels flipped the smallest model keeps more accuracy than the largest.

        A pilot on other data had .92 and 0.
        """
        return self.accuracy(0, 1) - self.accuracy(-1, 1)

    @claim("section 5.6.1, on {of}", "accuracy of the smallest without flipped labels minus with {few} of them",
           high=0.1, changed="New, after a run had 1 and about .7 at a quarter.",
           paper_says="“the performance of small models remains flat and seldom is worse than random guessing”")  # fmt: skip
    def small_stays_flat(self):
        """The smallest model stays flat where {few} of the labels are flipped.

        A tenth is what a reader would call flat.
        """
        return self.accuracy(0, 0) - self.accuracy(0, self.words["few"])

    @claim("after Figure 5.3, on {of}", "share of the answer's attention at the irrelevant sentence, largest minus "
           "smallest model", low=0, high=1, paper_says="“larger models focus on both sentences, while smaller models "
           "only focus on relevant sentences”", changed="Kind and row, after a run was published: a theorem before, "
           "of small transformers at the label, where their loss does not train.")  # fmt: skip
    def attention_irrelevant(self):
        """The larger model attends more to the irrelevant sentence.

        The sign, as printed; pilots on other data did not show it. That small models attend to the relevant sentence
        alone is not judged: of a published run the small one gave the irrelevant sentence .51.
        """
        own = pick(of_family(self.attention), label="correct")
        means = own.pivot_table(index="replicate", columns=["sentence", "model"], values="value")
        share = means["irrelevant"] / (means["irrelevant"] + means["relevant"])
        models = list(looks(own))
        return share[models[-1]] - share[models[0]]
