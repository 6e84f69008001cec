"""Theorem 3.4 and appendix E: what the network has become at the end."""

from __future__ import annotations

import math
from collections.abc import Mapping

import numpy as np
import pandas as pd

from featlearn.contrastive.claims.shared import EXCUSED, ratio
from featlearn.contrastive.claims.stages.reading import above_floor, claim, seen
from featlearn.core.claims import OBSERVATION, POSITIVE, SHARE, THEOREM, Claim, difference

#: The arm whose decay is inside the interval of Theorem 3.4.
DECAY = "theory-decay"
#: A sample with z = 0 has a code of which nothing tells the positive from the N negatives.
FLOOR = (
    "A code of z cannot tell the positive from N negatives where z = 0, which has the chance "
    "(1 - p)^d: loss over tau, times log d, is at least (1 - p)^d log d log(1 + N), with the 256 "
    "negatives of these runs 5.4 at d = 32 and 5.5 at d = 10^6, and more with more of them."
)
#: What was said of Theorem 3.4(b) and (c) as if all neurons lived.
SURVIVORS = (
    "Was told as the theorem's statement on all singletons; with this decay 43 % of the atoms have "
    "none (`theorem-3.4-decay` fails), and those that live are what is measured (a review). Band "
    "and number are the same; an observation since."
)


def _shrunk(frames: Mapping[str, pd.DataFrame]) -> np.ndarray:
    """``|Phi| / ||w||`` at the end over that at T2; 1 where there was nothing at T2."""
    before, after = seen("phi_over_norm", "t2")(frames), seen("phi_over_norm")(frames)
    return np.divide(after, before, out=np.ones_like(after), where=before > 0)


