"""Maps of the neurons of two-layer networks on pictures."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pandas as pd

from featlearn.core.plots import COLOURS
from featlearn.core.publish import Config, figure
from featlearn.emergence.figures.maps import hollow, panels
from featlearn.emergence.reading import rows

if TYPE_CHECKING:
    from matplotlib.figure import Figure


@figure("fig-2-3", cell="mnist", words="digits 0 and 1 (Figure 2.3)")
@figure("fig-a-13", cell="mnist", words="digits 0 and 1 (Figure A.13)")
@figure("fig-a-14", cell="cifar10", words="two classes of pictures (Figure A.14)")
@figure("fig-a-15", cell="svhn", words="two digits, light or dark (Figure A.15)")
def neuron_maps(maps: pd.DataFrame, config: Config, cell: str, words: str) -> Figure:
    """Where the neurons of a two-layer network point: {{ words }}

    Classical multidimensional scaling of the weights of 50 ReLU neurons by 1 - cosine, along the
    training on two classes of pictures. Above from the usual random start, below from a far smaller
    one. Blue and orange: neurons whose output weight is positive and negative at the end, the
    colour carried back; stars: the mean of y x over the training pictures, along which the first
    gradients point, and its negative. Digits of 8 x 8 pixels stand in for the thesis' set unless a
    config names it; those that stand in for SVHN are inverted in half of the pictures, as digits
    there are lighter or darker than what is behind them. One replicate.

    *What to see:* of {{ value("neuron-directions", pictures="{{ cell }}", which="largest start", moment="start", quantity="directions") | number }}
    directions that the weights share at the start
    {{ value("neuron-directions", pictures="{{ cell }}", which="largest start", moment="end", quantity="directions") | number }} are left from the
    usual start and {{ value("neuron-directions", pictures="{{ cell }}", which="smallest start", moment="end", quantity="directions") | number }} from
    the small one: two opposite groups are one direction, the four that the thesis saw on SVHN are two. On the digits 0 and 1
    {{ said("emergence/neurons-gather", holds="neurons gather from the usual start", fails="neurons do not gather from the usual start") }},
    {{ said("emergence/neurons-gather-from-a-small-start", holds="from the small one they do", fails="nor from the small one") }};
    in brackets the share of the directions that is left.
    """
    own = rows(maps, cell=cell)
    steps = sorted(own["step"].unique())
    starts = sorted(config[cell]["starts"])
    starts = [starts[-1], starts[0]]
    seen = [[rows(own, start=start, step=step) for step in steps] for start in starts]
    drawn, axes = panels(seen)
    for line, maps_of_start, start in zip(axes, seen, starts, strict=True):
        last = maps_of_start[-1].set_index("point")["outer"]
        for ax, here, step in zip(line, maps_of_start, steps, strict=True):
            for sign, colour, star in ((1, "blue", -2), (-1, "orange", -1)):
                side = last[(last * sign > 0) & (last.index >= 0)].index
                shown = here[here["point"].isin(side)]
                ax.plot(shown["x"], shown["y"], ".", color=COLOURS[colour], markersize=5, alpha=0.6)
                hollow(ax, here[here["point"] == star], "*", colour)
            ax.set_xlabel("start" if step == 0 else f"step {step}")
        line[0].set_title("usual start" if start == 1 else f"start times {start:g}")
    return drawn
