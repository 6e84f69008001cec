"""How far kernels align with noise. Reads frames, imports no torch."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pandas as pd
from matplotlib.lines import Line2D

from featlearn.core.plots import COLOURS, canvas
from featlearn.core.publish import Config, figure
from featlearn.mrp.claims.noise import leading, scales
from featlearn.mrp.figures.keep_probability import FRAMEWORK_COLOURS

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

#: Kinds of patches: words, unit of Lemma F.6, and what stands at its line.
KINDS = {
    "own": ("patches of\nwinner's own\nfeature", "sigma_0", r"$\sigma_0\sqrt{2\ln n}$"),
    "other": ("patches of\nother\nfeatures", "sigma_0", r"$\sigma_0\sqrt{2\ln n}$"),
    "background": (
        "patches\nwithout a\nfeature", "sigma_0_gamma_k", r"$\sigma_0\gamma k\sqrt{2\ln n}$",
    ),
}  # fmt: skip
STYLES = {
    ("before", "training"): ("o", "initial kernels, training noise"),
    ("after", "training"): ("o", "pre-trained kernels, training noise"),
    ("after", "fresh"): ("D", "pre-trained kernels, fresh noise"),
}


@figure()
def noise_alignment(teacher_student: pd.DataFrame, noise: pd.DataFrame, config: Config) -> Figure:
    """Kernels do not align with noise

    Largest inner product of a kernel with the Gaussian noise of a patch, one mark a replicate, by kind
    of patch, for both ways of pre-training. A winner's own patches are those of the feature that it
    holds most; where no grey dot stands, no initial kernel holds a feature. Dashes: the orders that
    Lemma F.6 gives, sigma_0 on feature patches and sigma_0 gamma k on patches without a feature, times
    sqrt(2 ln n), which the largest of n Gaussian values is near (n pairs of kernel and patch, after
    training). *What to see:* numbers in brackets are the largest in units of the dashes. On own patches
    {{ said("mrp/t14-noise-own-patches", holds="teacher-student winners stay below half of the order",
            fails="teacher-student winners pass half of the order") }};
    {{ said("mrp/t14-noise-own-patches-mae", holds="MAE winners stay below half of it",
            fails="MAE winners pass half of it") }}. On patches without a feature
    {{ said("mrp/t14-noise-background", holds="teacher-student kernels stay within three times the order",
            fails="teacher-student kernels pass three times the order") }};
    {{ said("mrp/t14-noise-background-mae", holds="MAE kernels stay within three times the order",
            fails="MAE kernels pass three times the order") }}. Training noise over fresh noise, a ratio:
    {{ said("mrp/t14-noise-not-memorised", holds="after teacher-student training nothing is memorised",
            fails="after teacher-student training the noise of the training samples stands out") }};
    {{ said("mrp/t14-noise-not-memorised-mae", holds="after MAE nothing is memorised",
            fails="after MAE the noise of the training samples stands out") }}.
    """
    panels = {
        "teacher-student": (teacher_student, config["teacher_student"]),
        "MAE": (noise, config["clean"]),
    }
    drawn = canvas(8.2, 3.6)
    axes = drawn.subplots(1, len(panels), sharey=True)
    for ax, (name, (measured, section)) in zip(axes, panels.items(), strict=True):
        _noise_panel(ax, measured, scales(section), FRAMEWORK_COLOURS[name])
        ax.set_title("masked autoencoder (MAE)" if name == "MAE" else name)
    axes[0].set_ylabel(r"largest $|\langle w_r, \xi_p\rangle|$ (log scale)")
    handles = [
        Line2D([], [], linestyle="", marker=marker, markersize=4, label=words,
               color=COLOURS["grey" if when == "before" else "ink"],
               markerfacecolor="none" if which == "fresh" else None)
        for (when, which), (marker, words) in STYLES.items()
    ]  # fmt: skip
    drawn.legend(handles=handles, loc="outside lower center", ncols=3, fontsize=8)
    return drawn


def _noise_panel(ax: Axes, noise: pd.DataFrame, units: pd.DataFrame, colour: str) -> None:
    for place, (kind, (_, unit, text)) in enumerate(KINDS.items()):
        own = noise[noise["patches"] == kind]
        for shift, ((when, which), (marker, _)) in enumerate(STYLES.items()):
            values = own[(own["when"] == when) & (own["samples"] == which)]["largest"].to_numpy()
            values = values[values > 0]  # a replicate whose kernels hold nothing yet has no winner
            spread = np.linspace(-0.07, 0.07, values.size)
            ax.plot(place + 0.24 * (shift - 1) + spread, values, marker, markersize=4, alpha=0.8,
                    color=colour if when == "after" else COLOURS["grey"],
                    markerfacecolor="none" if which == "fresh" else None)  # fmt: skip
        trained = own[(own["when"] == "after") & (own["samples"] == "training")]
        order = float(units[unit].iloc[0] * leading(trained["pairs"].to_numpy()).mean())
        ax.hlines(order, place - 0.42, place + 0.42, color=COLOURS["ink"], linewidth=0.9,
                  linestyle="--")  # fmt: skip
        # marks of background patches lie above their line
        side, va = (-3, "top") if kind == "background" else (3, "bottom")
        ax.annotate(text, (place, order), xytext=(0, side), textcoords="offset points", ha="center",
                    va=va, fontsize=8)  # fmt: skip
    ax.set_xticks(range(len(KINDS)), [words for words, _, _ in KINDS.values()])
    ax.set(yscale="log", xlim=(-0.5, len(KINDS) - 0.5))
    ax.margins(y=0.12)
    ax.grid(axis="x", visible=False)
