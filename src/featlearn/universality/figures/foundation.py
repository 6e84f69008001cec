"""Probes and adapters on frozen encoders."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pandas as pd

from featlearn.core.plots import COLOURS, PAGE, canvas
from featlearn.core.publish import figure
from featlearn.core.statistical import Look, lines, share_interval
from featlearn.universality.encoders import CHANCE, ENCODER
from featlearn.universality.printed import OURS
from featlearn.universality.words import FT, LP

if TYPE_CHECKING:
    from matplotlib.figure import Figure

WORDS = {LP: "probe", FT: "adapter, {}", OURS: "adapter with contrastive loss, {}"}
PALETTE = ("blue", "orange", "red", "purple", "green", "sky", "ink")


@figure()
def adapters(adapters: pd.DataFrame, probed: pd.DataFrame) -> Figure:
    """A probe and adapters on a frozen encoder, by labels

    An adapter is trained with a classifier (FT in tables), with or without NT-Xent at its output (Ours), on some
    augmented copies of each training sample; 95 % intervals. By default encoders are networks of this run on
    vectors: *broad* was pre-trained on all tasks, *narrow* on the first alone. With all labels
    {{ said("universality/adapter-beats-probe", holds="an adapter gains over a probe", fails="an adapter does not gain over a probe") }};
    over all shares of the labels
    {{ said("universality/adapter-with-contrast", holds="the contrastive loss helps it", fails="the contrastive loss does not help it") }}
    (differences of accuracies in brackets). Dotted: the best of what learns nothing, a probe of the raw input, of
    random features or of an untrained encoder. The best of all that is drawn on the encoders is ahead of it by
    {{ value("adapter-leads", model="all", percent=5) }} with 5 % of the labels and by {{ value("adapter-leads", model="all",
    percent=100) }} with all, on average over encoders and targets (below zero: behind). What a frozen encoder dropped no
    adapter can bring back.
    """
    nothing = probed[probed["percent"].notna() & ~probed["features"].isin((ENCODER, CHANCE))]
    best = nothing.groupby(["model", "target", "percent", "features"])["value"].mean()
    best = best.groupby(["model", "target", "percent"]).max()
    frame = adapters.assign(
        arm=[WORDS[method].format("1 copy" if copies == 1 else f"{copies} copies")
             for method, copies in zip(adapters["method"], adapters["copies"], strict=True)]
    )  # fmt: skip
    arms = list(dict.fromkeys(frame["arm"]))
    looks = {arm: Look(arm, COLOURS[PALETTE[i % len(PALETTE)]], "osD^vPX"[i % 7])
             for i, arm in enumerate(arms)}  # fmt: skip
    models = list(dict.fromkeys(frame["model"]))
    targets = [
        list(dict.fromkeys(frame.loc[frame["model"] == model, "target"])) for model in models
    ]
    columns = max(len(each) for each in targets)
    drawn = canvas(min(PAGE, 2.7 * columns + 0.4), 2.3 * len(models) + 0.7)
    axes = drawn.subplots(len(models), columns, squeeze=False, sharey="row")
    for row, model, each in zip(axes, models, targets, strict=True):
        for ax, target in zip(row, each, strict=False):
            own = frame[(frame["model"] == model) & (frame["target"] == target)]
            lines(ax, own, "percent", "arm", looks=looks, errorbar=share_interval, apart=1.1)
            shares = sorted(own["percent"].unique())
            ax.plot(shares, best.loc[(model, target)].loc[shares], ":", color=COLOURS["grey"],
                    label="best that learns nothing", zorder=0)  # fmt: skip
            ax.set(xscale="log", title=f"{model}: {target}")
            ax.set_xticks(shares, [str(share) for share in shares])
            ax.minorticks_off()
        row[0].set_ylabel(f"accuracy, n = {frame['replicate'].nunique()}")
    for ax in axes[-1]:
        ax.set_xlabel("labels (%)")
    drawn.legend(*axes[0][0].get_legend_handles_labels(), loc="outside lower center", ncols=3)
    return drawn
