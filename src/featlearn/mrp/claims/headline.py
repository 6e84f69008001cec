"""Where features are needed: mask reconstruction against everything that could do without it.

Bands rest on the theory and on a first pilot with other random streams (four replicates, all heads
converged). Multi-view / single-view accuracy: linear classifier on the summed patches .68 / .36,
random kernels 1.00 / .89, supervised as trained 1.00 / .69 (.80 of the features captured), its
kernels with a new head 1.00 / .84, mask reconstruction 1.00 / .96 (all captured). The data were
chosen for this experiment after it was seen that a linear classifier solves the clean data.

A first run, stopped at three times the step of capture, led the best opponent by .035 +- .045 over
ten replicates: too short, as a second pilot showed (four replicates, further streams), in which
accuracy on single-view data rose from .93 at 250 steps to 1.00 at 1500. Pre-training and supervised
training now both make 1500 steps, on fresh streams; what is asked of accuracy on single-view data
rose from .90 to .95.
"""

from __future__ import annotations

from typing import Any

from featlearn.core.claims import (
    CONTROL,
    DIFFERENCE_OF_SHARES,
    SHARE,
    THEOREM,
    Claim,
    needs,
)
from featlearn.mrp.claims.common import minus, minus_best, of_model

EVALUATION = "mrp/measurements/headline/evaluation.parquet"
#: What could make features unnecessary, and supervised training in every form.
OPPONENTS = (
    "raw_linear",
    "random",
    "supervised",
    "supervised_head",
    "supervised_all",
    "supervised_all_head",
)
SINGLE, MULTI = "accuracy_single_view", "accuracy_multi_view"


#: Of all claims here.
LENGTH = (
    "Length and streams after a run of ten replicates, which stopped at three times the step of "
    "capture and led random kernels by .035 +- .045; penalty of the heads after a run at smoke."
)


def _claim(name: str, kind: str, changed: str = LENGTH, **parts: Any) -> Claim:
    reach = needs(
        headline__data__classes=10,
        headline__data__patches=80,
        headline__replicates=10,
        headline__pretraining__min_steps=1500,
        headline__supervised__steps=1500,
    )
    return Claim(
        f"mrp/headline-{name}",
        kind,
        artefact=EVALUATION,
        out_of_reach=reach,
        changed=changed,
        **parts,
    )