CLAIMS: tuple[Claim, ...] = (
    claim(
        "theorem-3.4-coverage",
        kind=THEOREM,
        possible=SHARE,
        source="Theorem 3.4(a)",
        statement="Every atom is learned by some singleton.",
        quantity="share of atoms with a singleton at the end",
        low=0.97,
        high=1.0,
        reason="The theorem says all; one miss in 32 is allowed. Pilots gave 0.97 and 1.",
        measure=seen("covered"),
    ),
    claim(
        "theorem-3.4-alignment",
        kind=THEOREM,
        possible=SHARE,
        source="Theorem 3.4(a); Induction Hypothesis E.2(1)",
        statement="Neurons that were lucky at the start end aligned with their atom.",
        quantity="mean |alpha_ij| / ||w_i|| of lucky pairs at the end",
        low=0.7,
        high=1.0,
        reason="Omega(1); a singleton has at least 0.71.",
        measure=seen("lucky_alignment"),
    ),
    claim(
        "lottery-precision",
        kind=THEOREM,
        possible=SHARE,
        source="Definition of M*_j; Theorem D.5",
        statement="A lucky neuron becomes a singleton of its atom.",
        quantity="share of lucky pairs (i, j) in which i is a singleton of j at the end",
        low=0.8,
        high=1.0,
        reason="The theorem says all; pairs that were barely lucky may lose.",
        measure=seen("lucky_came_true"),
    ),
    claim(
        "lottery-recall",
        kind=THEOREM,
        possible=SHARE,
        source="Definition of M*_j, converse (as the proof suggests)",
        statement="Singletons are those that were lucky.",
        quantity="share of singletons at the end that were lucky for their atom",
        low=0.9,
        high=1.0,
        reason="With hard gates the others could not grow. The gates are smooth at finite d: "
        "neurons below the threshold can win; a failure is expected.",
        measure=seen("singletons_foreseen"),
    ),
    claim(
        "theorem-3.4-decay",
        kind=THEOREM,
        possible=SHARE,
        source="Theorem 3.4(a), lambda in [d^-1.499, d^-1.001]",
        statement="Every atom is learned with the decay that the theorem allows.",
        quantity="share of atoms with a living singleton at the end, lambda = d^-1.499, kb = 0",
        low=0.97,
        high=1.0,
        reason="As for the smaller decay. In a pilot most neurons died, though the thresholds grew "
        "with the norms only; a failure is expected.",
        measure=seen("covered", arm=DECAY),
    ),
    claim(
        "theorem-3.4b",
        kind=OBSERVATION,
        possible=POSITIVE,
        source="Theorem 3.4(b) / E.1(b): |alpha_ij| <= O(1 / (d^2 lambda)), on those that live",
        statement="Of the singletons that live with the theorem's decay, each has next to nothing "
        "along other atoms.",
        quantity="largest |alpha_ij| beyond the own atom times d^2 lambda, mean over living "
        "singletons, at lambda = d^-1.499",
        low=0.0,
        high=1.0,
        reason="The theorem, with constant 1 and the least decay that it allows. Pilots gave "
        "0.15; without a mask, at the decay of the other arms, it would be above 1.",
        changed=SURVIVORS,
        measure=seen("others_over_bound", arm=DECAY),
    ),
    claim(
        "theorem-3.4c",
        kind=OBSERVATION,
        possible=POSITIVE,
        source="Theorem 3.4(c) / E.1(c): |beta_ij| <= O(1 / (sqrt(d_1) d^1.5 lambda)), on those "
        "that live",
        statement="Of the singletons that live with the theorem's decay, each has next to nothing "
        "along noise.",
        quantity="largest |beta_ij| times sqrt(d_1) d^1.5 lambda, mean over living singletons, at "
        "lambda = d^-1.499",
        low=0.0,
        high=1.0,
        reason="As before. Pilots gave 0.4.",
        changed=SURVIVORS,
        measure=seen("dense_over_bound", arm=DECAY),
    ),
    claim(
        "theorem-3.4d-as-printed",
        kind=THEOREM,
        possible=POSITIVE,
        source="Theorem 3.4(d), E.1(d)",
        statement="The loss ends at O(1 / log d).",
        quantity="loss over tau at the end, times log d",
        low=0.0,
        high=3.0,
        reason="Constant 3. Negatives with the same code on the support of z leave a floor of 2-3 "
        "at these sizes; a failure is expected.",
        measure=seen("loss_times_log"),
        asymptotic=FLOOR,
        changed=EXCUSED,
    ),
    claim(
        "theorem-3.4d",
        kind=OBSERVATION,
        source="Theorem 3.4(d), against the floor of a code of z (ours)",
        statement="The loss falls towards that of a perfect code of z.",
        quantity="(loss - floor) / (initial loss - floor) at the end",
        low=0.0,
        high=0.7,
        reason="At least a third of the way is gone after this many steps.",
        changed="The end was set after a validation that gave 0.54, still falling.",
        measure=above_floor(),
    ),
    claim(
        "e2-norm",
        kind=THEOREM,
        possible=POSITIVE,
        source="Induction Hypothesis E.2(2)",
        statement="At d = 32 the largest ||w_i||^2 ends within a factor of three of tau log d.",
        quantity="largest ||w_i||^2 over tau log d at the end",
        low=0.333,
        high=3.0,
        reason="F_j saturates at 1.4-2.6 tau log d (independent prototype); a single neuron may "
        "hold all of an atom. Downwards the same factor: a network that does not grow is none of "
        "which the bound says anything.",
        changed="From 0, which weights that never grow meet (a review); the number was known.",
        measure=seen("norm_over_bound"),
    ),
    claim(
        "lemma-e5-e6",
        kind=THEOREM,
        possible=POSITIVE,
        source="Lemmas E.5, E.6",
        statement="F_j = sum_i alpha_ij^2 grows to the order of tau log d and no further.",
        quantity="F_j / (tau log d) at the end, mean over atoms",
        low=0.9,
        high=3.0,
        reason="Order 1: an independent prototype at other sizes gave 1.4-2.6.",
        measure=seen("strength_mean"),
    ),
    claim(
        "e2-within-atom",
        kind=THEOREM,
        possible=SHARE,
        source="Induction Hypothesis E.2(4)",
        statement="At d = 32 the singletons of an atom end within a factor of ten.",
        quantity="smallest over largest |alpha_ij| of an atom's singletons at the end, mean over "
        "the atoms with two or more (0 if there are none)",
        low=0.1,
        high=1.0,
        reason="A constant factor, read as 10; one d cannot tell that it is constant.",
        measure=seen("within_atom"),
    ),
    claim(
        "fact-e3-precision",
        kind=THEOREM,
        possible=SHARE,
        source="Fact E.3",
        statement="A singleton fires only if its atom is active.",
        quantity="share of the firings of singletons in which the atom is active, at the end",
        low=0.5,
        high=1.0,
        reason="Only if, read as more often than not. Samples in which the atom is silent are far "
        "more frequent, and noise passes the threshold in some of them; a failure is expected.",
        measure=seen("firing_precision"),
        changed=EXCUSED,
    ),
    claim(
        "fact-e3-lift",
        kind=OBSERVATION,
        possible=POSITIVE,
        source="Fact E.3, finite form",
        statement="A singleton fires far more often when its atom is active than when it is not.",
        quantity="share of the firings of singletons in which the atom is active, over p",
        low=5.0,
        high=math.inf,
        reason="Five times chance, which is 1.",
        changed="The end was set after a validation that gave 8.8.",
        measure=seen("precision_over_active"),
    ),
    claim(
        "lemma-e7",
        kind=THEOREM,
        possible=POSITIVE,
        source="Lemma E.7",
        statement="The leak E1 from other atoms is far smaller than Psi at T2.",
        quantity="root mean square of E1 over that of Psi, singletons and their atoms, T2",
        low=0.0,
        high=0.3,
        reason="Leaks have size d_1^-1/2 each, with about two atoms active.",
        measure=seen("e1_over_psi", "t2"),
    ),
    claim(
        "lemma-e8",
        kind=THEOREM,
        possible=POSITIVE,
        source="Lemma E.8",
        statement="The leak E2 from noise in the anchor is far smaller than Psi at T2.",
        quantity="root mean square of E2 over that of Psi, singletons and their atoms, T2",
        low=0.0,
        high=0.3,
        reason="As for E1, with noise of size sqrt(2) sigma instead. Validation gave 0.16.",
        measure=seen("e2_over_psi", "t2"),
    ),
    claim(
        "lemma-e9",
        kind=THEOREM,
        source="Lemma E.9",
        statement="Phi, what the rest of a sample adds, falls to half or less in stage III.",
        quantity="|Phi| / ||w_i|| at the end over that at T2, root mean squares over the "
        "singletons of either moment; 1 without singletons at T2",
        low=0.0,
        high=0.5,
        reason="The lemma's bound falls from d^-1.5 to d^-1.98, by a factor of 5 at d = 32; half "
        "is clear.",
        changed="A difference below 0 since a run at smoke had no singletons at T2 to divide by; "
        "a review asked for a ratio, as any fall met that (desk: -.0015), before it was seen.",
        measure=_shrunk,
    ),
    claim(
        "lemma-e11-as-printed",
        kind=THEOREM,
        possible=POSITIVE,
        source="Lemma E.11",
        statement="The comparator, singletons of every atom, has pseudo-loss O(1 / log d).",
        quantity="pseudo-loss over tau of the comparator, times log d",
        low=0.0,
        high=3.0,
        reason="Constant 3; the floor of a code of z stands in the way as for Theorem 3.4(d).",
        measure=seen("comparator_loss_times_log"),
        asymptotic=FLOOR,
        changed=EXCUSED,
    ),
    claim(
        "lemma-e11",
        kind=OBSERVATION,
        source="Lemma E.11, against the floor (ours)",
        statement="The comparator is at least as good as the network that training found.",
        quantity="(pseudo-loss - floor) of the comparator over (loss - floor) of the network, end",
        low=0.0,
        high=1.0,
        reason="It has the same features without what is left of noise. But its gates are those of "
        "the network: they open on noise, and thresholds are subtracted that its own sizes do not "
        "match. Validation gave 1.4; a failure is expected.",
        measure=ratio(above_floor("comparator_loss"), above_floor()),
    ),
    claim(
        "after-3.4",
        kind=THEOREM,
        possible=POSITIVE,
        source="Remark after Theorem 3.4",
        statement="The representation of a sample is that of its signal: ||f(x) - f(Mz)|| is "
        "smaller than ||f(Mz)||.",
        quantity="mean ||f(x) - f(Mz)|| over mean ||f(Mz)||, samples with z != 0, end",
        low=0.0,
        high=0.8,
        reason="Smaller by a clear margin; the noise of the firing neurons remains.",
        changed="The end was set after a validation that gave 0.59.",
        measure=ratio(seen("error_to_signal"), seen("signal_response")),
    ),
    claim(
        "after-3.4-cosine",
        kind=THEOREM,
        source="Remark after Theorem 3.4",
        statement="Training turns the representation from noise to signal.",
        quantity="mean cosine of f(x) and f(Mz) at the end minus at the start",
        low=0.4,
        high=1.0,
        reason="From sqrt(2 / (2 + sigma^2 d_1)) = 0.3 at the start to most of 1. Validation "
        "gave 0.55.",
        measure=difference(seen("cosine_signal"), seen("cosine_signal", "start")),
    ),
)
