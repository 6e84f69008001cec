"""Figure 5: what channels respond to, with a prediction head and without."""

from __future__ import annotations

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from featlearn.core.drawing.plots import COLOURS, PALETTE, canvas
from featlearn.core.evidence.claim_methods import Claims, claim
from featlearn.core.evidence.claims import OBSERVATION, SHARE
from featlearn.core.evidence.frames import pick
from featlearn.core.run.exhibits import Config, figure
from featlearn.images.figures import bare, mosaic
from featlearn.noncontrastive.analysis import ARMS, gain, ordered, set_name, too_small
from featlearn.noncontrastive.images.cells import ROBUST_ARMS, UNTRAINED, WITH, WITHOUT

ARM_COLOURS = {
    WITH: PALETTE["identity head"], WITHOUT: PALETTE["no head"], UNTRAINED: PALETTE["untrained"],
}  # fmt: skip


@figure()
def fig_5(values: pd.DataFrame, pictures: pd.DataFrame, config: Config) -> Figure:
    """Figure 5: do features vary more with a prediction head?

    *What to see:* {{ said("noncontrastive/robust-cifar10-more-varied", holds="(a) is more varied than (b), with a
    better probe than (c), in most replicates", fails="(a) is not in most replicates more varied than (b), with a better
    probe than (c)", left="whether (a) is more varied than (b), with a better probe than (c), is open") }}.

    Images that maximise one channel each, after BYORL with a prediction head (a), without (b), and untrained (c).
    *Likeness*: mean absolute cosine of two pictures. *Distinct*: effective number of pictures. Lines join replicates.
    """
    names = list(ordered(config))
    drawn = canvas(8.6, 3.1 * len(names) + 0.3)
    axes = drawn.subplots(len(names), len(ROBUST_ARMS) + 1, squeeze=False,
                          width_ratios=[3] * len(ROBUST_ARMS) + [2.4])  # fmt: skip
    for name, row in zip(names, axes, strict=True):
        own = pick(values, data_set=name)
        for panel, (ax, arm) in enumerate(zip(row, ROBUST_ARMS, strict=False)):
            seen = mosaic(pick(pictures, data_set=name, run=arm), "feature")
            ax.imshow(seen, interpolation="nearest")
            bare(ax)
            ax.set_title(f"({'abc'[panel]}) {ARMS[arm]}")
            means: dict[str, float] = dict(pick(own, run=arm).groupby("quantity")["value"].mean())
            ax.set_xlabel("likeness {likeness:.2f}, distinct {distinct:.1f}\n"
                          "probe accuracy {accuracy:.2f}".format(**means))  # fmt: skip
        row[0].set_ylabel(set_name(name))
        _replicates(row[-1], pick(own, quantity="likeness"))
    return drawn


def _replicates(ax: Axes, values: pd.DataFrame) -> None:
    """A point a replicate; lines join what shares images and start."""
    for _, one in values.groupby("replicate"):
        heights = one.set_index("run").loc[[*ROBUST_ARMS], "value"]
        ax.plot(range(len(heights)), heights, color=COLOURS["grey"], linewidth=0.8)
        ax.scatter(range(len(heights)), heights, s=22, zorder=3,
                   color=[ARM_COLOURS[arm] for arm in ROBUST_ARMS])  # fmt: skip
    # a word without a second line stands as high as those that have one
    words = ["\n".join((*ARMS[arm].split(" ", 1), "")[:2]) for arm in ROBUST_ARMS]
    ax.set_xticks(range(len(ROBUST_ARMS)), words)
    ax.set(title="likeness of\ntwo pictures", ylim=(0, 1.02), xlim=(-0.4, len(ROBUST_ARMS) - 0.6))
    ax.grid(axis="x", visible=False)


class Robust(Claims):
    """Of the data sets that Figure 5 is made of, groups of ``noncontrastive.images``."""

    paper, kind = "noncontrastive", OBSERVATION

    def __init__(self, config, name):
        self.name = name
        super().__init__(config, prefix=f"robust-{name.replace('_', '-')}-")

    @classmethod
    def made(cls, config):
        return [cls(config, name) for name in config]

    def out_of_reach(self, config):
        settings = config[self.name]
        return too_small(settings["replicates"], settings["robust"]["training"])

    @claim("Figure 5", "share of replicates in which two pictures are less alike by 0.05 with a head, and whose "
           "probe beats the untrained one by 0.02", low=0.5, high=1.0, possible=SHARE, statistic="share",
           paper_says="“Features learned with prediction head obviously have more variety than features learned "
           "without the prediction head.”", changed="An earlier form asked for the pictures alone.")  # fmt: skip
    def more_varied(self):
        """Features of a network that has learned something are more varied with a head than without.

        In most networks. Both conditions are needed, as the random start, which has learned nothing, is the most
        varied of all.
        """
        own = pick(self.values, data_set=self.name)
        varied = gain(own, (WITHOUT, WITH), quantity="likeness")
        learned = gain(own, (WITH, UNTRAINED), quantity="accuracy")
        return ((varied >= 0.05) & (learned >= 0.02)).astype(float)
