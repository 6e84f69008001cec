"""The keep probability theta: what is captured, and how long it takes."""

from __future__ import annotations

from typing import TYPE_CHECKING

import torch

from featlearn.core.evidence.frames import tidy
from featlearn.mrp.closed_forms import Framework
from featlearn.mrp.data import Problem
from featlearn.mrp.measure import joined
from featlearn.mrp.train import pretrain

if TYPE_CHECKING:
    from featlearn.core.run.job import Job
    from featlearn.core.run.outputs import Results

FRAMEWORKS: tuple[Framework, ...] = ("teacher_student", "mae")


def keep_probability(job: Job) -> Results:
    """Train both frameworks over the keep probability, all replicates and thetas in one batch."""
    config, thetas, frames = job.config, job.config["thetas"], []
    for framework in FRAMEWORKS:
        settings = dict(config[framework])
        section = {**config, "network": {**config["network"], "q": settings.pop("q")}}
        problem = Problem("keep-probability", section, job.seed, job.device)
        if framework == "teacher_student":
            room = problem.spec.patches_per_feature
            settings |= {"schedule": "constant", "patches_per_feature": room}
        count, w = len(thetas), problem.kernels()
        # theta after theta
        theta = torch.tensor(thetas, dtype=torch.float32).repeat_interleave(problem.replicates)
        done = pretrain(
            problem.train.x.repeat(count, 1, 1, 1), problem.features.repeat(count, 1, 1, 1),
            w.repeat(count, 1, 1), problem.activation, theta=theta.to(problem.device),
            may_diverge=True, **settings,
        )  # fmt: skip
        hit = done.hit.flatten(1)
        # what was not captured counts with the length of the run
        time = torch.where(hit >= 0, hit, done.stopped.unsqueeze(1))
        quantities = {
            "captured": (hit >= 0).double().mean(1),
            "complete": (hit >= 0).all(1).double(),
            "all_captured": time.amax(1),
        }
        values = torch.stack([value.double() for value in quantities.values()])
        axes = {"framework": [framework], "quantity": list(quantities), "theta": thetas,
                "replicate": range(problem.replicates)}  # fmt: skip
        frames.append(tidy(axes, value=values.view(1, len(quantities), count, -1)))
    columns = ["framework", "theta", "replicate", "quantity", "value"]
    return {"trade_off": joined(*frames)[columns]}
