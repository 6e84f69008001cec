"""What must hold of probes, fine-tuning and the contrastive loss beside them."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial

import numpy as np
import pandas as pd

from featlearn.core.claims import (
    CONTROL,
    DIFFERENCE_OF_SHARES,
    SHARE,
    THEOREM,
    Claim,
    Measure,
    needs,
)
from featlearn.universality.claims.ladders import TWENTY
from featlearn.universality.words import CR, FT, LP, ours

FOLDER = "universality/measurements/remedy"
Frames = Mapping[str, pd.DataFrame]
OURS = ours(0.1)


def _cells(frames: Frames, method: str) -> pd.DataFrame:
    """Test accuracy: a row a replicate, a column a mixture and number of labels."""
    own = frames["tuned"]
    own = own[(own["method"] == method) & (own["mixture"] > 0)]
    return own.pivot_table(index="replicate", columns=["mixture", "labels"], values="value")


def _gain(first: str, second: str, *, last: bool, few: bool) -> Measure:
    """``first`` less ``second`` at the first or last mixture, at 5 % of the labels or all."""

    def of(frames: Frames) -> np.ndarray:
        gain = _cells(frames, first) - _cells(frames, second)
        mixtures, labels = (sorted(set(gain.columns.get_level_values(at))) for at in (0, 1))
        return gain[mixtures[-1 if last else 0], labels[1 if few else -1]].to_numpy()

    return of


def mean_gain(frames: Frames) -> np.ndarray:
    """Gain of Ours over FT, mean over mixtures and numbers of labels."""
    return (_cells(frames, OURS) - _cells(frames, FT)).mean(axis=1).to_numpy()


def _more_with_diversity(frames: Frames) -> np.ndarray:
    after = _gain(CR, LP, last=True, few=False)(frames)
    return after - _gain(CR, LP, last=False, few=False)(frames)


def fall(frames: Frames, method: str) -> np.ndarray:
    """Fall with all labels from a pre-training on the target to one on all tasks."""
    own = _cells(frames, method)
    mixtures, labels = (sorted(set(own.columns.get_level_values(at))) for at in (0, 1))
    return (own[mixtures[0], labels[-1]] - own[mixtures[-1], labels[-1]]).to_numpy()


def from_scratch(frames: Frames, labels: int | None = None) -> np.ndarray:
    """Gain of fine-tuning from the target's pre-training over that from the random start.

    Parameters
    ----------
    labels
        How many 5 % are; by default the second of all numbers of labels.
    """
    own = frames["tuned"]
    few = sorted(own["labels"].unique())[1] if labels is None else labels
    own = own[(own["method"] == FT) & (own["labels"] == few)]
    wide = own.pivot_table(index="replicate", columns="mixture", values="value")
    return (wide[1] - wide[0]).to_numpy()


def trained(frames: Frames) -> np.ndarray:
    """Least training accuracy of a pre-trained and fine-tuned network, by replicate."""
    own = frames["tuned"]
    own = own[own["method"].isin((FT, OURS)) & (own["mixture"] > 0)]
    return own.groupby("replicate")["training"].min().to_numpy()


def _purer(frames: Frames) -> np.ndarray:
    wide = frames["purities"].pivot_table(index="replicate", columns="method", values="value")
    return (wide[OURS] - wide[FT]).to_numpy()


#: What was changed after which result.
_TUNED = (
    "The thesis' weight of .1 alone and 32 samples a step, after a pilot on other streams in which "
    "fine-tuning beat the probe at 5 % of the labels and a weight of 1 was worse than none. "
)
_claim = partial(
    Claim, artefact=f"{FOLDER}/tuned.parquet", possible=DIFFERENCE_OF_SHARES,
    changed=_TUNED + TWENTY,
    out_of_reach=needs(remedy__steps=400, ladders__replicates=5, ladders__steps=400),
    quantity="difference of accuracies on the target, replicate by replicate",
)  # fmt: skip
_SHEET = "From two seeds on other streams, longer pre-training and shorter fine-tuning: "

CLAIMS = (
    _claim("universality/probe-wins-few", THEOREM, "Table F.5", low=0, high=1,
           statement="With 5 % of the labels a probe beats fine-tuning (same pre-training).",
           reason=_SHEET + ".15 to .2; the thesis has 3 points at CINIC-10.",
           measure=_gain(LP, FT, last=False, few=True)),
    _claim("universality/fine-tuning-wins-many", THEOREM, "Tables 7.1 and F.5", low=0.02, high=1,
           statement="With all labels fine-tuning beats a probe (pre-trained on all tasks).",
           reason=_SHEET + ".06; the thesis has 17 points.",
           measure=_gain(FT, LP, last=True, few=False)),
    _claim("universality/ours-beats-fine-tuning", THEOREM, "Tables 7.1 and F.5", low=0, high=1,
           statement="A contrastive loss of weight .1 helps fine-tuning.",
           quantity="accuracy of Ours less FT, mean over mixtures and numbers of labels",
           reason=_SHEET + "better in twelve of twelve runs, by .003 to .03.",
           measure=mean_gain, changed=f"{_TUNED}{TWENTY} A published run had .006: the band, "
           "from 0, was kept, and other claims count a gain from .02 on only."),
    _claim("universality/fine-tuning-forgets-diversity", THEOREM, "Table 7.1", low=-1, high=0.02,
           statement="With all labels, tuned networks hardly fall as the pre-training grows.",
           quantity="fall of Ours from a pre-training on the target to one on all tasks",
           reason=_SHEET + ".001; the thesis has .9 points.",
           measure=partial(fall, method=OURS)),
    _claim("universality/contrast-on-target", THEOREM, "Table F.9", low=0.01, high=1,
           statement="The contrastive loss on the target before a probe gains more, the more "
           "diverse the pre-training was.",
           quantity="gain of CR then LP over LP after all tasks, less that after the target",
           reason=_SHEET + ".05; the thesis has 6.8 points.", measure=_more_with_diversity),
    _claim("universality/ours-purer", THEOREM, "Figure F.8", low=0, high=1,
           statement="Classes lie tighter after fine-tuning with a contrastive loss than without.",
           quantity="share of the ten nearest neighbours that have the class, difference",
           reason="The words of the thesis on its map; not piloted.", measure=_purer,
           artefact=f"{FOLDER}/purities.parquet"),
    _claim("universality/pre-training-helps-tuning", CONTROL, "ours", low=0.02, high=1,
           statement="Fine-tuning is better from the pre-training than from the random start.",
           reason="If not, what is compared is not transfer; 5 % of the labels.",
           measure=from_scratch),
    _claim("universality/tuned-to-the-end", CONTROL, "ours", low=0.9, high=1, possible=SHARE,
           statement="Every fine-tuned network has learned its labels.",
           quantity="least training accuracy over methods, mixtures and numbers of labels",
           reason="What has not learned its labels cannot be compared.", measure=trained),
)  # fmt: skip
