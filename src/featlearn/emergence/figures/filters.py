"""Maps of the filters of ResNets."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pandas as pd

from featlearn.core.plots import COLOURS
from featlearn.core.publish import Config, figure
from featlearn.emergence.figures.maps import panels
from featlearn.emergence.reading import rows

if TYPE_CHECKING:
    from matplotlib.figure import Figure


@figure("fig-a-16", place=0, words="the narrower network (Figure A.16)")
@figure("fig-a-17", place=1, words="a network of twice the width (Figure A.17)")
def filter_maps(
    maps: pd.DataFrame, values: pd.DataFrame, config: Config, place: int, words: str
) -> Figure:
    """Filters of a ResNet gather less than they seem to: {{ words }}

    Classical multidimensional scaling, by 1 - cosine, of the normalised filters of the last
    convolution of each stage of a ResNet-18 (rows) along its training (columns). Green and red: the
    filters at both ends of the leading direction after the last epoch, the colours carried back. Below
    each panel the mean cosine of green and of red filters to their own centre, and the cosine of
    both centres; right of the row what the same choice gives among Gaussian filters. One replicate,
    on pictures that stand in for CIFAR-10 unless a config names it. *What to see:* choosing the ends
    makes groups with opposite centres out of noise as well; only what exceeds the numbers on the right
    was learned. The thesis chose by hand and shows no such comparison. Over all replicates and stages of
    the wider network {{ said("emergence/filters-gather", holds="the groups exceed both nulls by as much as was asked",
    fails="the groups exceed the larger of both nulls by less than was asked") }}, by the difference of mean cosines.
    """
    width = config["widths"][place]
    own, told = rows(maps, width=width), rows(values, width=width, replicate=0)
    epochs, stages = sorted(own["epoch"].unique()), sorted(own["stage"].unique())
    seen = [[rows(own, stage=stage, epoch=epoch) for epoch in epochs] for stage in stages]
    drawn, axes = panels(seen, left=0.3, right=1.15, lines=2, titled=False)
    for line, of_stage, stage in zip(axes, seen, stages, strict=True):
        for ax, here, epoch in zip(line, of_stage, epochs, strict=True):
            for side, colour in ((0, "grey"), (1, "green"), (-1, "red")):
                shown = here[here["member"] == side]
                ax.plot(shown["x"], shown["y"], ".", color=COLOURS[colour], alpha=0.7,
                        markersize=5 if side == 0 else 8)  # fmt: skip
            green, red, centres = _cosines(told, stage, epoch, "followed")
            ax.set_xlabel(f"own centre {green} (green), {red} (red)\nbetween centres {centres}",
                          fontsize=8)  # fmt: skip
            ax.set_title(f"epoch {epoch}" if stage == stages[0] else "")
        line[0].set_ylabel(f"ResNet({width}), stage {stage}")
        green, red, centres = _cosines(told, stage, epochs[-1], "gaussian")
        line[-1].annotate(
            f"Gaussian filters\ngreen {green}\nred {red}\ncentres {centres}",
            (1.06, 0.5), xycoords="axes fraction", fontsize=8, va="center",
        )  # fmt: skip
    return drawn


def _cosines(told: pd.DataFrame, stage: int, epoch: int, group: str) -> list[str]:
    """Mean cosine of green and of red filters to their own centre, and that of both centres."""
    own = rows(told, stage=stage, epoch=epoch, group=group).set_index("quantity")["value"]
    # + 0: what is rounded to nothing has no sign
    return [f"{round(own[key], 2) + 0:.2f}".replace("-", "−")
            for key in ("green", "red", "centres")]  # fmt: skip
