"""Theorem 3.2 and appendix F: without augmentation no feature is learned."""

from __future__ import annotations

from featlearn.contrastive.claims.shared import always, ratio
from featlearn.contrastive.claims.stages.reading import ATOMS, claim, seen
from featlearn.core.claims import (
    DIFFERENCE_OF_SHARES,
    OBSERVATION,
    POSITIVE,
    SHARE,
    THEOREM,
    Claim,
    difference,
)

CLAIMS: tuple[Claim, ...] = (
    claim(
        "theorem-3.2-loss",
        kind=THEOREM,
        possible=POSITIVE,
        source="Theorem 3.2",
        statement="Without augmentation the contrastive loss goes to zero.",
        quantity="loss at the end over the initial one (that of tiny weights)",
        low=0.0,
        high=0.1,
        reason="0, read as a tenth after this many steps.",
        measure=ratio(seen("loss", "end", "unmasked"), seen("loss", "start", "masked")),
    ),
    claim(
        "theorem-3.2-cosine",
        kind=THEOREM,
        source="Theorem 3.2: cos(f(x), f(xi)) >= 1 - 1/poly(d)",
        statement="Without augmentation the representation of a sample is that of its noise.",
        quantity="mean cosine of f(x) and f(xi) at the end",
        low=0.9,
        high=1.0,
        reason="For isotropic weights it is sigma sqrt(d_1) / sqrt(sigma^2 d_1 + log log d), 0.96 "
        "here; growth in span(M) takes some of it away.",
        measure=seen("cosine_noise", "end", "unmasked"),
    ),
    claim(
        "no-augmentation-no-singletons",
        kind=THEOREM,
        possible=SHARE,
        source="Theorem 3.2",
        statement="Without augmentation no neuron learns an atom.",
        quantity="share of singletons at the end",
        low=0.0,
        high=0.001,
        reason="None.",
        measure=seen("singletons", "end", "unmasked"),
    ),
    claim(
        "retrieval-misleads",
        kind=OBSERVATION,
        possible=DIFFERENCE_OF_SHARES,
        source="Control (ours): the task is solved with bad features",
        statement="The positive is retrieved better without augmentation, where features are bad.",
        quantity="share of anchors whose positive wins, without minus with RandomMask, end",
        low=0.5,
        high=1.0,
        reason="Without masks the positive is the anchor itself; a code of z is shared by many.",
        measure=difference(seen("retrieval", "end", "unmasked"), seen("retrieval")),
    ),
    claim(
        "lemma-f3",
        kind=THEOREM,
        possible=POSITIVE,
        source="Lemma F.3",
        statement="Without augmentation sum ||w_i||^2 reaches the order of tau d.",
        quantity="sum ||w_i||^2 / (tau d) at the end",
        low=1.0,
        high=20.0,
        reason="Omega(d polylog), with constant 1; an upper end for runaway.",
        measure=lambda frames: seen("squared_norm", "end", "unmasked")(frames) / ATOMS,
    ),
    claim(
        "fact-f4-as-printed",
        kind=THEOREM,
        possible=POSITIVE,
        source="Fact F.4: the share in span(M) stays 1 / poly(d)",
        statement="Without augmentation neurons do not turn to span(M).",
        quantity="share of ||w_i||^2 in span(M) at the end over d / d_1",
        low=0.0,
        high=1.5,
        reason="d / d_1 at the start; at most half as much again.",
        measure=lambda frames: seen("signal_share", "end", "unmasked")(frames) * 8,
        out_of_reach=always(
            "span(M) grows at p + sigma^2 and the rest at sigma^2; their ratio is 1.7 at all d "
            "that a computer can hold."
        ),
    ),
    claim(
        "fact-f4",
        kind=THEOREM,
        possible=SHARE,
        source="Fact F.4, finite form",
        statement="Noise keeps most of every neuron.",
        quantity="share of ||w_i||^2 in span(M) at the end, mean over neurons",
        low=0.0,
        high=0.5,
        reason="Less than half: from a start near saturation growth ends before span(M) wins.",
        measure=seen("signal_share", "end", "unmasked"),
    ),
)
