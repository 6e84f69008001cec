"""How far kernels align with noise. Reads frames, imports no torch."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from featlearn.core.plots import COLOURS, canvas
from featlearn.core.publish import Config, figure
from featlearn.mrp.claims.noise import scales

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


@figure()
def noise_alignment(teacher_student: pd.DataFrame, noise: pd.DataFrame, config: Config) -> Figure:
    """Kernels do not align with noise

    Largest inner product of a kernel with the Gaussian noise of a patch, one dot a replicate, by kind
    of patch, for both ways of pre-training. A winner's own patches are those of the feature that it
    holds most. Dashed: the orders that Lemma F.6 gives, below the upper line on feature patches and
    near the lower one on patches without a feature; the largest of many Gaussian values exceeds its
    order by about sqrt(2 ln n). *What to see:* for teacher-student pre-training and for MAE, {{ said("mrp/t14-noise-own-patches",
    holds="a winner's own patches stay below the upper line", fails="a winner's own patches pass the upper line") }}
    and {{ said("mrp/t14-noise-own-patches-mae", holds="they do", fails="they do not") }}; on patches without a
    feature, in units of the lower line, {{ said("mrp/t14-noise-background", holds="the order is met", fails="the order is not met") }}
    and {{ said("mrp/t14-noise-background-mae", holds="it is met", fails="it is not met") }}. Training and fresh noise:
    {{ said("mrp/t14-noise-not-memorised", holds="nothing is memorised", fails="training noise stands out") }}
    and {{ said("mrp/t14-noise-not-memorised-mae", holds="nothing is memorised", fails="training noise stands out") }}.
    """
    panels = {
        "teacher-student": (teacher_student, config["teacher_student"]),
        "masked autoencoder (MAE)": (noise, config["clean"]),
    }
    drawn = canvas(8.2, 3.6)
    axes = drawn.subplots(1, len(panels), sharey=True)
    for ax, (title, (measured, section)) in zip(axes, panels.items(), strict=True):
        _noise_panel(ax, measured, scales(section))
        ax.set_title(title)
    axes[0].set_ylabel(r"largest $|\langle w_r, \xi_p\rangle|$ (log scale)")
    drawn.legend(
        *axes[0].get_legend_handles_labels(), loc="outside lower center", ncols=3, fontsize=8
    )
    return drawn


def _noise_panel(ax: Axes, noise: pd.DataFrame, units: pd.DataFrame) -> None:
    kinds = {
        "own": "patches of\nwinner's own\nfeature",
        "other": "patches of\nother\nfeatures",
        "background": "patches\nwithout a\nfeature",
    }
    styles = {
        ("before", "training"): ("o", COLOURS["grey"], "initial kernels, training noise"),
        ("after", "training"): ("o", COLOURS["blue"], "pre-trained kernels, training noise"),
        ("after", "fresh"): ("D", COLOURS["orange"], "pre-trained kernels, fresh noise"),
    }
    for place, kind in enumerate(kinds):
        for shift, ((when, which), (marker, colour, label)) in enumerate(styles.items()):
            chosen = noise[
                (noise["when"] == when) & (noise["samples"] == which) & (noise["patches"] == kind)
            ]
            values = chosen["largest"].to_numpy()
            values = values[values > 0]  # a replicate whose kernels hold nothing yet has no winner
            spread = np.linspace(-0.07, 0.07, values.size)
            ax.plot(place + 0.24 * (shift - 1) + spread, values, marker, color=colour,
                    markersize=4, alpha=0.8, label=None if place else label)  # fmt: skip
    names = {"sigma_0": r"$\sigma_0$", "sigma_0_gamma_k": r"$\sigma_0\gamma k$"}
    for unit, text in names.items():
        value = float(units[unit].iloc[0])
        ax.axhline(value, color=COLOURS["ink"], linewidth=0.9, linestyle="--")
        ax.annotate(text, (1.01, value), xycoords=("axes fraction", "data"), va="center")
    ax.set_xticks(range(len(kinds)), list(kinds.values()))
    ax.set(yscale="log", xlim=(-0.5, len(kinds) - 0.5))
    ax.grid(axis="x", visible=False)
