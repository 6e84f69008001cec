"""The lemmas phase by phase, Theorem 4.1 and the exponents, along the population flow.

Exponents are read between the two ends of the upper half of the dimensions, replicate by replicate.
Bands rest on the theory and on pilot runs with other random streams.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
import pandas as pd

from featlearn.core.claims import (
    IDENTITY,
    OBSERVATION,
    POSITIVE,
    SHARE,
    THEOREM,
    Claim,
    Measure,
    first_of,
    needs_replicates,
)
from featlearn.core.stats import per_replicate

TIMES = "noncontrastive/measurements/phases/times.parquet"
#: The exponents of the theory are limits: they are read from here on.
FROM, TO = 1e4, 1e6
#: The case that all claims but those on the others are about.
BASE = "base"
#: Claims that are made of the other cases, too: the length of a phase.
EXPONENTS = {f"phase-{number}-exponent": f"phase_{number}" for number in (1, 2, 3)}


def _large(config: Mapping[str, Any]) -> str | None:
    return _too_small(config["phases"]["dimensions"])


def _too_small(dimensions: Sequence[float]) -> str | None:
    if min(dimensions) <= FROM and max(dimensions) >= TO:
        return None
    return f"dimensions up to {max(dimensions):g}; the band was derived for {FROM:g} to {TO:g}."


REACH = first_of(_large, needs_replicates("phases"))


def of_case(frames: Mapping[str, pd.DataFrame], case: str = BASE) -> pd.DataFrame:
    """The rows of a case."""
    times = frames["times"]
    own = times[times["case"] == case]
    if own.empty:
        raise KeyError(f"case {case}")
    return own


def at(quantity: str, end: str = "max") -> Measure:
    """The quantity at the largest or the smallest dimension."""

    def measure(frames: Mapping[str, pd.DataFrame]) -> np.ndarray:
        times = of_case(frames)
        return per_replicate(times, quantity=quantity, dimension=getattr(times["dimension"], end)())

    return measure


def exponent(quantity: str, case: str = BASE) -> Measure:
    """``d log(quantity) / d log d`` between the dimension nearest to 10**4 and the largest."""

    def measure(frames: Mapping[str, pd.DataFrame]) -> np.ndarray:
        times = of_case(frames, case)
        known = np.sort(times["dimension"].unique())
        high = known[-1]
        low = known[:-1][np.abs(np.log(known[:-1] / FROM)).argmin()]
        ratio = per_replicate(times, quantity=quantity, dimension=high) / per_replicate(
            times, quantity=quantity, dimension=low
        )
        return np.log(ratio) / np.log(high / low)

    return measure


def ratio(above: str, below: str) -> Measure:
    """One quantity over another at the largest dimension."""
    return lambda frames: at(above)(frames) / at(below)(frames)


def log10(measure: Measure) -> Measure:
    """Of what spans orders of magnitude."""
    return lambda frames: np.log10(measure(frames))


def extreme(quantity: str, how: str) -> Measure:
    """``max`` or ``min`` of a quantity over all dimensions."""

    def measure(frames: Mapping[str, pd.DataFrame]) -> np.ndarray:
        times = of_case(frames)
        own = times[times["quantity"] == quantity]
        return own.groupby("replicate")["value"].agg(how).to_numpy()

    return measure


_claim = partial(Claim, artefact=TIMES, out_of_reach=REACH)

_BASE: tuple[Claim, ...] = (
    # ---- phase I
    _claim("noncontrastive/phase-1-exponent", THEOREM,
           "Lemma 5.1", "Phase I takes d**2 / eta.",
           "exponent of T_1 in d", 1.95, 2.05, "T_1 = C_2 s**6 / (12 C_0 alpha_1**6 B_11**4) and "
           "B_11 ~ d**-1/2.", exponent("phase_1")),
    _claim("noncontrastive/phase-1-time", OBSERVATION,
           "ours, finite form of Lemma 5.1",
           "The closed form predicts T_1.", "T_1 over the prediction, largest d", 0.95, 1.05,
           "Exact but for the last, fast part of the growth.", ratio("t1", "t1_predicted"),
           possible=POSITIVE),
    _claim("noncontrastive/phase-1-neuron-2", THEOREM,
           "Lemma 5.1", "In phase I <w_2, v_1> stays of the "
           "order d**-1/2.", "|<w_2, v_1>| at T_1 over its start, largest d", 0.95, 1.2,
           "Theta(d**-1/2). It grows like B**5 from a start that is less than half as large.",
           at("b21_ratio_t1"), possible=POSITIVE),
    _claim("noncontrastive/phase-1-weak", THEOREM,
           "Lemma 5.1", "Products with the weak feature keep their "
           "initial value.", "|<w_2, v_2>| at T_1 over its start, largest d", 0.98, 1.02,
           "1 +- o(1).", at("b22_ratio_t1"), possible=POSITIVE),
    _claim("noncontrastive/phase-1-head", THEOREM,
           "Lemma 5.1", "|E_21| is at most of order 1/d at T_1.",
           "exponent of |E_21| at T_1 in d", -1.1, -0.9, "O~((eta_E / eta) / d).",
           exponent("e21_t1")),
    _claim("noncontrastive/phase-1-head-other", THEOREM,
           "Lemma 5.1", "|E_12| is at most of order d**-1/2 "
           "at T_1.", "exponent of |E_12| at T_1 in d", -0.6, -0.4,
           "O~(rho + d**-1/2), rho = 0 here.", exponent("e12_t1")),
    _claim("noncontrastive/phase-1-noise", THEOREM,
           "Lemma 5.1", "Both neurons still hold noise.",
           "R_2 at T_1, largest d", 0.9, 1.0, "Theta(1); neuron 2 has not moved.", at("r2_t1"),
           possible=SHARE),
    # ---- phase II
    _claim("noncontrastive/phase-2-exponent", THEOREM,
           "Lemma 5.2", "Phase II takes d**(3/2) / eta.",
           "exponent of T_2 - T_1 in d", 1.47, 1.57, "The head is driven by <w_2, v_1>**3.",
           exponent("phase_2")),
    _claim("noncontrastive/phase-2-short", THEOREM,
           "Lemma 5.2", "Phase II is short beside phase I.",
           "(T_2 - T_1) / T_1, largest d", 0.0, 0.5, "o(1): falls like d**-1/2, and at small d "
           "phase II is the longer one. Pilots gave 0.13 at d = 10**6.",
           ratio("phase_2", "phase_1"), possible=POSITIVE),
    _claim("noncontrastive/phase-2-head", THEOREM,
           "Lemma 5.2", "|E_21| rises to Theta(sqrt(eta_E / eta)).",
           "largest |E_21| over sqrt(eta_E / (3 eta)) |w_2(0)|, smallest over d", 0.9, 1.0,
           "The bound is what the flow conserves; pilots gave 0.96 at d = 100.",
           extreme("largest_e21_of_bound", "min"), out_of_reach=None, possible=POSITIVE),
    _claim("noncontrastive/phase-2-sign", THEOREM,
           "Lemma 5.2", "E_21 has the sign of <w_1, v_1> <w_2, "
           "v_1>.", "product of the three signs at T_2, smallest over d", 1.0, 1.0, "Exact.",
           extreme("e21_sign_t2", "min"), out_of_reach=None),
    _claim("noncontrastive/phase-2-noise", THEOREM,
           "Lemma 5.2", "Neuron 1 unlearns its noise: R_1 falls "
           "like d**-3/4.", "exponent of R_1 at T_2 in d", -0.85, -0.65,
           "O~(d**-3/4), from R ~ t**-1/2.", exponent("r1_t2")),
    _claim("noncontrastive/phase-2-products", THEOREM,
           "Lemma 5.2", "All other products stay as they were.",
           "|<w_2, v_1>| at T_2 over its start, largest d", 0.95, 1.2, "1 +- o(1).",
           at("b21_ratio_t2"), possible=POSITIVE),
    _claim("noncontrastive/substitution", THEOREM,
           "Lemma 5.2", "On strong samples the head drowns neuron "
           "2's own output.", "|E_21 f_1| / |f_2| at T_2, exponent in d", 1.4, 1.6,
           "|E_21| (B_11 / B_21)**3.", exponent("substitution_t2")),
    # ---- phase III
    _claim("noncontrastive/phase-3-exponent", THEOREM,
           "Lemma 5.3", "Phase III takes d**(13/8) / eta.",
           "exponent of T_3 - T_2 in d", 1.6, 1.8, "Tends to 1.625 from above; by the sheet 1.65 "
           "between 10**5 and 10**6.", exponent("phase_3")),
    _claim("noncontrastive/phase-3-variance", THEOREM,
           "Lemma D.8", "Nearly all of it passes until the weak "
           "feature outweighs the noise.", "share of phase III after T_{3,1}, largest d", 0.0, 0.01,
           "What follows takes d**(1/4) and less.", ratio("phase_3_rest", "phase_3"),
           possible=POSITIVE),
    _claim("noncontrastive/phase-3-monotone", THEOREM,
           "Lemma 5.3", "<w_2, v_2> only rises and R_2 only "
           "falls.", "recorded steps of phase III against the direction, largest over d", 0.0, 0.0,
           "Exact.", extreme("phase_3_not_monotone", "max"), out_of_reach=None, possible=POSITIVE),
    _claim("noncontrastive/phase-3-head", THEOREM,
           "Lemma 5.3", "|E_21| stays of order sqrt(eta_E / eta) "
           "until T_3.", "|E_21| at T_3 over its bound, largest d", 0.3, 1.0,
           "By T_3 (0.9 of the norm) it is on its way back: (1 - 0.9**2)**0.5 = 0.44 of the bound.",
           at("e21_of_bound_t3"), possible=POSITIVE),
    _claim("noncontrastive/phase-3-head-other", THEOREM,
           "Lemma 5.3", "|E_12| is at most of order 1/d.",
           "exponent of the largest |E_12| in d", -1.15, -0.85, "O~(1/d).",
           exponent("largest_e12")),
    _claim("noncontrastive/phase-3-noise-1", THEOREM,
           "Lemma 5.3", "R_1 at T_3 is at most of order d**-3/4.",
           "exponent of R_1 at T_3 in d", -0.9, -0.7, "O~(d**-3/4).", exponent("r1_t3")),
    _claim("noncontrastive/phase-3-noise-2", THEOREM,
           "Lemma 5.3", "At the end of phase III, T_3, the noise R_2 of the second neuron is of an "
           "order between d**-1/2 and d**-1/4.", "exponent of R_2 at T_3 in d", -0.5, -0.25,
           "[O~(d**-1/2), O~(d**-1/4)].",
           exponent("r2_t3"), changed="An earlier band went on to -0.2, for the sake of logarithms "
           "that O~ hides; it would have been met."),
    _claim("noncontrastive/phase-3-borrowed", THEOREM,
           "Lemma 5.3", "<w_2, v_1> is kept: neuron 2 does not "
           "learn v_1.", "|<w_2, v_1>| at T_3 over its start, largest d", 0.95, 1.2, "1 +- o(1).",
           at("b21_ratio_t3"), possible=POSITIVE),
    _claim("noncontrastive/phase-3-overshoot", OBSERVATION,
           "ours, from the conserved norms",
           "Neuron 1 holds the norm of both while the head is at work.",
           "largest |<w_1, v_1>|, largest d", 1.3, 1.42, "At most sqrt(2); it is what E_21 is fed "
           "by.", at("largest_b11"), possible=POSITIVE),
    # ---- acceleration along the flow
    _claim("noncontrastive/acceleration", THEOREM,
           "Lemma 5.3", "Normalisation holds back what neuron 2 would gain along the strong "
           "feature, and nothing holds back the weak one.",
           "exponent of H_21 / H_22 at T_{3,1} in d", 0.65, 1.5,
           "Of the order of R_2**-3, with R_2 between d**-1/2 and d**-1/4: 3/4 to 3/2; "
           "logarithms may take a tenth.", exponent("h_ratio_t3_variance")),
    _claim("noncontrastive/acceleration-wins", THEOREM,
           "Lemma 5.3, section 5.2", "In phase III neuron 2 comes to be pushed more along the "
           "weak feature, where it had been pushed less.",
           "log10 of its push along the weak over the strong "
           "feature, at T_{3,1}, smallest over d", 1.0, math.inf, "A factor of ten is clear; at "
           "equal products it starts at the ratio of the strengths to the sixth power, 1/64.",
           log10(extreme("push_ratio_t3_variance", "min")), out_of_reach=None,
           changed="The ratio of the gains alone, Lambda_22 / Lambda_21, was judged until a run: "
           "it is larger by orders of magnitude."),
    # ---- the end
    _claim("noncontrastive/end-head-time", THEOREM,
           "Proposition 5.4", "The head returns in a time without "
           "d.", "exponent of T_4 - T_3 in d", -0.1, 0.1, "alpha_1**O(1) / eta.",
           exponent("phase_end")),
    _claim("noncontrastive/end-head", THEOREM,
           "Proposition 5.4", "In the end the head is the identity.",
           "off-diagonal norm at the end, largest over d", 0.0, 1e-4, "1 / poly(d).",
           extreme("end_head", "max"), out_of_reach=None, possible=POSITIVE),
    _claim("noncontrastive/end-loss", THEOREM,
           "Proposition 5.4, Corollary E.3",
           "The objective reaches its optimum.", "L - OPT at the end, largest over d", 0.0, 1e-5,
           "1 / poly(d).", lambda frames: np.abs(extreme("end_gap", "max")(frames)),
           out_of_reach=None, possible=POSITIVE),
    _claim("noncontrastive/end-noise-1", THEOREM,
           "Theorem E.2(b)", "The noise of neuron 1 fades by the "
           "closed form.", "R_1 over its prediction at the end, largest d", 0.9, 1.3,
           "R ~ t**-1/2; the clock starts with phase II, not at zero, which adds a tenth.",
           at("end_r1_of_predicted"), possible=POSITIVE),
    _claim("noncontrastive/end-noise-2", THEOREM,
           "Theorem E.2(b)", "The noise of neuron 2 fades by the closed form.",
           "R_2 over its prediction at the end, largest d", 0.9, 1.4,
           "As above, with a later start.", at("end_r2_of_predicted"), possible=POSITIVE),
    _claim("noncontrastive/theorem-4-1-strong", THEOREM,
           "Theorem 4.1", "Neuron 1 ends as the strong "
           "feature.", "|<w_1, v_1>| at the end, smallest over d", 0.95, 1.05,
           "Theta(1), and the conserved norms say 1.", extreme("end_b11", "min"),
           out_of_reach=None, possible=POSITIVE),
    _claim("noncontrastive/theorem-4-1-weak", THEOREM,
           "Theorem 4.1", "Neuron 2 ends as the weak feature.",
           "|<w_2, v_2>| at the end, smallest over d", 0.95, 1.05, "As above.",
           extreme("end_b22", "min"), out_of_reach=None, possible=POSITIVE),
    _claim("noncontrastive/theorem-4-1-rest", THEOREM,
           "Theorem 4.1", "What else a neuron holds is of order "
           "d**-1/2.", "exponent of |w_j - B v| at the end in d", -0.6, -0.4,
           "O~(d**-1/2): the products of the start, and a little noise.", exponent("end_rest")),
    _claim("noncontrastive/corollary-4-2", THEOREM,
           "Corollary 4.2", "The neurons are nearly uncorrelated.",
           "|Corr(f_1, f_2)| sqrt(d) at the end, largest over d", 0.0, 1.0,
           "The corollary's d**-1/2, with constant one.",
           extreme("end_correlation_of_bound", "max"), out_of_reach=None, possible=POSITIVE),
    _claim("noncontrastive/corollary-4-2-exponent", OBSERVATION,
           "ours, finite form of Corollary 4.2",
           "The correlation falls much faster, like d**-3/2.", "exponent of |Corr(f_1, f_2)| in d",
           -1.6, -1.4, "(alpha_1 / alpha_2)**3 times the cube of a product of order d**-1/2.",
           exponent("end_correlation")),
    # ---- identities of the flow
    _claim("noncontrastive/conserved", IDENTITY,
           "ours, behind Lemma E.7", "|w_j|**2 + (3 eta / eta_E) "
           "(E_jk**2 - E_kj**2) is conserved.", "largest drift, largest over d", 0.0, 1e-3,
           "Exact for the flow; the integrator is held to 10**-4 a step.",
           extreme("invariant_drift", "max"), out_of_reach=None, possible=POSITIVE),
)  # fmt: skip


def claims(config: Mapping[str, Any]) -> tuple[Claim, ...]:
    """The claims on the case of the config itself, and the exponents in the others."""
    others = config["phases"]["others"]
    return _BASE + tuple(claim for item in others.items() for claim in _exponents(*item))


def _exponents(case: str, other: Mapping[str, Any]) -> Iterator[Claim]:
    alpha, kappa = "{:g} and {:g}".format(*other["strengths"]), other["kappa"]

    def small(config: Mapping[str, Any]) -> str | None:
        return _too_small(config["phases"]["others"][case]["dimensions"])

    for claim in _BASE:
        name = claim.claim.rpartition("/")[2]
        if name in EXPONENTS:
            yield replace(
                claim,
                claim=f"{claim.claim}-{case}",
                statement=f"With strengths {alpha} and eta_E / eta = {kappa:g}: {claim.statement}",
                measure=exponent(EXPONENTS[name], case),
                out_of_reach=first_of(small, needs_replicates("phases")),
            )
