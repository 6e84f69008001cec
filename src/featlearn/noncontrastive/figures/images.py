"""Prediction heads on images: Figures 1 to 4, and ranks. Reads frames, imports no torch."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from featlearn.core.plots import COLOURS, canvas
from featlearn.noncontrastive.images.cells import UNTRAINED, Cell, cells, trajectory
from featlearn.noncontrastive.images.words import HEADS, LAYERS, NORMS, TARGETS, set_name

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

Frames = Mapping[str, pd.DataFrame]

HEAD_COLOURS = {
    "none": COLOURS["grey"],
    "identity": COLOURS["blue"],
    "linear": COLOURS["green"],
    "mlp": COLOURS["orange"],
}
#: The head's two norms: colour, line, label.
HEAD_NORMS = {
    "off_diagonal": (COLOURS["blue"], "-", r"off-diagonal, $\|E\|_F$"),
    "asymmetry": (COLOURS["red"], "--", r"asymmetry, $\|E - E^\top\|_F$"),
}
LEVELS = {"without": "none-batch-self", "with": "identity-batch-self"}


def _rows(sets: Mapping[str, Any], width: float, height: float, columns: int) -> tuple[Any, Any]:
    """A row of panels a data set."""
    drawn = canvas(width, height * len(sets) + 0.5)
    return drawn, drawn.subplots(len(sets), columns, squeeze=False)


def fig_1(frames: Frames, sets: Mapping[str, Any]) -> Figure:
    """Correlations of pairs of neurons: projection and encoder, without and with a head."""
    drawn, axes = _rows(sets, 8.2, 2.7, 2)
    histogram = frames["histogram"]
    styles = {
        "without": {"color": COLOURS["grey"], "alpha": 0.75, "label": "no head"},
        "with": {"color": COLOURS["blue"], "histtype": "step", "linewidth": 1.6,
                 "label": "identity-initialised head"},
    }  # fmt: skip
    for row, name in zip(axes, sets, strict=True):
        for ax, layer, panel in zip(row, LAYERS, "ab", strict=True):
            for which, style in styles.items():
                own = histogram[
                    (histogram["data_set"] == name)
                    & (histogram["run"] == LEVELS[which])
                    & (histogram["layer"] == layer)
                ]
                if own.empty:
                    continue
                pairs = own.groupby(["low", "high"])["pairs"].sum().reset_index()
                edges = [*pairs["low"], pairs["high"].iloc[-1]]
                share = 100 * pairs["pairs"] / max(pairs["pairs"].sum(), 1)
                ax.hist(pairs["low"] + 1e-6, bins=edges, weights=share, **style)
            ax.set_title(f"({panel}) neurons of the {LAYERS[layer]}")
            ax.set(xlabel="correlation of two neurons", xlim=(-1.02, 1.02))
        row[0].set_ylabel(f"{set_name(name)}\n% of pairs")
    axes[0][0].legend(loc="upper center")
    return drawn


def fig_2(frames: Frames, sets: Mapping[str, Any]) -> Figure:
    """Accuracy of the linear probe of every cell; whiskers from the smallest to the largest."""
    drawn, axes = _rows(sets, 8.2, 2.9, 1)
    values = frames["values"]
    values = values[values["quantity"] == "accuracy"]
    for (ax,), (name, settings) in zip(axes, sets.items(), strict=True):
        own = values[values["data_set"] == name]
        _bars(ax, own, settings)
        start = own[own["run"] == UNTRAINED]["value"].mean()
        ax.axhline(start, color=COLOURS["ink"], linestyle=":", linewidth=1.1,
                   label="untrained encoder")  # fmt: skip
        ax.set_ylabel("linear-probe accuracy")
        ax.set_title(set_name(name))
        low = own["value"].min()
        ax.set_ylim(max(0.0, low - 0.15), min(1.0, own["value"].max() + 0.05))
    _legend(drawn, axes[:, 0], 5)
    return drawn


def _bars(ax: Axes, values: pd.DataFrame, settings: Mapping[str, Any]) -> None:
    """A group of bars for each norm and target, a bar a head."""
    groups = [(norm, target) for norm in settings["norms"] for target in settings["targets"]]
    width = 0.8 / len(settings["heads"])
    for place, head in enumerate(settings["heads"]):
        at, means, below, above = [], [], [], []
        for number, (norm, target) in enumerate(groups):
            own = values[values["run"] == Cell(head, norm, target).name]["value"]
            at.append(number + (place - (len(settings["heads"]) - 1) / 2) * width)
            means.append(own.mean())
            below.append(own.mean() - own.min())
            above.append(own.max() - own.mean())
        ax.bar(at, means, 0.92 * width, color=HEAD_COLOURS[head], label=HEADS[head])
        ax.errorbar(at, means, yerr=np.clip([below, above], 0, None), fmt="none",
                    ecolor=COLOURS["ink"], elinewidth=0.9, capsize=2)  # fmt: skip
    names = [f"{NORMS[norm]} output,\ntarget: {TARGETS[target]}" for norm, target in groups]
    ax.set_xticks(range(len(groups)), names)
    ax.grid(axis="x", visible=False)


def _legend(drawn: Figure, panels: Iterable[Axes], columns: int) -> None:
    """What any of the panels shows, heads in the order of the words for them."""
    found: dict[str, Any] = {}
    for ax in panels:
        handles, labels = ax.get_legend_handles_labels()
        found |= dict(zip(labels, handles, strict=True))
    order = [*(label for label in found if label not in HEADS.values()), *HEADS.values()]
    shown = [label for label in order if label in found]
    drawn.legend(
        [found[label] for label in shown], shown, loc="outside lower center", ncols=columns
    )


def _short(settings: Mapping[str, Any]) -> list[str]:
    groups = [(norm, target) for norm in settings["norms"] for target in settings["targets"]]
    return ["\n".join((NORMS[norm], *TARGETS[target].split())) for norm, target in groups]


def _head(frames: Frames, name: str, settings: Mapping[str, Any]) -> pd.DataFrame:
    """History of the identity head of a data set, with the ratio of its two norms."""
    history = frames["history"]
    own = history[(history["data_set"] == name) & (history["run"] == trajectory(settings))]
    return own.assign(ratio=own["asymmetry"] / own["off_diagonal"])


def fig_3(frames: Frames, sets: Mapping[str, Any]) -> Figure:
    """How the head moves in one training: its norms (a), and their ratio (b)."""
    drawn, axes = _rows(sets, 8.2, 2.7, 2)
    for row, (name, settings) in zip(axes, sets.items(), strict=True):
        own = _head(frames, name, settings)
        own = own[own["replicate"] == 0]
        for quantity, (colour, line, label) in HEAD_NORMS.items():
            row[0].plot(own["step"], own[quantity], line, color=colour, label=label)
        row[1].plot(own["step"], own["ratio"], color=COLOURS["purple"])
        row[1].axhline(2**0.5, color=COLOURS["grey"], linestyle=":", linewidth=1)
        row[1].annotate("entries without relation", (own["step"].iloc[-1], 2**0.5), (0, 3),
                        textcoords="offset points", ha="right", fontsize=8)  # fmt: skip
        row[0].set_title(f"(a) {set_name(name)}: size of the head")
        row[1].set_title("(b) asymmetry over off-diagonal")
        row[1].set_ylabel("ratio; 0 is symmetric")
        row[0].set_ylabel("Frobenius norm")
        row[0].legend(loc="best")
        for ax in row:
            ax.set(xlabel="step", ylim=(0, None))
    return drawn


def fig_4(frames: Frames, sets: Mapping[str, Any]) -> Figure:
    """The same of all replicates: their mean, and a band from the smallest to the largest."""
    drawn, axes = _rows(sets, 8.2, 2.7, 2)
    for row, (name, settings) in zip(axes, sets.items(), strict=True):
        own = _head(frames, name, settings)
        panels = ((row[0], HEAD_NORMS), (row[1], {"correlation": (COLOURS["green"], "-", "")}))
        for ax, styles in panels:
            for quantity, (colour, line, label) in styles.items():
                over = own.groupby("step")[quantity].agg(["mean", "min", "max"])
                ax.plot(over.index, over["mean"], line, color=colour, label=label or None)
                ax.fill_between(over.index, over["min"], over["max"], color=colour, alpha=0.2, lw=0)
            ax.set(xlabel="step", ylim=(0, None))
        row[0].set_title(f"{set_name(name)}: size of the head")
        row[0].set_ylabel("Frobenius norm")
        row[0].legend(loc="best")
        row[1].set_title("neurons of the projection, in a batch")
        row[1].set_ylabel("mean |correlation|")
        row[1].set_ylim(0, 1.02)
    return drawn


def image_ranks(frames: Frames, sets: Mapping[str, Any]) -> Figure:
    """Effective rank of the projection of every cell, and the spectra behind it."""
    drawn, axes = _rows(sets, 9.0, 2.9, 2)
    values, spectrum = frames["values"], frames["spectrum"]
    ranks = values[(values["quantity"] == "effective_rank") & (values["layer"] == "projection")]
    spectrum = spectrum[spectrum["layer"] == "projection"]
    for row, (name, settings) in zip(axes, sets.items(), strict=True):
        _bars(row[0], ranks[ranks["data_set"] == name], settings)
        # the panel is too narrow for the words of Figure 2
        row[0].set_xticks(row[0].get_xticks(), _short(settings))
        row[0].set_ylabel("effective rank of the projection")
        row[0].set_title(set_name(name))
        own = spectrum[spectrum["data_set"] == name]
        shown = [cell for cell in cells(settings) if (cell.norm, cell.target) == ("batch", "self")]
        for cell in shown:
            mean = own[own["run"] == cell.name].groupby("number")["share"].mean()
            row[1].plot(mean.index, mean.clip(lower=1e-6), color=HEAD_COLOURS[cell.head])
        row[1].set(yscale="log", xlabel="eigenvalue, by size", ylim=(1e-6, 1.5))
        row[1].set_ylabel("share of the spectrum")
        row[1].set_title("batch norm, same network")
    _legend(drawn, axes[:, 0], 4)
    return drawn


FIGURES: dict[str, Callable[[Frames, Mapping[str, Any]], Figure]] = {
    "fig-1": fig_1,
    "fig-2": fig_2,
    "fig-3": fig_3,
    "fig-4": fig_4,
    "image-ranks": image_ranks,
}
