"""The keep probability theta: how long capture takes, and where MAE pre-training comes to rest."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import pandas as pd
import torch
from torch import Tensor

from featlearn.mrp.closed_forms import Framework, mae_fixed_point_on
from featlearn.mrp.data import Samples
from featlearn.mrp.experiment import Experiment
from featlearn.mrp.gradients import TeacherFactor, mae_loss, teacher_student_loss
from featlearn.mrp.model import encode
from featlearn.mrp.train import (
    MaskedAutoencoder,
    Pretrained,
    Pretraining,
    TeacherStudent,
    capture_strength,
    correlations,
    pretrain,
)

if TYPE_CHECKING:
    from featlearn.core.job import Job
    from featlearn.core.outputs import Results

#: Columns of ``trade-off.parquet``: one row a framework, theta, replicate and quantity.
TRADE_OFF_COLUMNS = ("framework", "theta", "replicate", "quantity", "value")
#: Columns of ``fixed-points.parquet``: what the strongest and the second kernel of a feature hold.
REST_COLUMNS = ("theta", "replicate", "feature", "strength", "second", "formula")

Row = tuple[str, float, int, str, float]
RestRow = tuple[float, int, int, float, float, float]


def keep_probability(job: Job) -> Results:
    """Train both frameworks over the keep probability, all replicates and thetas in one batch."""
    config = job.config
    thetas = config["thetas"]
    rows: list[Row] = []
    rest: list[RestRow] = []
    frameworks: tuple[Framework, ...] = ("teacher_student", "mae")
    for framework in frameworks:
        settings = dict(config[framework])
        network = {**config["network"], "q": settings.pop("q")}
        own = {**config, "network": network}
        experiment = Experiment("keep-probability", own, job.seed, job.device)
        done, w = sweep(experiment, framework, thetas, settings)
        rows += trade_off_rows(experiment, framework, thetas, done, w)
        rows += initial_loss_rows(experiment, framework, config["small_thetas"])
        if framework == "mae":
            rest += rest_rows(experiment, thetas, done)
    return {
        "trade_off": pd.DataFrame(rows, columns=TRADE_OFF_COLUMNS),
        "fixed_points": pd.DataFrame(rest, columns=REST_COLUMNS),
    }


def sweep(
    experiment: Experiment,
    framework: Framework,
    thetas: Sequence[float],
    settings: Mapping[str, Any],
) -> tuple[Pretrained, Tensor]:
    """Train all replicates at all ``thetas`` in one batch, theta after theta: R = thetas x own.

    Returns
    -------
    Pretrained, Tensor
        And the initial kernels of the batch.
    """
    count = len(thetas)
    own = experiment.config["replicates"]
    theta = torch.tensor(thetas, dtype=torch.float32).repeat_interleave(own)
    theta = theta.to(experiment.device)
    activation = experiment.activation
    if framework == "mae":
        method: Pretraining = MaskedAutoencoder(activation, theta)
    else:
        factor = TeacherFactor(theta, experiment.spec.patches_per_feature, "constant", activation.q)
        method = TeacherStudent(activation, factor)
    w = experiment.initial_kernels().repeat(count, 1, 1)
    done = pretrain(
        experiment.train_samples().x.repeat(count, 1, 1, 1),
        experiment.features.repeat(count, 1, 1, 1),
        w,
        method,
        varrho=activation.varrho,
        may_diverge=True,
        **settings,
    )
    return done, w


def trade_off_rows(
    experiment: Experiment,
    framework: Framework,
    thetas: Sequence[float],
    done: Pretrained,
    w: Tensor,
) -> list[Row]:
    """What was captured, when, and how much the features grew.

    A time that never came is the length of the run, ``stopped``; ``complete`` says which ones are
    meant: 1 where all features were captured.
    """
    count = len(thetas)
    features = experiment.features.repeat(count, 1, 1, 1)
    hit = done.hit.flatten(1)
    gain = capture_strength(done.w, features) / capture_strength(w, features)
    time = torch.where(hit >= 0, hit, done.stopped.unsqueeze(1))
    quantities = {
        "captured": (hit >= 0).double().mean(1),
        "complete": (hit >= 0).all(1).double(),
        "all_captured": time.amax(1),
        "first_captured": time.amin(1),
        "growth_factor": gain.flatten(1).amax(1),
        "diverged": done.diverged.double(),
    }
    own = experiment.config["replicates"]
    rows: list[Row] = []
    for quantity, values in quantities.items():
        for n, value in enumerate(values.tolist()):
            rows.append((framework, thetas[n // own], n % own, quantity, float(value)))
    return rows


def initial_loss_rows(
    experiment: Experiment, framework: Framework, thetas: Sequence[float]
) -> list[Row]:
    """The expected masked loss of the initial kernels: how it grows as theta tends to 0."""
    x, w, activation = (
        experiment.train_samples().x,
        experiment.initial_kernels(),
        experiment.activation,
    )
    rows: list[Row] = []
    for theta in thetas:
        if framework == "mae":
            loss = mae_loss(x, w, theta, activation)
        else:
            factor = TeacherFactor(
                theta, experiment.spec.patches_per_feature, "constant", activation.q
            )
            target = encode(x, float(factor(0)) * w, activation.q, activation.varrho)
            loss = teacher_student_loss(x, w, target, theta, activation)
        rows += [(framework, theta, r, "initial_loss", v) for r, v in enumerate(loss.tolist())]
    return rows


def rest_rows(experiment: Experiment, thetas: Sequence[float], done: Pretrained) -> list[RestRow]:
    """Lambda after MAE training against the fixed point of the training data, by feature."""
    own = experiment.config["replicates"]
    z = strengths_of(experiment.train_samples(), experiment.spec.features)
    rows = []
    for n, theta in enumerate(thetas):
        w = done.w[n * own : (n + 1) * own]
        best, _ = correlations(w, experiment.features).flatten(2).cpu().topk(2, dim=1)
        formula = mae_fixed_point_on(z, theta, experiment.activation)
        for r in range(own):
            for feature in range(z.shape[1]):
                strongest, second = best[r, :, feature].tolist()
                rows.append((theta, r, feature, strongest, second, float(formula[r, feature])))
    return rows


def strengths_of(samples: Samples, features: int) -> Tensor:
    """Strength of each feature on each patch, 0 where it is not: (R, F, N * P)."""
    owner = samples.owner.cpu().flatten(1).unsqueeze(1)
    own = owner == torch.arange(features).view(1, -1, 1)
    return own * samples.strength.cpu().flatten(1).unsqueeze(1)
