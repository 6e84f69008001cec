"""What the paper argues about detection, as an intuition only.

The band rests on Lemma 1, Theorem 2 and a pilot run of ten replicates with another seed.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
from matplotlib.colors import ListedColormap

from featlearn.core.claim_methods import claim
from featlearn.core.claims import DIFFERENCE_OF_SHARES, THEOREM
from featlearn.core.plots import COLOURS, FILLS, PALETTE, canvas
from featlearn.core.publish import figure
from featlearn.core.statistical import Look, bars, share_interval
from featlearn.mrp.labels import Models, of_clean_data

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

MODELS = {
    "supervised": Look("supervised", PALETTE["supervised"]),
    "finetuned": Look("mask rec. + fine-tuning", PALETTE["mask reconstruction"]),
}
QUANTITIES = {
    "seen": "own features\nthat are seen",
    "seen_both": "images with\nboth seen",
    "precision": "own among\ntop patches",
}
#: Kinds of patches: none, distractor, first and second feature of the own class.
KINDS = (FILLS["white"], FILLS["frame"], COLOURS["green"], COLOURS["purple"])


@figure(replicates=4)
def localisation(localisation: pd.DataFrame, patches: pd.DataFrame, replicates: int) -> Figure:
    """Where does the evidence come from?

    *What to see:* the supervised network mostly uses one of the two features, the pre-trained and fine-tuned one
    both.

    Left: one test image a replicate, patches sorted by content; height is a patch's share of the positive evidence
    for the true class. Right: own features seen, images with both, own patches among the strongest. Dots are
    replicates, with 95 % intervals.

    ---

    The score of a class is a sum over patches; the evidence of a patch is its term. A feature is seen if it carries a
    tenth of the evidence or more. Where the supervised network captured no feature of a class, distractors carry its
    little evidence. This is the model's counterpart of activation maps that cover more of an object. That
    pre-training sees more of the own features {{ verdict("mrp/t20-pretrained-sees-more") }}.
    """
    drawn = canvas(8.2, 4.4)
    parts: Any = drawn.subfigures(1, 2, width_ratios=[1.75, 1])
    left, right = parts
    first = patches[patches["sample"] == patches["sample"].min()]
    numbers = sorted(first["replicate"].unique())[:replicates]
    axes = left.subplots(len(numbers), 1, squeeze=False)[:, 0]
    for ax, number in zip(axes, numbers, strict=True):
        _strip(ax, first[first["replicate"] == number])
    axes[-1].set_xlabel("patch (own features first, then distractors, then background)")
    left.suptitle(
        "One test image of each of the first replicates",
        x=0.01,
        ha="left",
        fontsize=10,
        weight="bold",
    )
    marks = [
        axes[0].scatter([], [], marker="s", s=40, color=colour, edgecolors=COLOURS["ink"],
                        linewidths=0.4, label=label)
        for colour, label in zip(
            KINDS, ("background", "distractor", "own feature 1", "own feature 2"), strict=True
        )
    ]  # fmt: skip
    left.legend(handles=marks, loc="outside lower center", ncols=4, fontsize=8)
    _shares(right.subplots(), localisation)
    return drawn


def _strip(ax: Axes, patches: pd.DataFrame) -> None:
    """One image: what is on its patches, and the share of evidence that each model gives them."""
    wide = patches.pivot_table(index="patch", columns="model", values="evidence")
    about = patches.drop_duplicates("patch").set_index("patch")
    kind = np.where(about["own_view"] >= 0, 2 + about["own_view"], np.sign(about["owner"] + 1))
    order = np.lexsort((-about["strength"], np.where(kind >= 2, -4 + kind, -kind)))
    wide, kind = wide.iloc[order], kind[order]
    ax.imshow(
        kind[None], cmap=ListedColormap(KINDS), vmin=0, vmax=3, aspect="auto",
        extent=(-0.5, len(kind) - 0.5, 2.45, 3.0),
    )  # fmt: skip
    for border in range(len(kind) + 1):
        ax.plot([border - 0.5] * 2, [2.45, 3.0], color=COLOURS["ink"], linewidth=0.4)
    for edge in (2.45, 3.0):
        ax.plot([-0.5, len(kind) - 0.5], [edge, edge], color=COLOURS["ink"], linewidth=0.4)
    for level, (model, look) in enumerate(reversed(MODELS.items())):
        positive = wide[model].clip(lower=0).to_numpy()
        share = positive / positive.sum() if positive.sum() > 0 else positive
        ax.bar(range(len(share)), 1.1 * share, 0.85, bottom=1.2 * level, color=look.colour)
        ax.axhline(1.2 * level, color=COLOURS["ink"], linewidth=0.5)
    ax.set(xlim=(-0.5, len(kind) - 0.5), ylim=(0, 3.35))
    ax.set_yticks([0.45, 1.65, 2.72], ["pre-trained", "supervised", "content"], fontsize=8)
    ax.set_xticks([])
    ax.grid(visible=False)
    ax.tick_params(length=0)
    ax.spines["left"].set_visible(False)


def _shares(ax: Axes, found: pd.DataFrame) -> None:
    bars(ax, found, "quantity", "model", groups=QUANTITIES, looks=MODELS,
         errorbar=share_interval)  # fmt: skip
    ax.tick_params(axis="x", labelsize=8)
    ax.set(ylim=(0, 1.05), ylabel="share", title="All multi-view test images")
    ax.legend(loc="upper center", bbox_to_anchor=(0.5, -0.2), fontsize=8)


class Localisation(Models):
    paper = "mrp"
    out_of_reach = of_clean_data

    def measured(self):
        return self.frames["localisation"]

    @claim("Discussion, detection (VA); intuition only",
           "share of own features seen, fine-tuned minus supervised, paired over replicates", kind=THEOREM,
           low=0.2, high=0.5, possible=DIFFERENCE_OF_SHARES,
           paper_says="“our encoder have provably captured all feature features in each images”")  # fmt: skip
    def t20_pretrained_sees_more(self):
        """After pre-training more features of the object carry evidence than after supervised training.

        The limit is 1/2; the band that Lemma 1 leaves the supervised network leaves at least 0.2.
        """
        return self.lead("finetuned", "supervised", "seen")
