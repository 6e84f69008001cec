"""The three stages: what trained arms hold at each moment, and what they are good for."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
import torch
from torch import Tensor

from featlearn.contrastive.closed_forms import bias_at_t1, loss_floor
from featlearn.contrastive.data import Masking, positives
from featlearn.contrastive.experiment import WATCHED, Arm, Downstream, Experiment, on_device
from featlearn.contrastive.measure import (
    C0,
    GAMMA,
    Alignment,
    firing_precision,
    history_frame,
    mean_over,
    moment_quantities,
    quantity_frame,
)
from featlearn.contrastive.model import Batch, gradient_terms, pseudo_loss
from featlearn.contrastive.train import NOT_YET, Learner, Thresholds, printed_growth, settings
from featlearn.core.evidence.frames import tidy
from featlearn.core.files import read_tensors

if TYPE_CHECKING:
    from featlearn.core.run.job import Job
    from featlearn.core.run.outputs import Results

MOMENTS = ("start", "t1", "t2", "end")
#: Arms that have come to rest by then, or are about an early stage, have this share of the steps.
SHORT = 4
#: Most steps of the population map until T1 of the main text.
MAP_STEPS = 10_000
#: Exponent of d in the least decay of Theorem 3.4.
LEAST_DECAY = -1.499
#: Atoms along which the gradient is taken apart.
TERM_ATOMS = 8
#: Anchors and negatives of that measurement.
TERM_ANCHORS, TERM_NEGATIVES = 1024, 256
#: Directions of each kind in the decoupling matrix, and samples a replicate.
DECOUPLING_DIRECTIONS, DECOUPLING_SAMPLES = 4, 4000
#: Sizes ``kappa`` of the comparator of Lemma E.11 that are tried.
KAPPAS = (2.0, 4.0, 8.0, 16.0)
#: Draws for the floor of the loss.
FLOOR_DRAWS = 4000

State = tuple[Tensor, Tensor]


def arms(config: Mapping[str, Any]) -> dict[str, Arm]:
    """The trainings: RandomMask or not, thresholds raised or kept at zero; and three others.

    All share start, samples and masks. With thresholds at zero the network is linear and its probe
    at a plateau after a quarter of the steps. In ``-kept`` nobody dies: no decay, and thresholds
    grow with the norm only (footnote 3: "as long as the neurons are not killed"). ``sampled`` draws
    the anchors of stage I too, which the others replace by its population map. In ``theory-decay``
    the decay is the least that Theorem 3.4 allows, ``d^-1.499``, with thresholds as in ``-kept``.
    """
    norm, given = config["network"]["norm"], config["training"]
    raised, zero = Thresholds(**config["thresholds"]), Thresholds("zero")
    slow, short = replace(raised, rate=0.0), max(1, given["steps"] // SHORT)

    def arm(thresholds: Thresholds, **changes: Any) -> Arm:
        return Arm(settings(given, **changes), thresholds, norm)

    return {
        "masked": arm(raised),
        "unmasked": arm(raised, masking="none"),
        "masked-zero": arm(zero, steps=short),
        "unmasked-zero": arm(zero, steps=short, masking="none"),
        "masked-kept": arm(slow, decay=0.0),
        "unmasked-kept": arm(slow, decay=0.0, masking="none"),
        "sampled": arm(raised, steps=short, exact_stage_one=False),
        "theory-decay": arm(slow, decay=config["data"]["atoms"] ** LEAST_DECAY),
    }


def train(job: Job) -> Results:
    """Train one arm, all replicates in one program."""
    name = job.wildcards["arm"]
    experiment = Experiment("stages", job.config, job.seed, job.device)
    arm = arms(job.config)[name]
    every, downstream = job.config["record_every"], Downstream(experiment)
    done = experiment.train(arm, every, f"{job.rule} {name}", downstream)
    states = {f"{moment}.{part}": tensor
              for moment, state in done.moments.items()
              for part, tensor in zip("wb", state, strict=True)}  # fmt: skip
    return {
        "weights": {**states, "t1": done.t1, "t2": done.t2},
        "history": history_frame(name, done),
    }


def evaluate(job: Job) -> Results:
    """Measure the arms: moments, decoupling, probes."""
    config = job.config
    experiment = Experiment("stages", config, job.seed, job.device)
    trained: dict[str, dict[str, State]] = {}
    moments = list[pd.DataFrame]()
    known = arms(config)
    for path in job.files("weights"):
        name, arm = path.stem, known[path.stem]
        saved = read_tensors(path, job.device)
        states = trained[name] = {
            moment: (saved[f"{moment}.w"], saved[f"{moment}.b"]) for moment in MOMENTS
        }
        moments += moment_frames(experiment, name, arm, states)
        moments += [quantity_frame({"step": saved[moment]}, arm=name, moment=moment)
                    for moment in ("t1", "t2")]  # fmt: skip
    moments.append(quantity_frame(printed_t1(experiment), arm="population", moment="t1"))
    downstream = Downstream(experiment)
    start, _ = trained["masked"]["start"]
    models = {
        "initial": trained["masked"]["start"],
        "random-features": (start, bias_at_t1(experiment.spec.atoms) * start.norm(dim=-1)),
    }
    models |= {name: states["end"] for name, states in trained.items()}
    evaluation = [quantity_frame(downstream.encoder(*state)._asdict(), model=model)
                  for model, state in models.items()]  # fmt: skip
    frames = {"moments": moments, "evaluation": [*evaluation, downstream.baselines()],
              "decoupling": [decoupling_frame(experiment)]}  # fmt: skip
    return {name: pd.concat(parts, ignore_index=True) for name, parts in frames.items()}


def moment_frames(
    experiment: Experiment, name: str, arm: Arm, moments: Mapping[str, State]
) -> Iterator[pd.DataFrame]:
    """Everything that the theorems bound, at every moment of an arm."""
    start, _ = moments["start"]
    watch = experiment.watch(arm.training.masking, arm.training.tau)
    for moment, (w, b) in moments.items():
        alive = watch.alive(w, b)
        quantities = moment_quantities(
            w, b, start, experiment.spec, experiment.atoms, tau=arm.training.tau, alive=alive
        )
        alignment = Alignment.of(w, experiment.atoms, alive)
        known = {**quantities, **watch.behaviour(w, b),
                 **firing_precision(alignment, w, b, watch.samples)}  # fmt: skip
        log_d = math.log(experiment.spec.atoms)
        known["loss_times_log"] = known["loss"] / arm.training.tau * log_d
        if name == "masked" and moment in ("t2", "end"):
            known["phi_over_norm"] = phi_over_norm(experiment, w, b, arm.training.tau)
        yield quantity_frame(known, arm=name, moment=moment)
    last = {"floor": floor_of(experiment, arm, WATCHED)}
    if name == "masked":
        last |= comparator_quantities(experiment, arm, moments)
    yield quantity_frame(last, arm=name, moment="end")


def printed_t1(experiment: Experiment) -> dict[str, Tensor]:
    """Stage I's population map until the main text's T1, ``||w_i|| = ||w_i(0)|| / (gamma c0)``."""
    arm = arms(experiment.config)["masked"]
    growth = printed_growth(C0, GAMMA)["main text"]
    # the map is linear: from so small a start that stage I could last as long
    start = experiment.initial_weights(arm.norm / growth)
    streams = on_device(experiment.streams("population"), experiment.device)
    learner = Learner(experiment.spec, experiment.atoms, start,
                      replace(arm.training, exact_stage_one=True),
                      replace(arm.thresholds, growth=growth), streams)  # fmt: skip
    number = 0
    while number < MAP_STEPS and (learner.t1 == NOT_YET).any():
        learner.step(number := number + 1)
    known = moment_quantities(
        *learner.moments["t1"], start, experiment.spec, experiment.atoms, tau=arm.training.tau
    )
    grown = learner.moments["t1"][0].norm(dim=-1) / start.norm(dim=-1)
    return known | {"growth": grown.amin(1), "step": learner.t1.double()}


def floor_of(experiment: Experiment, arm: Arm, negatives: int) -> Tensor:
    """(R,): least loss that a code of z alone can reach, with as many negatives as watched."""
    streams = experiment.streams("loss-floor")
    drawn = [loss_floor(experiment.spec, negatives, FLOOR_DRAWS, stream) for stream in streams]
    return arm.training.tau * torch.tensor(drawn, dtype=torch.float64)


def phi_over_norm(experiment: Experiment, w: Tensor, b: Tensor, tau: float) -> Tensor:
    """(R,): Phi of Definition E.4 over the neuron's norm, root mean square over singletons."""
    drawn = experiment.samples("terms", TERM_ANCHORS + TERM_NEGATIVES)
    streams = on_device(experiment.streams("terms-masks"), experiment.device)
    x, xi = drawn.x[:, :TERM_ANCHORS], drawn.xi[:, :TERM_ANCHORS]
    anchor, positive = positives(x, streams, "complementary")
    kept = (anchor != 0).to(x.dtype)
    atoms = experiment.atoms[..., :TERM_ATOMS]
    z = drawn.z[..., :TERM_ATOMS]
    terms = gradient_terms(
        Batch(anchor, positive, drawn.x[:, TERM_ANCHORS:]),
        (z[:, :TERM_ANCHORS], z[:, TERM_ANCHORS:]),
        2 * kept * xi, w, b, atoms, tau,
    )  # fmt: skip
    seen = Alignment.of(w, experiment.atoms)
    index = torch.arange(TERM_ATOMS, device=w.device)
    own = (seen.best.unsqueeze(-1) == index) & seen.singleton.unsqueeze(-1)
    return mean_over((terms.phi / seen.norm.unsqueeze(-1)).square(), own).sqrt()


