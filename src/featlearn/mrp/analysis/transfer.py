"""What the paper's discussion says about transfer; it runs no such experiment.

The rate of fine-tuning is chosen for each replicate on the others.
"""

from __future__ import annotations

import numpy as np
import pandas as pd
from matplotlib.figure import Figure

from featlearn.core.drawing.intervals import Look, rows, share_interval
from featlearn.core.drawing.plots import PALETTE, canvas
from featlearn.core.evidence.claim_methods import Claims, claim
from featlearn.core.evidence.claims import DIFFERENCE_OF_SHARES, THEOREM, first_of, needs
from featlearn.core.evidence.frames import pick
from featlearn.core.evidence.stats import per_replicate
from featlearn.core.run.exhibits import Config, figure
from featlearn.mrp.labels import MERGED, SINGLE, of_clean_data

#: What could do without pre-training.
RIVALS = ("random", "supervised", "supervised_head")
#: Recipes in the order of the story.
LOOKS = {
    "probe": Look("Mask rec.", PALETTE["mask reconstruction, frozen"]),
    "finetuned": Look("Mask rec. + fine-tuning", PALETTE["mask reconstruction"]),
    "continued": Look("Mask rec.\ncontinued on the new task",
                      PALETTE["mask reconstruction, continued"]),
    "random": Look("Random kernels", PALETTE["random features"]),
    "supervised": Look("Supervised from scratch,\nas trained", PALETTE["supervised"]),
    "supervised_head": Look("Supervised from scratch,\nnew head", PALETTE["supervised, new head"]),
}  # fmt: skip
#: What a fine-tuning rate is chosen by: accuracy on all classes, both kinds of data alike.
CRITERIA = ("accuracy_multi_view", SINGLE)


def chosen_elsewhere(score: np.ndarray) -> np.ndarray:
    """For each replicate, the setting that is best on all the others, so never chosen on itself.

    ``score`` (settings, R): higher is better; the first of equal ones wins. Returns an array (R,)
    of indices. A single replicate has no others and gets its own best.
    """
    if score.shape[1] == 1:
        return score.argmax(0)
    # sums are rounded: settings that are equal on the others must not be told apart by rounding
    others = (score.sum(1, keepdims=True) - score).round(9)
    return others.argmax(0)


def reported(accuracy: pd.DataFrame) -> pd.DataFrame:
    """Of the fine-tuned networks of a case, for each replicate only that of the chosen rate.

    ``accuracy``: ``transfer/accuracy.parquet``.
    """
    keep = accuracy["recipe"] != "finetuned"
    criteria = pick(accuracy, recipe="finetuned", classes="all", quantity=CRITERIA)
    for case, own in criteria.groupby("case"):
        score = own.pivot_table(index="encoder_rate", columns="replicate", values="value")
        best = score.index.to_numpy()[chosen_elsewhere(score.to_numpy())]
        rate = accuracy["replicate"].map(dict(zip(score.columns, best, strict=True)))
        keep |= (accuracy["case"] == case) & (rate == accuracy["encoder_rate"])
    return accuracy[keep].reset_index(drop=True)


@figure()
def transfer(accuracy: pd.DataFrame, config: Config) -> Figure:
    """Does pre-training help on new tasks?

    *What to see:* {{ said("mrp/t19-beats-opponents", holds="in every case pre-training beats random kernels and
    training from scratch", fails="pre-training does not beat random kernels and training from scratch in every case")
    }}.

    Single-view accuracy on the old classes (1), some (2a), all and new ones (2b), some and new ones (3). Teal, ours:
    mask reconstruction continued. Dots: replicates; ticks: means with 95 % intervals.
    """
    shown = pick(reported(accuracy), quantity=SINGLE)
    panels = [(name, case, classes) for name, case in config["cases"].items()
              for classes in (("old", "new") if case["new_classes"] else ("old",))]  # fmt: skip
    down = (len(panels) + 2) // 3
    drawn = canvas(8.6, 0.5 + 2.2 * down)
    axes = drawn.subplots(down, 3, squeeze=False, sharex=True, sharey=True)
    for ax, (name, case, classes) in zip(axes.flat, panels, strict=False):
        own = pick(shown, case=name, classes=classes)
        for place, (recipe, look) in enumerate(LOOKS.items()):
            # a place a recipe, whether the case has it or not
            if (own["recipe"] == recipe).any():
                rows(ax, own, "recipe", looks={recipe: look}, first=place, errorbar=share_interval)
        # ``2a-fewer-features`` reads ``2a, fewer features``
        words = name.replace("-", ", ", 1).replace("-", " ")
        ax.set_title(f"{words}:\n{case[f'{classes}_classes']} {classes} classes", fontsize=9)
    for ax in axes.flat[len(panels) :]:
        ax.set_axis_off()
    axes[0, 0].set_ylim(len(LOOKS) - 0.5, -0.5)
    axes[0, 0].set_yticks(range(len(LOOKS)), [look.words for look in LOOKS.values()])
    for ax in axes[-1]:
        ax.set_xlabel("single-view accuracy")
    return drawn


class Transfer(Claims):
    paper = "mrp"
    out_of_reach = first_of(of_clean_data, needs(
        transfer__finetuning__steps=100, transfer__supervised__steps=250, transfer__continued__max_steps=2000))  # fmt: skip

    @claim("Discussion, transfer (VA)",
           "accuracy on all classes (mean of multi-view and single-view), head on fine-tuned kernels minus the best of: "
           "head on random kernels, supervised as trained, head on its kernels; paired over replicates; of the cases 1, "
           "2a, 2b and 3 the one with the smallest mean", kind=THEOREM, low=0.0, high=1.0, possible=DIFFERENCE_OF_SHARES,
           changed=f"Merged from t19-case-1-, t19-case-2a-, t19-case-2b- and t19-case-3-beats-opponents {MERGED} The "
           "baselines and converged heads came after an earlier version had compared with supervised training alone, and "
           "with heads that did not fit their training data.",
           paper_says="“MRP still improves the overall transfer learning performance”", failure="not reproduced")  # fmt: skip
    def t19_beats_opponents(self):
        """In four cases of new tasks, pre-training beats random kernels and training from scratch.

        An improvement is a difference above 0. The paper has three cases, of which the second is split here: old features in another mixture (1), some of them (2a), all of them
        and new classes (2b), some of them and new ones (3). The printed case 2 has $V$ in $V'$; its argument only
        works for $V'$ in $V$.
        """
        frame = reported(self.accuracy)

        def right(case, recipe):
            return np.mean([per_replicate(frame, case=case, recipe=recipe, classes="all", quantity=quantity)
                            for quantity in CRITERIA], axis=0)  # fmt: skip

        leads = [right(case, "finetuned") - max((right(case, one) for one in RIVALS), key=np.mean)
                 for case in frame["case"].unique()]  # fmt: skip
        return min(leads, key=np.mean)
