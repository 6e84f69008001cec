"""What the synthetic experiments of chapter 2 must show.

Rates are chosen inside a run, on the validation samples of a pilot; the bands rest on the exact
moments of the laws, on the thesis' printed results and on pilots with other streams, one replicate
of parity and one of interval labels.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial

import numpy as np
import pandas as pd

from featlearn.core.claims import (
    CONTROL,
    DIFFERENCE_OF_SHARES,
    OBSERVATION,
    POSITIVE,
    SHARE,
    THEOREM,
    Claim,
    Measure,
    OutOfReach,
    needs,
)
from featlearn.emergence.reading import accuracies, at_the_end, by_replicate, rows

_FILE = "emergence/measurements/curves/{}.parquet"
#: Cosine with the relevant direction from which a first step counts as one: of random directions
#: in 100 dimensions the largest of 300 has about .3.
MOVED = 0.9


def _reach(cell: str, pairs: int, samples: int) -> OutOfReach:
    """Sizes of desk: fewer neurons or samples were not tried in the pilots."""
    at = f"curves__{cell}__"
    return needs(
        **{
            f"{at}replicates": 5,
            f"{at}pairs": pairs,
            f"{at}samples__train": samples,
            f"{at}data__patterns": 100,
        }
    )


def _test(cell: str, arm: str) -> Measure:
    return lambda frames: accuracies(frames["values"], cell, arm, "test").to_numpy()


def _gain(cell: str, *opponents: str) -> Measure:
    """Test accuracy of the network over the best of the opponents, in pairs."""

    def measure(frames: Mapping[str, pd.DataFrame]) -> np.ndarray:
        best = pd.concat(
            [accuracies(frames["values"], cell, arm, "test") for arm in opponents], axis=1
        ).max(axis=1)
        return (accuracies(frames["values"], cell, "network", "test") - best).to_numpy()

    return measure


def _one(cell: str, arm: str, quantity: str, *, structured: bool = True, at: int = 0) -> Measure:
    return lambda frames: by_replicate(
        rows(frames["values"], cell=cell, structured=structured, arm=arm, dimension=at), quantity
    ).to_numpy()


def _asking(frames: Mapping[str, pd.DataFrame]) -> np.ndarray:
    """Share of samples with y g < 1 after step 1; 0 where no neuron has come to the direction."""
    own = rows(frames["values"], cell="parity", structured=True, arm="one_step")
    cosine = rows(own, dimension=own.loc[own["dimension"] > 0, "dimension"].min())
    moved = by_replicate(cosine, "largest_cosine") >= MOVED
    return by_replicate(rows(own, dimension=0), "asking").where(moved, 0.0).to_numpy()


def _norm_ratio(frames: Mapping[str, pd.DataFrame]) -> np.ndarray:
    both = [_one("parity", "two_step", "norm", structured=s)(frames) for s in (True, False)]
    return both[0] / both[1]


def _fall(arm: str) -> Measure:
    """How far the largest cosine falls from the smallest to the largest dimension."""

    def measure(frames: Mapping[str, pd.DataFrame]) -> np.ndarray:
        own = rows(frames["values"], cell="parity", structured=True, arm=arm,
                   quantity="largest_cosine")  # fmt: skip
        wide = own.pivot_table(index="replicate", columns="dimension", values="value")
        return (wide.iloc[:, 0] - wide.iloc[:, -1]).to_numpy()

    return measure


def _beyond_noise(frames: Mapping[str, pd.DataFrame]) -> np.ndarray:
    """``1 - cosine`` of the median neuron after step 2 over what sampling noise explains."""
    own = rows(frames["values"], cell="parity", structured=True, arm="two_step")
    cosine = by_replicate(rows(own, dimension=int(own["dimension"].max())), "median_cosine")
    noise = by_replicate(own, "noise_cosine")
    return ((1 - cosine) / (1 - noise)).to_numpy()


def _smallest_hinge(frames: Mapping[str, pd.DataFrame]) -> np.ndarray:
    """Of the fixed features, over all arms and recorded steps: the most favourable to them."""
    own = rows(frames["values"], cell="parity", structured=True, quantity="hinge")
    fixed = own[own["arm"].isin(["ntk", "rf"])]
    return fixed.groupby("replicate")["value"].min().to_numpy()


def _end_of(arm: str) -> Measure:
    return lambda frames: at_the_end(
        rows(frames["values"], cell="parity", structured=True, arm=arm), "test"
    ).to_numpy()


_parity = partial(Claim, artefact=_FILE.format("parity"), out_of_reach=_reach("parity", 300, 20000))
_interval = partial(
    Claim, artefact=_FILE.format("interval"), out_of_reach=_reach("interval", 100, 20000)
)


def _learned(
    cell: str, source: str, words: str, pairs: int, samples: int, changed: str = ""
) -> Claim:
    return Claim(
        f"emergence/network-{cell}", THEOREM, source, f"A trained network learns {words}.",
        changed="The pilot that chooses the rates runs all the steps, after one of half the steps "
        f"had chosen rates that gave .85 ± .06 from 10,000 samples; band kept.{changed}",
        reason="100 % is printed; a hundredth is left for test samples.",
        measure=_test(cell, "network"), artefact=_FILE.format(cell),
        out_of_reach=_reach(cell, pairs, samples), low=0.99, high=1.0,
        possible=SHARE, quantity="test accuracy after the last step",
    )  # fmt: skip


CLAIMS = (
    _learned("parity", "Theorem 2.1, Table A.1", "parity labels on structured inputs", 300, 20000),
    _learned("interval", "Table A.2", "interval labels", 100, 20000),
    _learned("negatives-90", "Table A.4", "parity with nine negatives to a positive", 300, 20000,
             " 600 steps and a further pair of rates, after desk had .970."),
    _learned("samples-10000", "Table A.5", "parity from 10,000 samples, m = 50", 50, 10000,
             " 800 steps and a further pair of rates, after desk had .943 [.868, 1]."),
    _parity(
        "emergence/fixed-features-fall-short", THEOREM, "Theorem 2.2, Table A.1",
        "On parities of structured inputs fixed features, at the length and penalty that suit them "
        "best, stay behind a trained network.",
        "test accuracy of the network minus that of the better of NTK and random features",
        0.1, 1.0,
        "The best threshold has 27/32, 0.16 below; a third of that is left to what the NTK gains "
        "over it in the thesis (86.4 %).",
        _gain("parity", "ntk", "rf"), possible=DIFFERENCE_OF_SHARES,
        changed="The sentence names its labels, after a review of a published run; of interval "
        "labels a linear classifier is right.",
    ),
    _parity(
        "emergence/shift-invariant-falls-short", THEOREM, "Corollary 2.3",
        "On parities of structured inputs random features of a shift-invariant kernel, at the "
        "width and penalty that suit them best, stay behind a trained network.",
        "test accuracy of the network minus that of a converged head on 300 Fourier features of an "
        "RBF kernel",
        0.1, 1.0,
        "As for the other fixed features: the best threshold has 27/32, 0.16 below, and a third of "
        "that is left to what the kernel gains over it. Fixed before the kernel was measured on "
        "these labels.",
        _gain("parity", "rbf"), possible=DIFFERENCE_OF_SHARES,
        changed="Converged heads instead of ridge regression and wider kernels, after unequal "
        "classes had shown that those suit the kernel better; at the same time 300 features in "
        "place of 600, which does not. Band kept. The sentence names the features, after a review: "
        "so few of them are not the kernel.",
    ),
    Claim(
        "emergence/weights-of-classes-matter", OBSERVATION, "ours, behind appendix A.8",
        "With nine negatives to a positive the two full steps need the loss that weighs classes.",
        "mean of both labels' test accuracies of the network minus that after two steps by the "
        "plain loss, same batches, rates chosen for each by the plain accuracy of a pilot",
        0.05, 1.0,
        "By the plain loss the second step moves biases by the output weight times 0.4, some 1.6 "
        "where a neuron's whole range is 1, so that most are silent or saturated; what is left may "
        "still learn, and a twentieth is five times what test samples scatter. Fixed before it was "
        "measured in a run; an early check, on other streams, had ended at .91 of all labels "
        "without weights and at 1 with them.",
        lambda frames: (
            accuracies(frames["values"], "negatives-90", "network", "balanced")
            - accuracies(frames["values"], "negatives-90", "unweighted", "balanced")
        ).to_numpy(),
        _FILE.format("negatives-90"), _reach("negatives-90", 300, 20000),
        possible=DIFFERENCE_OF_SHARES,
    ),
    _parity(
        "emergence/linear-falls-short", CONTROL, "section 2.2",
        "Parity labels on structured inputs are not read off the raw input by a linear classifier.",
        "test accuracy of the network minus that of a converged linear classifier",
        0.12, 1.0, "A linear classifier has at most 27/32 on average; test samples scatter.",
        _gain("parity", "linear"), possible=DIFFERENCE_OF_SHARES,
    ),
    _interval(
        "emergence/interval-needs-features", CONTROL, "appendix A.7.1",
        "Interval labels from 20 to all 30 patterns need learned features: no linear classifier "
        "on the raw input has them.",
        "test accuracy of a converged linear classifier", 0.5, 0.95,
        "What a linear classifier solves cannot show that features are learned. No count exceeds "
        "30, so a threshold at 20 gives every label: the claim is expected to fail.",
        _test("interval", "linear"), possible=SHARE,
    ),
    _parity(
        "emergence/structure-is-needed", THEOREM, "Theorem 2.4, Table A.1",
        "Without the structure of the inputs the network does not learn parities.",
        "test accuracy after the last step, inputs of fair bits", 0.47, 0.53,
        "Chance; 0.03 are four standard errors of 5,000 test samples.",
        _test("parity", "flat"), possible=SHARE,
    ),
    _parity(
        "emergence/structure-makes-the-gradient", THEOREM, "Lemma 2.6, Theorem 2.4",
        "Without structure the first gradients are sampling noise: what the second step makes of "
        "them is far shorter.",
        "median length of the weights after step 2, with structure over without", 8.0, np.inf,
        "sqrt(1 + 4 k gamma^2 n / D) = 16 if both neurons' reaches are alike; half of it.",
        _norm_ratio, possible=POSITIVE,
    ),
    _parity(
        "emergence/second-step-aligns", THEOREM, "Lemmas A.14 to A.16",
        "After two steps the weights point along the sum of the relevant patterns as closely as "
        "finitely many samples allow.",
        "1 - cosine of the median neuron over the closed form for sampling noise", 0.75, 1.35,
        "The noise is a sum of 95 squares, which scatters by 15 % a replicate; a pilot gave 1.1.",
        _beyond_noise, possible=POSITIVE,
    ),
    _parity(
        "emergence/first-step-stays-small", THEOREM, "Lemma A.13",
        "After a first step that turns weights to the relevant patterns every sample still counts "
        "in the hinge loss.",
        "share of training samples with y g < 1; 0 unless the largest cosine with the relevant "
        f"direction is {MOVED} or more, smallest d", 0.999, 1.0, "Printed: with high probability.",
        _asking, possible=SHARE,
        changed="Stricter after a review of a published run: without any step, too, the share is "
        "1, so that weights must have moved.",
    ),
    _parity(
        "emergence/two-steps-suffice", THEOREM, "Lemma A.17, Table A.1",
        "A head on the features after two steps has all labels.",
        "test accuracy of the converged head", 0.99, 1.0, "100 % is printed.",
        _test("parity", "two_step"), possible=SHARE,
    ),
    _parity(
        "emergence/one-step-is-chance", THEOREM, "Table A.1",
        "The best head on the features after one step stays at chance.",
        "test accuracy of the converged head", 0.45, 0.6,
        "52.2 % is printed, of the best classifiers on these features; how they are trained is not "
        "said, and one that stops early, or takes the features as small as they are, may stay at "
        "chance: none is run here. With the theory's rate the features after one step are a "
        "constant plus an affine function of the right direction, a billionth in size; a "
        "standardised head can read it, so that the best threshold's 27/32 is expected and the "
        "claim to fail.",
        _test("parity", "one_step"), possible=SHARE,
        changed="Sentence and reason say which head, after a review of a published run.",
    ),
    _parity(
        "emergence/one-step-cosine-falls", THEOREM, "Table A.3",
        "The cosine after one step falls with the dimension of the input.",
        "largest cosine at the smallest d minus that at the largest", 0.2, 0.6,
        "0.967 - 0.560 is printed. The theory's step forgets the start completely, so that nothing "
        "is left that could depend on d: the claim is expected to fail.",
        _fall("one_step"), possible=(-2.0, 2.0),
    ),
    _parity(
        "emergence/half-kept-cosine-falls", OBSERVATION, "ours, behind Table A.3",
        "If the first step keeps half of the start, its cosine falls with the dimension.",
        "largest cosine at the smallest d minus that at the largest", 0.2, 0.6,
        "As printed. The share that is kept and the rate were chosen by the printed cosines, in "
        "earlier runs with other streams.",
        _fall("partial_one_step"), possible=(-2.0, 2.0),
        changed="The share of the start that is kept, and the rate: chosen by the printed cosines "
        "after earlier runs with other streams; band as printed.",
    ),
    _parity(
        "emergence/first-gradient", THEOREM, "Lemma 2.6, Lemmas A.9 to A.11",
        "The first gradient has on every relevant pattern the part beta gamma / scale, with beta "
        "the share of samples at which the neuron is in its linear part.",
        "relative distance of the part along the relevant direction to the lemma's, median neuron",
        0.0, 0.1,
        "Sampling noise is a hundredth at 20,000 samples; ten times that is left to how the part "
        "depends on the neuron's own weights.",
        _one("parity", "one_step", "lemma_error"), possible=POSITIVE,
    ),
    _parity(
        "emergence/theory-rates-learn", THEOREM, "Theorems 2.1 and A.20, Table A.1",
        "A network learns in its T steps with the theory's rate after the two full steps, too.",
        "test accuracy after the last step at the theory's rate", 0.99, 1.0,
        "100 % is printed. Its sizes lie far below what the theorem asks for, and the rate is the "
        "same for output weights as for others: an end at the best threshold's 27/32 is expected "
        "and the claim to fail.",
        _end_of("theory-1"), possible=SHARE,
    ),
    _parity(
        "emergence/fixed-features-hinge", THEOREM, "Theorem 2.2",
        "Fixed features have a hinge loss of about p_o = 1/2 at least, where the network has none. "
        "(The theorem's own bound says nothing at k = 5 and so many features.)",
        "test hinge loss, the smallest over NTK and random features and over the training",
        0.45, np.inf,
        "The best affine function of the number of relevant patterns has exactly 1/2; a tenth less "
        "for what finitely many features add.",
        _smallest_hinge, possible=POSITIVE,
    ),
    Claim(
        "emergence/hidden-aligns", OBSERVATION, "ours, behind Figure A.11",
        "With hidden representation, too, two steps turn the weights to one direction: that of the "
        "patterns' correlations with the label.",
        "cosine of the median neuron with it after two steps", 0.975, 1.0,
        "Sampling noise at 20,000 samples leaves 0.988; tables of 100 prototypes scatter by 0.004.",
        lambda frames: by_replicate(
            rows(frames["values"], cell="hidden", arm="two_step"), "median_cosine"
        ).to_numpy(),
        _FILE.format("hidden"), _reach("hidden", 300, 20000), possible=SHARE,
    ),
)  # fmt: skip
