"""Theorem 3.4 and appendix E: what the network has become at the end."""

from __future__ import annotations

import math

from featlearn.contrastive.claims.shared import always, ratio
from featlearn.contrastive.claims.stages.reading import ATOMS, above_floor, claim, seen
from featlearn.core.claims import Claim, difference

LOG_D = math.log(ATOMS)


CLAIMS: tuple[Claim, ...] = (
    claim(
        "theorem-3.4-coverage",
        source="Theorem 3.4(a)",
        statement="Every atom is learned by some singleton.",
        quantity="share of atoms with a singleton at the end",
        low=0.97,
        high=1.0,
        reason="The theorem says all; one miss in 32 is allowed.",
        measure=seen("covered"),
    ),
    claim(
        "theorem-3.4-alignment",
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
        "theorem-3.4b",
        source="Theorem 3.4(b) / E.1(b): |alpha_ij| <= O(1 / (d^2 lambda)) for non-members",
        statement="A singleton has next to nothing along other atoms.",
        quantity="largest |alpha_ij| beyond the own atom times d^2 lambda, mean over singletons",
        low=0.0,
        high=1.0,
        reason="The theorem, with constant 1.",
        measure=lambda frames: seen("others_absolute")(frames) * ATOMS**2 * 0.001,
    ),
    claim(
        "theorem-3.4c",
        source="Theorem 3.4(c) / E.1(c): |beta_ij| <= O(1 / (sqrt(d_1) d^1.5 lambda))",
        statement="And next to nothing along noise.",
        quantity="largest |beta_ij| times sqrt(d_1) d^1.5 lambda, mean over singletons",
        low=0.0,
        high=1.0,
        reason="The theorem, with constant 1.",
        measure=lambda frames: seen("dense_absolute")(frames) * 16 * ATOMS**1.5 * 0.001,
    ),
    claim(
        "theorem-3.4d-as-printed",
        source="Theorem 3.4(d), E.1(d)",
        statement="The loss ends at O(1 / log d).",
        quantity="loss over tau at the end, times log d",
        low=0.0,
        high=3.0,
        reason="Constant 3. Negatives with the same code on the support of z leave a floor of 2-3 "
        "at these sizes; a failure is expected.",
        measure=lambda frames: seen("loss")(frames) * LOG_D,
        out_of_reach=always(
            "a sample with z = 0 has chance (1 - p)^d ~ (log d)^-C_z, a quarter at d = 32."
        ),
    ),
    claim(
        "theorem-3.4d",
        source="Theorem 3.4(d), against the floor of a code of z (ours)",
        statement="The loss falls towards that of a perfect code of z.",
        quantity="(loss - floor) / (initial loss - floor) at the end",
        low=0.0,
        high=0.7,
        reason="At least a third of the way is gone after this many steps. Validation gave 0.54, "
        "still "
        "falling.",
        measure=above_floor(),
    ),
    claim(
        "e2-norm",
        source="Induction Hypothesis E.2(2)",
        statement="Norms stay bounded: ||w_i||^2 <= O(tau log d).",
        quantity="largest ||w_i||^2 over tau log d at the end",
        low=0.0,
        high=3.0,
        reason="F_j saturates at 1.4-2.6 tau log d (independent prototype); a single neuron may "
        "hold all of an atom.",
        measure=lambda frames: seen("largest_norm")(frames) ** 2 / LOG_D,
    ),
    claim(
        "e2-strength",
        source="Induction Hypothesis E.2(3)",
        statement="F_j <= O(tau log^3 d).",
        quantity="largest F_j / (tau log^3 d) at the end",
        low=0.0,
        high=1.0,
        reason="The hypothesis, with constant 1.",
        measure=seen("strength_cubed"),
    ),
    claim(
        "lemma-e5-e6",
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
        source="Induction Hypothesis E.2(4)",
        statement="Singletons of an atom stay within a constant factor.",
        quantity="smallest over largest |alpha_ij| of an atom's singletons, mean over atoms, end",
        low=0.1,
        high=1.0,
        reason="A constant factor, read as 10.",
        measure=seen("within_atom"),
    ),
    claim(
        "e2-other-atoms",
        source="Induction Hypothesis E.2(5)",
        statement="Along other atoms |alpha_ij| <= O(||w_i|| / sqrt d).",
        quantity="largest |alpha_ij| sqrt d / ||w_i|| beyond the own atom, mean over singletons",
        low=0.0,
        high=math.sqrt(2 * LOG_D),
        reason="The hypothesis, with the constant of a Gaussian maximum.",
        measure=seen("others_over_norm"),
    ),
    claim(
        "e2-dense",
        source="Induction Hypothesis E.2(6)",
        statement="Along noise |beta_ij| <= O(||w_i|| / sqrt d_1).",
        quantity="largest |beta_ij| sqrt d_1 / ||w_i||, mean over singletons",
        low=0.0,
        high=math.sqrt(2 * math.log(8 * ATOMS)),
        reason="The hypothesis, with the constant of a Gaussian maximum.",
        measure=seen("singleton_dense_over_norm"),
    ),
    claim(
        "e2-threshold-level",
        source="Induction Hypothesis E.2(7), after T2",
        statement="Thresholds stay above polylog(d) / sqrt d ||w_i||.",
        quantity="least b_i sqrt d / (||w_i|| sqrt(log d)) over neurons, at the end",
        low=1.0,
        high=1e6,
        reason="The hypothesis, with polylog(d) = sqrt(log d). Past the cap thresholds are frozen "
        "while norms still grow; a failure is expected.",
        measure=seen("bias_level"),
    ),
    claim(
        "fact-e3-rate",
        source="Fact E.3, Pr(fire) <= O(log log d / d)",
        statement="A neuron fires as rarely as its atom is active.",
        quantity="firing rate at the end over log log d / d",
        low=0.0,
        high=2.0,
        reason="The fact, with constant 2 (an independent prototype: 1.2 at d = 32).",
        measure=lambda frames: seen("firing")(frames) * ATOMS / math.log(LOG_D),
    ),
    claim(
        "fact-e3-precision",
        source="Fact E.3",
        statement="It fires only if its atom is active.",
        quantity="share of the firings of singletons in which the atom is active, at the end",
        low=0.5,
        high=1.0,
        reason="Only if, read as more often than not. sigma is 0.24 at d = 32 and samples in which "
        "the atom is silent are 25 times as frequent; a failure is expected.",
        measure=seen("firing_precision"),
        out_of_reach=always(
            "noise of size sigma = (log d)^(1/4) / sqrt d passes a threshold of the same order "
            "in a "
            "few per cent of the samples; it must be rarer than p."
        ),
    ),
    claim(
        "fact-e3-lift",
        source="Fact E.3, finite form",
        statement="It fires far more often when its atom is active than when it is not.",
        quantity="share of the firings of singletons in which the atom is active, over p",
        low=5.0,
        high=26.0,
        reason="Five times chance; 1 / p = 26 would be never else. Validation gave 8.8.",
        measure=lambda frames: seen("firing_precision")(frames) * ATOMS / math.log(LOG_D),
    ),
    claim(
        "lemma-e7",
        source="Lemma E.7",
        statement="The leak E1 from other atoms is far smaller than Psi at T2.",
        quantity="root mean square of E1 over that of Psi, singletons and their atoms, T2",
        low=0.0,
        high=0.3,
        reason="Leaks have size d_1^-1/2 = 0.06 each, with about two atoms active.",
        measure=seen("e1_over_psi", "t2"),
    ),
    claim(
        "lemma-e8",
        source="Lemma E.8",
        statement="And so is E2, from noise in the anchor.",
        quantity="root mean square of E2 over that of Psi, singletons and their atoms, T2",
        low=0.0,
        high=0.3,
        reason="As for E1, with noise of size sqrt(2) sigma instead. Validation gave 0.16.",
        measure=seen("e2_over_psi", "t2"),
    ),
    claim(
        "lemma-e9",
        source="Lemma E.9",
        statement="Phi, what the rest of a sample adds, shrinks during stage III.",
        quantity="|Phi| / ||w_i|| at the end over that at T2, root mean squares",
        low=0.0,
        high=1.0,
        reason="The lemma's bound falls from d^-1.5 to d^-1.98.",
        measure=ratio(seen("phi_over_norm"), seen("phi_over_norm", "t2")),
    ),
    claim(
        "lemma-e11-as-printed",
        source="Lemma E.11",
        statement="The comparator, singletons of every atom, has pseudo-loss O(1 / log d).",
        quantity="pseudo-loss over tau of the comparator, times log d",
        low=0.0,
        high=3.0,
        reason="Constant 3; the floor of a code of z stands in the way as for Theorem 3.4(d).",
        measure=lambda frames: seen("comparator_loss")(frames) * LOG_D,
        out_of_reach=always("the floor of a code of z is 2-3 at these sizes."),
    ),
    claim(
        "lemma-e11",
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
        source="Remark after Theorem 3.4",
        statement="The representation of a sample is that of its signal: ||f(x) - f(Mz)|| is "
        "smaller than ||f(Mz)||.",
        quantity="mean ||f(x) - f(Mz)|| over mean ||f(Mz)||, samples with z != 0, end",
        low=0.0,
        high=0.8,
        reason="Smaller by a clear margin; the noise of the firing neurons remains. Validation "
        "gave 0.59.",
        measure=ratio(seen("error_to_signal"), seen("signal_response")),
    ),
    claim(
        "after-3.4-cosine",
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
