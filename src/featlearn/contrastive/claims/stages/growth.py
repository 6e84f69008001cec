"""Decoupling by masks, and growth up to T1 and from there to T2."""

from __future__ import annotations

import math

from featlearn.contrastive.claims.shared import ratio
from featlearn.contrastive.claims.stages.reading import DECOUPLING, claim, diagonal, seen
from featlearn.core.claims import CONTROL, POSITIVE, SHARE, THEOREM, Claim

CLAIMS: tuple[Claim, ...] = (
    # ------------------------------------------------------------------ decoupling
    claim(
        "decoupling-noise",
        kind=THEOREM,
        source="Section 4; Lemma C.2",
        statement="Under RandomMask the two views share no noise: the pull along dense directions "
        "is not positive.",
        quantity="E<x+, v><x++, v> along dense directions over the same without masks",
        low=-0.12,
        high=0.0,
        reason="Exactly -p (d/d_1) / sigma^2 = -0.083, with sampling error of about 0.01.",
        measure=ratio(diagonal("complementary", "dense"), diagonal("none", "dense")),
        artefact=DECOUPLING,
    ),
    claim(
        "decoupling-signal",
        kind=THEOREM,
        source="Section 4; Lemma C.2",
        statement="And they share the signal.",
        quantity="E<x+, v><x++, v> along atoms under RandomMask, over p (1 - d/d_1)",
        low=0.9,
        high=1.1,
        reason="Exact in expectation; sampling error of a few per cent.",
        measure=lambda frames: (
            diagonal("complementary", "sparse")(frames)
            / frames["decoupling"]
            .query("masking == 'complementary' and first == second and exact > 0")["exact"]
            .mean()
        ),
        artefact=DECOUPLING,
    ),
    claim(
        "decoupling-independent-masks",
        kind=CONTROL,
        source="Control (ours) to Definition 2.3",
        statement="Two independent masks do not decouple: noise is shared as without masks.",
        quantity="E<x+, v><x++, v> along dense directions over the same without masks",
        low=0.9,
        high=1.1,
        reason="Exactly 1: E[4 D_r D'_s] = 1 for all r, s.",
        measure=ratio(diagonal("independent", "dense"), diagonal("none", "dense")),
        artefact=DECOUPLING,
    ),
    # ------------------------------------------------------------------ T1
    claim(
        "theorem-c1-1",
        kind=THEOREM,
        possible=SHARE,
        source="Theorem C.1(1)",
        statement="At T1 at least half of every neuron lies in span(M).",
        quantity="least share of ||w_i||^2 in span(M) at T1, over neurons",
        low=0.5,
        high=1.0,
        reason="The theorem. By the closed form every neuron is above 0.9 when the slowest has "
        "grown fourfold.",
        measure=seen("least_signal_share", "t1"),
    ),
    claim(
        "theorem-c1-2",
        kind=THEOREM,
        possible=SHARE,
        source="Theorem C.1(2)",
        statement="At T1 lucky neurons are above the line: |alpha_ij| >= (1 + gamma c0) "
        "sqrt(2 log d / d) ||w_i||.",
        quantity="share of lucky pairs above it",
        low=0.99,
        high=1.0,
        reason="The theorem says all. It needs 1 - O(c0) of the norm in span(M), and so a G of at "
        "least c0^-1/2; at G = 4 pairs that were barely lucky fall short.",
        measure=seen("lucky_above", "t1"),
    ),
    claim(
        "theorem-c1-3",
        kind=THEOREM,
        possible=SHARE,
        source="Theorem C.1(3)",
        statement="And pairs outside M_j are below it.",
        quantity="share of such pairs with |alpha_ij| <= (1 - gamma c0) sqrt(2 log d / d) ||w_i||",
        low=0.999,
        high=1.0,
        reason="The theorem says all; ratios of the alpha_ij are frozen in stage I.",
        measure=seen("others_below", "t1"),
    ),
    claim(
        "theorem-c1-4",
        kind=THEOREM,
        possible=POSITIVE,
        source="Theorem C.1(4)",
        statement="A neuron has at most O(d 2^-sqrt(log d)) atoms with |alpha_ij| >= "
        "log^(1/4) d / sqrt d ||w_i||.",
        quantity="mean number of such atoms over d 2^-sqrt(log d), at T1",
        low=0.0,
        high=1.0,
        reason="The theorem, with constant 1.",
        measure=seen("large_atoms", "t1"),
    ),
    claim(
        "theorem-c1-5",
        kind=THEOREM,
        possible=POSITIVE,
        source="Theorem C.1(5)",
        statement="Dense coordinates are at most O(sqrt(log d_1 / d_1)) ||w_i||.",
        quantity="largest |beta_ij| sqrt(d_1 / log d_1) / ||w_i|| at T1, mean over neurons",
        low=0.0,
        high=math.sqrt(2),
        reason="The theorem with the constant of a Gaussian maximum, sqrt 2.",
        measure=seen("dense_over_norm", "t1"),
    ),
    claim(
        "lemma-b5",
        kind=THEOREM,
        possible=SHARE,
        source="Lemmas B.5, B.6",
        statement="With the thresholds of T1 few neurons fire on a masked sample.",
        quantity="firing rate on masked samples at T1",
        low=0.0,
        high=0.3,
        reason="The lemma's bound vanishes with d only; at d = 32 noise alone fires 17 % of the "
        "neurons, and active atoms add some.",
        measure=seen("masked_firing", "t1"),
    ),
    # ------------------------------------------------------------------ T1 to T2
    claim(
        "d1-lucky",
        kind=THEOREM,
        possible=SHARE,
        source="Induction Hypothesis D.1(a)",
        statement="Lucky neurons stay above their threshold.",
        quantity="share of lucky pairs with |alpha_ij| >= (1 + c0) b_i at T2",
        low=0.9,
        high=1.0,
        reason="The hypothesis says all; some of the barely lucky lose.",
        measure=seen("lucky_above_bias", "t2"),
    ),
    claim(
        "d1-others",
        kind=THEOREM,
        possible=SHARE,
        source="Induction Hypothesis D.1(b)",
        statement="Pairs outside M_j stay below it.",
        quantity="share of them with |alpha_ij| <= (1 - c0) b_i at T2",
        low=0.98,
        high=1.0,
        reason="The hypothesis says all; growth is smooth around the threshold (closed form), so "
        "that some neurons below it still make it.",
        measure=seen("others_below_bias", "t2"),
    ),
    claim(
        "d1-near-threshold",
        kind=THEOREM,
        possible=POSITIVE,
        source="Induction Hypothesis D.1(c)",
        statement="Few atoms have alpha_ij^2 >= b_i^2 / sqrt(log d).",
        quantity="their mean number over d 2^-sqrt(log d), at T2",
        low=0.0,
        high=1.0,
        reason="The hypothesis, with constant 1.",
        measure=seen("atoms_near_bias", "t2"),
    ),
    claim(
        "d1-threshold-level",
        kind=THEOREM,
        possible=POSITIVE,
        source="Induction Hypothesis D.1(e)",
        statement="||w_i||^2 <= d b_i^2 / log d from T1 to T2.",
        quantity="least b_i sqrt d / (||w_i|| sqrt(log d)) over neurons, at T2",
        low=1.0,
        high=10.0,
        reason="sqrt 2 at T1, and b / ||w|| never falls before the cap.",
        measure=seen("bias_level", "t2"),
    ),
    claim(
        "theorem-d5-singletons",
        kind=THEOREM,
        possible=SHARE,
        source="Theorem D.5(a)",
        statement="At T2 a constant share of the neurons are singletons.",
        quantity="share of neurons with more than half of their squared norm along one atom, T2",
        low=0.1,
        high=1.0,
        reason="Omega(1), read as a tenth; T2 is when the first neuron has grown, most follow. "
        "Validation gave 0.19.",
        measure=seen("singletons", "t2"),
    ),
    claim(
        "theorem-d5-within-atom",
        kind=THEOREM,
        possible=SHARE,
        source="Theorem D.5",
        statement="Singletons of an atom are within a constant factor of the largest.",
        quantity="smallest over largest |alpha_ij| of an atom's singletons at T2, mean over atoms",
        low=0.1,
        high=1.0,
        reason="A constant factor, read as 10.",
        measure=seen("within_atom", "t2"),
    ),
)
