"""The three stages: what trained arms hold at each moment, and what they are good for."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pandas as pd
import torch
from torch import Tensor

from featlearn.contrastive.closed_forms import bias_at_t1, loss_floor
from featlearn.contrastive.data import Masking, SparseCoding, positives
from featlearn.contrastive.experiment import WATCHED, Arm, Downstream, Experiment, on_device
from featlearn.contrastive.gradients import Batch, gradient_terms, pseudo_loss
from featlearn.contrastive.measure import (
    EVALUATION_COLUMNS,
    MOMENT_COLUMNS,
    Alignment,
    firing_precision,
    history_frame,
    mean_over,
    moment_quantities,
    tidy,
)
from featlearn.contrastive.train import Thresholds, Training, settings
from featlearn.core.files import read_tensors
from featlearn.core.progress import Progress

if TYPE_CHECKING:
    from featlearn.core.job import Job
    from featlearn.core.outputs import Results

MOMENTS = ("start", "t1", "t2", "end")
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
DECOUPLING_COLUMNS = ("masking", "first", "second", "replicate", "measured", "exact")
LABEL_COLUMNS = ("model", "labels", "replicate", "quantity", "value")

State = tuple[Tensor, Tensor]


def arms(config: Mapping[str, Any]) -> dict[str, Arm]:
    """The trainings: RandomMask or not, thresholds raised or kept at zero; and the theory's decay.

    The four share start, length and samples, so that two of them differ in one thing. In
    ``theory-decay`` the decay is the least that Theorem 3.4 allows, ``d^-1.499``, with thresholds
    that grow with the norm only.
    """
    norm, training = config["network"]["norm"], config["training"]
    raised, zero = Thresholds(**config["thresholds"]), Thresholds("zero")
    decay = config["data"]["atoms"] ** LEAST_DECAY
    return {
        "masked": Arm(settings(training), raised, norm),
        "unmasked": Arm(settings(training, masking="none"), raised, norm),
        "masked-zero": Arm(settings(training), zero, norm),
        "unmasked-zero": Arm(settings(training, masking="none"), zero, norm),
        "theory-decay": Arm(settings(training, decay=decay), replace(raised, rate=0.0), norm),
    }


def train(job: Job) -> Results:
    """Train one arm, all replicates in one program."""
    name = job.wildcards["arm"]
    experiment = Experiment("stages", job.config, job.seed, job.device)
    arm = arms(job.config)[name]
    report = Progress(f"{job.rule} {name}", arm.training.steps).report
    done = experiment.train(arm, job.config["record_every"], report)
    states = {f"{moment}.{part}": tensor
              for moment, state in done.moments.items()
              for part, tensor in zip("wb", state, strict=True)}  # fmt: skip
    return {
        "weights": {**states, "t1": done.t1, "t2": done.t2},
        "history": history_frame(name, done),
    }


def evaluate(job: Job) -> Results:
    """Measure the arms: moments, alignment, decoupling, probes."""
    config = job.config
    experiment = Experiment("stages", config, job.seed, job.device)
    trained: dict[str, dict[str, State]] = {}
    rows: list[tuple[object, ...]] = []
    alignment = []
    for (name, arm), path in zip(arms(config).items(), job.files("weights"), strict=True):
        seen = read_tensors(path, job.device)
        own = trained[name] = {
            moment: (seen[f"{moment}.w"], seen[f"{moment}.b"]) for moment in MOMENTS
        }
        rows += moment_rows(experiment, name, arm, own)
        alignment.append(alignment_frame(experiment, own).assign(arm=name))
        for moment in ("t1", "t2"):
            rows += tidy({"step": seen[moment]}, name, moment)
    downstream = Downstream(experiment)
    start, _ = trained["masked"]["start"]
    models = {
        "initial": trained["masked"]["start"],
        "random-features": (start, bias_at_t1(experiment.spec.atoms) * start.norm(dim=-1)),
    }
    models |= {name: moments["end"] for name, moments in trained.items()}
    evaluation = [
        row
        for model, (w, b) in models.items()
        for row in tidy(downstream.encoder(w, b)._asdict(), model)
    ]
    evaluation += downstream.baselines()
    few = {name: models[name] for name in ("masked", "unmasked", "unmasked-zero")}
    labels = label_rows(downstream, few, config["probe"]["labels"])
    return {
        "moments": pd.DataFrame(rows, columns=MOMENT_COLUMNS),
        "alignment": pd.concat(alignment, ignore_index=True),
        "evaluation": pd.DataFrame(evaluation, columns=EVALUATION_COLUMNS),
        "labels": pd.DataFrame(labels, columns=LABEL_COLUMNS),
        "decoupling": pd.DataFrame(decoupling_rows(experiment), columns=DECOUPLING_COLUMNS),
    }


# --------------------------------------------------------------------------- moments


def moment_rows(
    experiment: Experiment, name: str, arm: Arm, moments: Mapping[str, State]
) -> Iterator[tuple[object, ...]]:
    """Everything that the theorems bound, at every moment of an arm."""
    start, _ = moments["start"]
    watch = experiment.watch(arm.training.masking, arm.training.tau)
    for moment, (w, b) in moments.items():
        alive = watch.alive(w, b)
        quantities = moment_quantities(
            w, b, start, experiment.spec, experiment.atoms,
            experiment.dictionary.complement(), tau=arm.training.tau, alive=alive,
        )  # fmt: skip
        seen = Alignment.of(w, experiment.atoms, alive)
        yield from tidy(quantities, name, moment)
        behaviour = watch.behaviour(w, b)
        precision = firing_precision(seen, w, b, watch.samples)
        yield from tidy(behaviour, name, moment)
        yield from tidy(precision, name, moment)
        known = {**quantities, **behaviour, **precision}
        yield from tidy(in_units(known, experiment.spec, arm.training), name, moment)
        if name == "masked" and moment in ("t2", "end"):
            yield from tidy(term_quantities(experiment, w, b, arm.training.tau), name, moment)
    yield from tidy({"floor": floor_of(experiment, arm, WATCHED)}, name, "end")
    if name == "masked":
        yield from tidy(comparator_quantities(experiment, arm, moments), name, "end")


def in_units(
    known: Mapping[str, Tensor], spec: SparseCoding, training: Training
) -> dict[str, Tensor]:
    """Some of the ``known`` quantities over the order that the paper gives them."""
    d, tau = spec.atoms, training.tau
    active = math.log(math.log(d)) / d
    return {
        "others_over_bound": known["others_absolute"] * d**2 * training.decay,
        "dense_over_bound": known["dense_absolute"]
        * math.sqrt(spec.dimension) * d**1.5 * training.decay,
        "norm_over_bound": known["largest_norm"].square() / (tau * math.log(d)),
        "squared_norm_over_atoms": known["squared_norm"] / (tau * d),
        "signal_share_over_start": known["signal_share"] * spec.dimension / d,
        "firing_over_active": known["firing"] / active,
        "precision_over_active": known["firing_precision"] / spec.p,
        "loss_times_log": known["loss"] / tau * math.log(d),
    }  # fmt: skip


def floor_of(experiment: Experiment, arm: Arm, negatives: int) -> Tensor:
    """(R,): least loss that a code of z alone can reach, with as many negatives as watched."""
    streams = experiment.streams("loss-floor")
    drawn = [loss_floor(experiment.spec, negatives, FLOOR_DRAWS, stream) for stream in streams]
    return arm.training.tau * torch.tensor(drawn, dtype=torch.float64)


def term_quantities(experiment: Experiment, w: Tensor, b: Tensor, tau: float) -> dict[str, Tensor]:
    """Definition E.4 for pairs of a singleton and its own atom: sizes of the four terms.

    Root mean squares over pairs; ``phi_over_norm`` is relative to the neuron's norm, the errors
    are relative to Psi.
    """
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
    size = {
        name: mean_over(term.square(), own).sqrt()
        for name, term in zip(("psi", "phi", "e1", "e2"), terms, strict=True)
    }
    phi = terms.phi / seen.norm.unsqueeze(-1)
    return {
        **size,
        "e1_over_psi": size["e1"] / size["psi"].clamp_min(1e-30),
        "e2_over_psi": size["e2"] / size["psi"].clamp_min(1e-30),
        "phi_over_norm": mean_over(phi.square(), own).sqrt(),
    }


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


# --------------------------------------------------------------------------- pictures


def alignment_frame(
    experiment: Experiment, moments: Mapping[str, State], replicate: int = 0
) -> pd.DataFrame:
    """``|<w_i, M_j>| / ||w_i||`` of one replicate at every moment: a row a neuron and atom."""
    frames = []
    for moment, (w, _) in moments.items():
        seen = Alignment.of(w, experiment.atoms)
        cosine = (seen.alpha.abs() / seen.norm.unsqueeze(-1))[replicate].cpu()
        neuron, atom = torch.meshgrid(
            torch.arange(cosine.shape[0]), torch.arange(cosine.shape[1]), indexing="ij"
        )
        columns = {
            "moment": moment,
            "replicate": replicate,
            "neuron": neuron.flatten().numpy(),
            "atom": atom.flatten().numpy(),
            "alignment": cosine.flatten().double().numpy(),
        }
        frames.append(pd.DataFrame(columns))
    return pd.concat(frames, ignore_index=True)


def decoupling_rows(experiment: Experiment) -> Iterator[tuple[Any, ...]]:
    """``E[<x+, v> <x++, v'>]`` for atoms and dense directions: measured, and exact."""
    spec, k = experiment.spec, DECOUPLING_DIRECTIONS
    dictionary = experiment.dictionary
    v = torch.cat([dictionary.atoms[..., :k], dictionary.complement()[..., :k]], -1)
    x = experiment.samples("decoupling", DECOUPLING_SAMPLES).x
    maskings: tuple[Masking, ...] = ("complementary", "independent", "none")
    names = [f"sparse {j}" for j in range(k)] + [f"dense {j}" for j in range(k)]
    for masking in maskings:
        streams = on_device(experiment.streams("decoupling-masks"), experiment.device)
        first, second = (torch.bmm(view, v) for view in positives(x, streams, masking))
        matrix = torch.bmm(first.mT, second) / x.shape[1]
        flat = spec.atoms / spec.dimension
        if masking == "complementary":
            exact = [spec.p * (1 - flat), -spec.p * flat]
        else:
            exact = [spec.p + spec.variance, spec.variance]
        for row, name in enumerate(names):
            for column, other in enumerate(names):
                wanted = exact[row // k] if row == column else 0.0
                for replicate, value in enumerate(matrix[:, row, column].tolist()):
                    yield masking, name, other, replicate, value, wanted


# --------------------------------------------------------------------------- downstream


def label_rows(
    downstream: Downstream, models: Mapping[str, State], counts: list[int]
) -> Iterator[tuple[Any, ...]]:
    """NMSE and accuracy of the probe with fewer labels."""
    for model, (w, b) in models.items():
        for count in counts:
            yield from tidy(downstream.encoder(w, b, count)._asdict(), model, count)