def comparator_quantities(
    experiment: Experiment, arm: Arm, moments: Mapping[str, State]
) -> dict[str, Tensor]:
    """Lemma E.11: the pseudo-loss of the comparator against the frozen network of the end.

    ``theta*_i = kappa sqrt(tau) / n_j sign(alpha_ij) M_j`` for the ``n_j`` singletons i of atom j
    at the end, else 0; the smallest pseudo-loss over :data:`KAPPAS`. (The lemma takes the lucky
    sets of the start, which are empty for a quarter of the atoms at finite d.)
    """
    tau, atoms = arm.training.tau, experiment.atoms
    seen = Alignment.of(moments["end"][0], atoms)
    own = torch.nn.functional.one_hot(seen.best, experiment.spec.atoms)
    own = own * seen.singleton.unsqueeze(-1)
    share = own / own.sum(1, keepdim=True).clamp_min(1) * seen.alpha.sign()
    theta = math.sqrt(tau) * torch.bmm(share, atoms.mT)
    batch = experiment.watch(arm.training.masking, tau).batch
    w, b = moments["end"]
    losses = [pseudo_loss(batch, kappa * theta, w, b, tau) for kappa in KAPPAS]
    least = torch.stack(losses).amin(0)
    log_d = math.log(experiment.spec.atoms)
    return {"comparator_loss": least, "comparator_loss_times_log": least / tau * log_d}


