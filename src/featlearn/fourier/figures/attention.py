"""Maps of attention heads and their waves."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pandas as pd
import seaborn as sns

from featlearn.core.plots import PAGE, canvas
from featlearn.core.publish import Config, figure
from featlearn.fourier.words import task_of

if TYPE_CHECKING:
    from matplotlib.figure import Figure


@figure("fig-4-3", cell="four", label="Figure 4.3", printed="4 numbers mod 31")
@figure("fig-c-5", cell="three", label="Figure C.5", printed="3 numbers mod 61")
@figure("fig-c-6", cell="five", label="Figure C.6", printed="5 numbers mod 17")
def attention_maps(
    maps: pd.DataFrame, heads: pd.DataFrame, config: Config, cell: str, label: str, printed: str
) -> Figure:
    """{{ label }}: attention maps of a trained layer, and their waves

    Columns are heads of the first network of the task in the heading, drawn at random. Above: the map
    E^T W^K W^Q^T E from the number of a query (across) to that of a key (down), without what the
    softmax does not see, the mean over the keys; below: the share of power of each wave, the two signs
    of a wave as one, darkest the largest share of the figure. A product of two cosines is two points, mirror
    images of each other. The heading of a column says what share these two have. The thesis shows the product of weights for {{ printed }}
    and does not say in which basis; only on the numbers themselves has it a cyclic order. *What to
    see:* where maps are waves, stripes of one wavelength and one or two points below. Over all heads the
    strongest wave and its mirror image have
    {{ value("attention", "start", cell="{{ cell }}", quantity="pair") | percent }} of the power before
    training; after it
    {{ said("fourier/attention-waves-{{ cell }}", holds="they have more than all other waves together, this share",
            fails="they have less than half, this share, so that these maps are not waves") }}.
    {{ value("attention", cell="{{ cell }}", quantity="same") | percent }} of the heads have the same frequency
    along both sides, where the thesis writes of distinct ones.
    """
    own = maps[maps["cell"] == cell]
    places = sorted(own["place"].unique())
    ends = heads[(heads["cell"] == cell) & (heads["moment"] == "end") & (heads["replicate"] == 0)]
    pair = ends.set_index("head")["pair"]
    darkest = own[own["what"] == "power"]["value"].max()
    drawn = canvas(min(PAGE, 1.9 * len(places) + 0.3), 4.3)
    axes = drawn.subplots(2, len(places), squeeze=False)
    for place, (above, below) in zip(places, axes.T, strict=True):
        one = own[own["place"] == place]
        grids = {what: part.pivot_table(index="key", columns="query", values="value")
                 for what, part in one.groupby("what")}  # fmt: skip
        most = np.abs(grids["map"].to_numpy()).max()
        sns.heatmap(grids["map"], ax=above, cmap="RdBu_r", vmin=-most, vmax=most, cbar=False,
                    square=True, xticklabels=False, yticklabels=False)  # fmt: skip
        above.set(title=f"{pair[one['head'].iloc[0]]:.0%}", xlabel="query", ylabel="key")
        power = _signed(grids["power"])
        sns.heatmap(power, ax=below, cmap="Blues", vmin=0, vmax=darkest, cbar=False,
                    linewidths=0.2, linecolor="#EEEEEE")  # fmt: skip
        below.invert_yaxis()
        below.set(xlabel="frequency, queries", ylabel="frequency, keys")
        marked = max(1, len(power) // 4)
        for values, side in ((power.columns, below.set_xticks), (power.index, below.set_yticks)):
            at = [place for place, value in enumerate(values) if value % marked == 0]
            side([place + 0.5 for place in at], [str(values[place]) for place in at], rotation=0)
    for ax in axes[:, 1:].flat:
        ax.set_ylabel("")
    drawn.suptitle(task_of(config, cell), fontsize=10, fontweight="bold", x=0.01, ha="left")
    return drawn


def _signed(power: pd.DataFrame) -> pd.DataFrame:
    """With the frequencies of keys as -p // 2 ... p // 2 instead of 0 ... p - 1."""
    p = len(power)
    return power.rename(index=lambda key: key - p if key > p // 2 else key).sort_index()
