"""Growth laws: curves, hitting times, and the drift after a capture."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pandas as pd
from matplotlib.lines import Line2D

from featlearn.core.plots import COLOURS, canvas
from featlearn.mrp.growth_fits import CASES, timed, with_ratio

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

#: From the smallest ``sigma_0`` to the largest.
SIGMA_COLOURS = [COLOURS["blue"], COLOURS["green"], COLOURS["red"], COLOURS["purple"]]


def growth_laws(
    curves: pd.DataFrame, hits: pd.DataFrame, target: float, varrho: float, replicate: int = 0
) -> Figure:
    """``Lambda`` of every feature over time, with the predicted crossing of the target marked."""
    drawn = canvas(8.4, 3.9)
    axes = drawn.subplots(1, len(CASES), sharey=True)
    sigmas = sorted(hits["sigma_0"].unique())
    colours = dict(zip(sigmas, SIGMA_COLOURS, strict=False))
    for ax, (case, title) in zip(axes, CASES.items(), strict=True):
        own = curves[curves["case"] == case]
        for (sigma, _), line in own.groupby(["sigma_0", "feature"]):
            ax.plot(line["step"].clip(lower=1), line["strength"], color=colours[sigma],
                    linewidth=0.9, alpha=0.8)  # fmt: skip
        marks = timed(hits[hits["replicate"] == replicate], case)
        for sigma, at in marks.groupby("sigma_0"):
            ax.plot(at["predicted"], np.full(len(at), target), "o", markersize=5.5,
                    markerfacecolor="white", markeredgecolor=colours[sigma],
                    markeredgewidth=1.3, zorder=5, clip_on=False)  # fmt: skip
        ax.axhline(target, color=COLOURS["ink"], linewidth=0.8, linestyle=":")
        ax.axhline(varrho, color=COLOURS["ink"], linewidth=0.8, linestyle="--")
        ax.set(title=title, xscale="log", yscale="log", ylim=(0.012, 1.5))
        ax.set_xlim(1, 1.6 * max(own["step"].max(), marks["predicted"].max()))
        ax.set_xlabel("step of gradient descent")
    axes[0].set_ylabel(r"correlation $\Lambda_{i,l}$ with the feature")
    ticks = [0.02, 0.05, 0.1, 0.2, 0.5, 1]
    axes[0].set_yticks(ticks, [f"{tick:g}" for tick in ticks])
    axes[0].minorticks_off()
    axes[0].annotate(r"captured: $\Lambda\geq\varrho$", (1.15, varrho), va="bottom", fontsize=8)
    axes[0].annotate("timed here", (1.15, target), va="bottom", fontsize=8)
    handles = [
        Line2D([], [], color=colours[sigma], label=rf"$\sigma_0={sigma:g}$") for sigma in sigmas
    ]
    handles.append(
        Line2D(
            [],
            [],
            linestyle="",
            marker="o",
            markerfacecolor="white",
            markersize=5.5,
            markeredgecolor=COLOURS["ink"],
            label="predicted from the start",
        )
    )
    drawn.legend(handles=handles, loc="outside lower center", ncols=len(handles))
    return drawn


def hitting_times(hits: pd.DataFrame) -> Figure:
    """Measured against predicted hitting times, all features of all replicates and starts."""
    drawn = canvas(8.4, 3.6)
    axes = drawn.subplots(1, len(CASES), sharex=True, sharey=True)
    for ax, (case, title) in zip(axes, CASES.items(), strict=True):
        own = with_ratio(hits, case)
        _diagonal(ax, hits)
        first = own["first"]
        split = case == "teacher_student"
        rest = own[~first] if split else own
        ax.plot(rest["predicted"], rest["measured"], "o", markersize=3.2, alpha=0.45,
                color=COLOURS["red"] if split else COLOURS["blue"], markeredgewidth=0)  # fmt: skip
        if split:
            ax.plot(own[first]["predicted"], own[first]["measured"], "D", markersize=4.2,
                    color=COLOURS["blue"], markeredgecolor="white",
                    markeredgewidth=0.5)  # fmt: skip
        if case == "mae":
            late = own[own["predicted"] > 1.05 * own["nearest"]]
            ax.plot(late["nearest"], late["measured"], "x", markersize=5, color=COLOURS["orange"])
        ax.set(title=title, xscale="log", yscale="log", xlabel="predicted (steps)")
    axes[0].set_ylabel("measured hitting time (steps)")
    handles = [
        _mark("o", COLOURS["blue"], "a feature"),
        _mark("x", COLOURS["orange"], "predicted for its nearest kernel,\nwhich another one won"),
        _mark("D", COLOURS["blue"], "first feature of a run"),
        _mark("o", COLOURS["red"], "a later feature"),
        Line2D([], [], color=COLOURS["ink"], linewidth=0.9, label="measured = predicted"),
    ]
    drawn.legend(handles=handles, loc="outside lower center", ncols=5, fontsize=8)
    return drawn


def _mark(marker: str, colour: str, label: str) -> Line2D:
    return Line2D([], [], linestyle="", marker=marker, color=colour, label=label)


def _diagonal(ax: Axes, hits: pd.DataFrame) -> None:
    times = hits[hits["measured"] > 0][["measured", "predicted"]].to_numpy()
    times = times[np.isfinite(times)]
    ends = [0.8 * times.min(), 1.25 * times.max()]
    ax.plot(ends, ends, color=COLOURS["ink"], linewidth=0.9, zorder=1)


def drift_after_capture(after: pd.DataFrame, residual: pd.DataFrame, q: int) -> Figure:
    """Left: ``Lambda`` after a capture. Right: the gradient that is left, by time of capture."""
    colours = {
        "appendix": COLOURS["red"], "main": COLOURS["orange"], "constant": COLOURS["blue"],
    }  # fmt: skip
    names = {
        "appendix": r"$\delta_t=1/(t^{1/q}+1)$ (proofs)",
        "main": r"$\delta_t=1/(t+1)$ (main text)",
        "constant": r"$\delta_t=0$",
    }
    drawn = canvas(8.4, 3.7)
    left, right = drawn.subplots(1, 2)
    start = after["step"].min()
    for schedule, name in names.items():
        own = after[after["schedule"] == schedule].groupby("step")["strength"]
        mean = own.mean()
        style = ":" if schedule == "constant" else "-"
        wide = {"appendix": 1.5, "main": 4.0, "constant": 2.0}[schedule]
        left.plot(mean.index - start, mean, style, color=colours[schedule], label=name,
                  linewidth=wide, zorder=3 if schedule == "constant" else 2)  # fmt: skip
    last = after["step"].max() - start
    constant = after[(after["schedule"] == "constant") & (after["step"] == start)]
    rate = _rate(after)
    line = np.linspace(0, last, 200)
    left.plot(line, constant["strength"].mean() + rate * line, color=COLOURS["ink"],
              linewidth=0.9, zorder=4, label="closed form, constant drift")  # fmt: skip
    left.set(title="A captured feature goes on growing", yscale="log", xlim=(0, last))
    left.set_xlabel("steps after the capture")
    left.set_ylabel(r"correlation $\Lambda$ (mean of replicates)")
    left.legend(fontsize=8, loc="upper left")
    left.set_ylim(0.25, 4 * after["strength"].max())
    ticks = [0.3, 1, 3, 10, 30, 100]
    left.set_yticks(ticks, [f"{tick:g}" for tick in ticks])
    left.minorticks_off()
    shown = [schedule for schedule in names if schedule != "constant"]
    for schedule in shown:
        mean = residual[residual["schedule"] == schedule].groupby("capture_step")["slope"].mean()
        right.plot(mean.index, mean, "o-", color=colours[schedule], label=names[schedule],
                   markersize=4)  # fmt: skip
    steps = np.array(sorted(residual["capture_step"].unique()), dtype=float)
    first = residual[(residual["schedule"] == "appendix")].groupby("capture_step")["slope"].mean()
    printed = first.iloc[0] * (steps / steps[0]) ** (-1 / q)
    right.plot(steps, printed, "--", color=COLOURS["grey"], label=r"as printed, $T_0^{-1/q}$")
    right.axhline(residual["offset_slope"].mean(), color=COLOURS["ink"], linewidth=0.9,
                  label="closed form, offset of the activation")  # fmt: skip
    right.set(title="The gradient that is left", xscale="log", yscale="log")
    right.set_xlabel(r"step $T_0$ of the capture")
    right.set_ylabel("gradient along the feature")
    values = [0.01, 0.03, 0.1, 0.3]
    right.set_yticks(values, [f"{tick:g}" for tick in values])
    right.minorticks_off()
    right.legend(fontsize=8, loc="lower left")
    return drawn


def _rate(after: pd.DataFrame) -> float:
    """Growth a step of the constant schedule: slope times learning rate, from its own rows."""
    own = after[after["schedule"] == "constant"].sort_values(["replicate", "step"])
    first = own.groupby("replicate").first()
    second = own.groupby("replicate").nth(1).set_index("replicate")
    rise = (second["strength"] - first["strength"]) / (second["step"] - first["step"])
    return float((rise * first["closed_form"] / first["slope"]).mean())