CLAIMS: tuple[Claim, ...] = (
    _claim(
        "captured",
        THEOREM,
        source="Theorem 1(a), part 2 (MAE); Theorem H.2",
        statement="Mask-reconstruction pre-training captures every feature of every class, under "
        "feature noise in all patches.",
        quantity="share of the 2k features with Lambda >= varrho after pre-training",
        low=0.98,
        high=1.0,
        possible=SHARE,
        reason="The theorem says all. The noise delays the last ones, so a few of the 200 may come "
        "after the cap on the steps; the pilot gave 1.0.",
        measure=of_model("pretrained", "captured"),
    ),
    _claim(
        "multi-view",
        THEOREM,
        source="Theorem 2; Theorem G.2",
        statement="A linear head on the pre-trained kernels classifies multi-view data correctly.",
        quantity="multi-view accuracy of a converged head on the pre-trained kernels",
        low=0.98,
        high=1.0,
        possible=SHARE,
        reason="The theorem says with high probability all; the pilot gave 1.00.",
        measure=of_model("pretrained", MULTI),
    ),
    _claim(
        "single-view",
        THEOREM,
        source="Theorem 2; Theorem G.2",
        statement="A linear head on the pre-trained kernels classifies nearly all single-view data "
        "correctly, though it saw none in training.",
        quantity="single-view accuracy of a converged head on the pre-trained kernels",
        low=0.95,
        high=1.0,
        possible=SHARE,
        reason="The theorem says with high probability all, at a noise far below this one; the "
        "second pilot gave 1.00.",
        changed=LENGTH + " The band, from .90, was raised to .95 then.",
        measure=of_model("pretrained", SINGLE),
    ),
    _claim(
        "beats-best-opponent",
        THEOREM,
        source="Theorem 2 against Lemma 1",
        statement="On single-view data mask reconstruction beats the best of its opponents: a "
        "linear classifier on the patches, random kernels, supervised networks with fixed and "
        "trained heads, as trained and with a new head.",
        quantity="single-view accuracy, head on pre-trained kernels minus the opponent with the "
        "largest mean, paired over replicates",
        low=0.0,
        high=1.0,
        possible=DIFFERENCE_OF_SHARES,
        reason="An advantage is a difference above 0. In the pilot random kernels were the best "
        "opponent, .07 behind. (The head on random kernels, the kernels of the start, was a "
        "control of its own; as the best opponent it had this claim's number.)",
        measure=minus_best("pretrained", OPPONENTS, SINGLE),
    ),
    _claim(
        "finetuned-beats-best-opponent",
        THEOREM,
        source="Theorem 2 against Lemma 1",
        statement="On single-view data mask reconstruction with fine-tuning beats the best of its "
        "opponents.",
        quantity="single-view accuracy, head on fine-tuned kernels minus the opponent with the "
        "largest mean, paired over replicates",
        low=0.0,
        high=1.0,
        possible=DIFFERENCE_OF_SHARES,
        reason="An advantage is a difference above 0.",
        measure=minus_best("finetuned", OPPONENTS, SINGLE),
    ),
    _claim(
        "beats-supervised",
        THEOREM,
        source="Theorem 2 against Lemma 1",
        statement="On single-view data mask reconstruction beats the network of Lemma 1 as it was "
        "trained, by a tenth or more.",
        quantity="single-view accuracy, head on pre-trained kernels minus supervised with fixed "
        "blocks, paired over replicates",
        low=0.1,
        high=1.0,
        possible=DIFFERENCE_OF_SHARES,
        reason="The limit is 1/2; the pilot gave .27, and .12 over a new head on those kernels.",
        measure=minus("pretrained", "supervised", SINGLE),
    ),
    _claim(
        "supervised-multi-view",
        THEOREM,
        source="Lemma 1 (Allen-Zhu & Li)",
        statement="Supervised training classifies multi-view data correctly under feature noise "
        "too.",
        quantity="multi-view accuracy of the supervised network with fixed blocks",
        low=0.95,
        high=1.0,
        possible=SHARE,
        reason="The lemma says with high probability all; the pilot gave 1.00. Without it what it "
        "loses on single-view data would say nothing.",
        measure=of_model("supervised", MULTI),
    ),
    _claim(
        "supervised-single-view",
        THEOREM,
        source="Lemma 1 (Allen-Zhu & Li), finite form",
        statement="Under feature noise supervised training errs on a large part of the single-view "
        "data.",
        quantity="single-view accuracy of the supervised network with fixed blocks",
        low=0.5,
        high=0.8,
        possible=SHARE,
        reason="The band of the clean data: half is the limit of many classes. The pilot gave .69.",
        measure=of_model("supervised", SINGLE),
    ),
    _claim(
        "supervised-captured",
        THEOREM,
        source="Lemma 1 (Allen-Zhu & Li)",
        statement="Under feature noise supervised training loses at least a tenth of the features.",
        quantity="share of the 2k features that a kernel of their own class captured",
        low=0.5,
        high=0.9,
        possible=SHARE,
        reason="One of two is 0.5. The lemma's noise is far smaller; under this one more features "
        "have their kernel: the pilot gave .80.",
        changed=LENGTH + " The sentence did not say how many are lost (a review).",
        measure=of_model("supervised", "captured"),
    ),
    _claim(
        "raw-linear",
        CONTROL,
        source="Control (ours)",
        statement="The data need features: a linear classifier on the patches does not solve them.",
        quantity="single-view accuracy of a converged linear classifier on the summed patches",
        low=0.1,
        high=0.6,
        possible=SHARE,
        reason="The sum of 80 patches with noise up to .05 of every feature: the pilot gave .36, "
        "chance is .1.",
        measure=of_model("raw_linear", SINGLE),
    ),
)