def decoupling_frame(experiment: Experiment) -> pd.DataFrame:
    """``E[<x+, v> <x++, v'>]`` for atoms and dense directions: measured, and exact."""
    spec, k = experiment.spec, DECOUPLING_DIRECTIONS
    dictionary = experiment.dictionary
    v = torch.cat([dictionary.atoms[..., :k], dictionary.complement()[..., :k]], -1)
    x = experiment.samples("decoupling", DECOUPLING_SAMPLES).x
    maskings: tuple[Masking, ...] = ("complementary", "independent", "none")
    names = [f"{kind} {j}" for kind in ("sparse", "dense") for j in range(k)]
    measured, exact = [], []
    for masking in maskings:
        streams = on_device(experiment.streams("decoupling-masks"), experiment.device)
        first, second = (torch.bmm(view, v) for view in positives(x, streams, masking))
        measured.append((torch.bmm(first.mT, second) / x.shape[1]).movedim(0, -1))
        flat = spec.atoms / spec.dimension
        diagonal = [spec.p + spec.variance, spec.variance]
        if masking == "complementary":
            diagonal = [spec.p * (1 - flat), -spec.p * flat]
        exact.append(np.diag(np.repeat(diagonal, k))[..., None])
    return tidy({"masking": maskings, "first": names, "second": names, "replicate": range(len(x))},
                measured=torch.stack(measured), exact=np.stack(exact))  # fmt: skip
