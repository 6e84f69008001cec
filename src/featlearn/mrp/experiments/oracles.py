"""The closed forms against brute force; trainings with what the theory must not use.

Those are the gradient as printed, and an ordinary copy as teacher.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import pandas as pd
import torch

from featlearn.core.config import merge
from featlearn.core.seeds import Streams
from featlearn.mrp.experiment import Experiment
from featlearn.mrp.gradients import TeacherFactor
from featlearn.mrp.measure import EVALUATION_COLUMNS, EvaluationRow, replicate_rows
from featlearn.mrp.oracles import INSTANCE_COLUMNS, instance_rows, printed_against_true
from featlearn.mrp.sequences import race_rows
from featlearn.mrp.train import MaskedAutoencoder, TeacherStudent, capture_strength, pretrain

if TYPE_CHECKING:
    from featlearn.core.job import Job
    from featlearn.core.outputs import Results


def oracles(job: Job) -> Results:
    """Set the closed forms against brute force on random instances; race the sequences."""
    config = job.config
    streams = Streams(job.seed, "mrp", "oracles", range(config["replicates"]))
    instances = [row for q in config["exponents"] for row in instance_rows(q, config, streams)]
    return {
        "instances": pd.DataFrame(instances, columns=INSTANCE_COLUMNS),
        "races": race_rows(config["race_exponents"], config["race_steps"], streams),
    }


def training_controls(job: Job) -> Results:
    """Train with the gradient as printed beside the true one, and with an ordinary teacher."""
    gradients, runs = printed_gradient(job.config, job.seed, job.device)
    return {
        "gradients": gradients,
        "runs": runs,
        "ordinary_teacher": ordinary_teacher(job.config, job.seed, job.device),
    }


#: Moments of a training at which the two vectors are compared, with the step as a share of the
#: step at which the last feature was captured.
MOMENTS = {"at the start": 0.0, "half-way to the capture of the last feature": 0.5,
           "when the last feature is captured": 1.0}  # fmt: skip


def printed_gradient(
    config: Mapping[str, Any], seed: int, device: torch.device
) -> tuple[pd.DataFrame, pd.DataFrame]:
    """MAE training with the true gradient and with the vector of Fact 2.2, from the same start.

    Returns
    -------
    gradients
        Columns moment, replicate, quantity (relative_error, cosine), value: the two vectors at the
        kernels of the run with the true gradient.
    runs
        Columns gradient, replicate, quantity, value: ``captured`` (share of features),
        ``all_captured`` (steps, at most those of the run), ``strength`` (mean Lambda at the end).
    """
    experiment = Experiment("oracles", config, seed, device)
    options = dict(config["pretraining"])
    theta, activation = options.pop("theta"), experiment.activation
    x, features, w = (
        experiment.train_samples().x, experiment.features, experiment.initial_kernels(),
    )  # fmt: skip
    runs: list[EvaluationRow] = []
    last = torch.empty(0)
    for name in ("true", "as_printed"):
        method = MaskedAutoencoder(activation, theta, name)
        done = pretrain(x, features, w, method, varrho=activation.varrho, **options)
        hit = done.hit.flatten(1).cpu()
        quantities = {
            "captured": (hit >= 0).double().mean(1),
            "all_captured": torch.where((hit >= 0).all(1), hit.amax(1), options["max_steps"]),
            "strength": capture_strength(done.w, features).flatten(1).mean(1).cpu(),
        }
        runs += replicate_rows(name, quantities)
        if name == "true":
            last = hit.amax(1)
    gradients = []
    for r in range(experiment.config["replicates"]):
        own = slice(r, r + 1)
        for moment, share in MOMENTS.items():
            steps = int(share * int(last[r]))
            now = w[own]
            if steps:
                now = pretrain(
                    x[own], features[own], now, MaskedAutoencoder(activation, theta),
                    varrho=activation.varrho, learning_rate=options["learning_rate"],
                    max_steps=steps, hit_factor=options["hit_factor"],
                ).w  # fmt: skip
            seen = printed_against_true(x[own].double(), now.double(), theta, activation)
            gradients += [(moment, r, name, float(value)) for name, value in seen.items()]
    return (
        pd.DataFrame(gradients, columns=["moment", "replicate", "quantity", "value"]),
        pd.DataFrame(runs, columns=["gradient", "replicate", "quantity", "value"]),
    )


def ordinary_teacher(config: Mapping[str, Any], seed: int, device: torch.device) -> pd.DataFrame:
    """Teacher-student training with ``tau = 1``: columns replicate, quantity, value.

    ``kept``: largest correlation at the end over that at the start; ``captured``: share of
    features.
    """
    settings = config["ordinary_teacher"]
    network = merge(config["network"], {"q": settings["q"]})
    experiment = Experiment("oracles", merge(config, {"network": network}), seed, device)
    activation, features = experiment.activation, experiment.features
    factor = TeacherFactor(
        config["pretraining"]["theta"], experiment.spec.patches_per_feature, "one", activation.q
    )
    w = experiment.initial_kernels()
    done = pretrain(
        experiment.train_samples().x, features, w, TeacherStudent(activation, factor),
        varrho=activation.varrho, learning_rate=settings["learning_rate"],
        max_steps=settings["steps"],
    )  # fmt: skip
    before, after = (capture_strength(v, features).flatten(1) for v in (w, done.w))
    quantities = {
        "kept": after.amax(1) / before.amax(1),
        "captured": (after >= activation.varrho).double().mean(1),
    }
    rows = pd.DataFrame(replicate_rows("one", quantities), columns=EVALUATION_COLUMNS)
    return rows.drop(columns="model")
