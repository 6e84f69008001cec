"""Names, colours and readings that several analyses of the theory share."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, ClassVar

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from featlearn.core.drawing.plots import COLOURS, PALETTE
from featlearn.core.evidence.claim_methods import Claims, premise
from featlearn.core.evidence.claims import needs
from featlearn.core.evidence.stats import per_replicate

#: Models from what learns no features to what learns all: the words that a reader sees, and what
#: their colour stands for in figures that show them.
MODELS = {
    "majority": ("Most frequent class", ""),
    "raw_linear": ("Linear classifier on the summed patches", "raw input"),
    "random": ("Random kernels + new head", "random features"),
    "random_many": ("1,000 random kernels + new head", "random features"),
    "extremes": ("Extremes of the patches + new head", "random features"),
    "moments": ("Second moments of the patches + new head", "random features"),
    "supervised": ("Supervised, fixed blocks, as trained", "supervised"),
    "supervised_head": ("Supervised, fixed blocks + new head", "supervised, new head"),
    "supervised_all": ("Supervised, head trained too, as trained", ""),
    "supervised_all_head": ("Supervised, head trained too + new head", "supervised, more"),
    "supervised_masked": ("Supervised under masks, as trained", ""),
    "supervised_masked_head": ("Supervised under masks + new head", "supervised, masked"),
    "pretrained": ("Mask reconstruction + new head", "mask reconstruction"),
    "finetuned": ("Mask reconstruction, fine-tuned + new head", ""),
}
LABELS = {model: words for model, (words, _) in MODELS.items()}
MODEL_COLOURS = {model: PALETTE[concept] for model, (_, concept) in MODELS.items() if concept}
MODEL_COLOURS["finetuned"] = COLOURS["sky"]
#: Of the two kinds of pre-training that the theory treats. The green of MAE is that of a network on
#: pictures: here, without SimMIM beside it, it is mask reconstruction itself.
FRAMEWORK_COLOURS = {
    "teacher-student": PALETTE["teacher-student"],
    "MAE": PALETTE["mask reconstruction"],
}
#: Features that nobody learned.
UNLEARNED = ("raw_linear", "random", "random_many", "extremes", "moments")
#: What could make learned features unnecessary, and supervised training in every form.
BASELINES = (
    *UNLEARNED, "supervised", "supervised_head", "supervised_all", "supervised_all_head",
    "supervised_masked", "supervised_masked_head",
)  # fmt: skip
SINGLE = "accuracy_single_view"
#: Ends what is told of claims that became one.
MERGED = "on 2026-11-25 after their results were seen; the band is theirs."


class Quoted:
    """What the paper says, where several claims rest on it."""

    HALF = "“the conventional SL only has a half test accuracy on single-view test data”"
    LOTTERY = "“SL only randomly captures some features due to lottery ticket hypothesis”"
    ONE_FEATURE = "“a convolution kernel in the encoder captures at most a feature”"
    BETTER = "“MRP provably achieves better performance than SL on the classification tasks”"
    SUPERIOR = ("“MRP enjoys superior test performance to that of end-to-end supervised learning "
                "on the downstream tasks”")  # fmt: skip


#: Lines at a level that is known beforehand: chance or a limit; a threshold or an end.
DOTTED: dict[str, Any] = {"color": COLOURS["ink"], "linewidth": 0.8, "linestyle": ":"}
DASHED: dict[str, Any] = {"color": COLOURS["ink"], "linewidth": 0.9, "linestyle": "--"}
#: Sizes and lengths below which the bands of claims on the clean data were not derived.
of_clean_data = needs(clean__data__classes=10, clean__replicates=10,
                      clean__pretraining__max_steps=6000, clean__supervised__steps=800)  # fmt: skip


def legend(drawn: Figure, *axes: Axes, ncols: int, **more: Any) -> None:
    """One legend below the figure, with what the axes have, each entry once."""
    found: dict[str, Any] = {}
    for ax in axes:
        handles, words = ax.get_legend_handles_labels()
        found |= zip(words, handles, strict=True)
    drawn.legend([*found.values()], [*found], loc="outside lower center", ncols=ncols, **more)


def number_ticks(ax: Axes, ticks: Iterable[float], axis: str = "y") -> None:
    """Plain numbers at these places of a logarithmic axis."""
    getattr(ax, f"set_{axis}ticks")(ticks, [f"{tick:g}" for tick in ticks])
    ax.minorticks_off()


class Models(Claims):
    """Numbers of models, paired: all of a replicate saw the same features and samples.

    ``section``: of the paper's config, for the premise. ``evaluation``: a row a model and quantity.
    """

    section: ClassVar[str]

    @premise("<=")
    def noise_within(self) -> tuple[float, float]:
        r"""$\gamma \leq \sigma_0 / k$ (Assumption H.1, constant and logarithms as 1)"""
        data, network = (self.config[self.section][key] for key in ("data", "network"))
        return data["feature_noise"], network["sigma_0"] / data["classes"]

    @premise("<=")
    def few_kernels(self) -> tuple[float, float]:
        r"""$m \leq \sqrt{k}$ (Assumption 1)"""
        of = self.config[self.section]
        return of["network"]["kernels_per_class"], of["data"]["classes"] ** 0.5

    def of(self, model: str, quantity: str) -> np.ndarray:
        return per_replicate(self.evaluation, model=model, quantity=quantity)

    def lead(self, model: str, other: str, quantity: str) -> np.ndarray:
        return self.of(model, quantity) - self.of(other, quantity)

    def lead_over_best(self, model: str, others: Sequence[str], quantity: str) -> np.ndarray:
        """Over the one that is best in the mean; chosen on the numbers judged, to its advantage."""
        best = max((self.of(other, quantity) for other in others), key=np.mean)
        return self.of(model, quantity) - best
