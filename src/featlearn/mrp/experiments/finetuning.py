"""What the proof of the fine-tuning theorem says in closed form (appendix G of Pan, Zhou & Yan)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

import torch
from torch import Tensor

from featlearn.core.run.progress import Progress
from featlearn.mrp import train
from featlearn.mrp.data import Problem, Samples
from featlearn.mrp.gradients import encode_in_blocks
from featlearn.mrp.measure import history, joined, rows
from featlearn.mrp.model import Activation, capture_strength, class_scores

if TYPE_CHECKING:
    from featlearn.core.run.job import Job
    from featlearn.core.run.outputs import Results

#: The orders of updates, each with the key of its number of steps.
ORDERS: dict[Literal["simultaneous", "u_then_w"], str] = {
    "simultaneous": "steps",
    "u_then_w": "short_steps",
}


def finetune(job: Job) -> Results:
    """Fine-tune in both orders of update, recording every step, and measure what is kept.

    ``learning``: ``wrong_mass`` is the mean of ``1 - logit_y``. ``evaluation``: ``least_kept`` is
    the smallest ratio of ``Lambda`` after to before, over the features.
    """
    problem = Problem("clean", job.config["clean"], job.seed, job.device)
    options, pretrained = job.config["finetuning"], job.tensors("pretrained")["w"]
    classes, frames = problem.spec.classes, []
    masses = {
        f"wrong_mass_at_{multiple}k": wrong_mass_after_one_step(
            problem.train, pretrained, classes, problem.activation, multiple * classes
        )
        for multiple in options["first_head_rates"]
    }
    measured = [rows(masses, model="first_step")]
    for order, length in ORDERS.items():
        steps = options[length]
        done = train.finetune(
            problem, pretrained, encoder_rate=options["encoder_rate"],
            head_rate=options["head_rate"], steps=steps, order=order, record_every=1,
            report=Progress(f"{job.rule} {order}", steps).report,
        )  # fmt: skip
        quantities = {key: done.trace[key] for key in ("loss", "wrong_mass")}
        quantities["weakest_feature"] = done.trace["strength"].flatten(2).amin(-1)
        frames.append(history(done.trace.steps, quantities).assign(model=order))
        after, before = (capture_strength(w, problem.features) for w in (done.w, pretrained))
        measured.append(rows({"least_kept": (after / before).flatten(1).amin(1)}, model=order))
    return {"learning": joined(*frames), "evaluation": joined(*measured)}


def first_head(h: Tensor, y: Tensor, classes: int, head_rate: float) -> Tensor:
    """(R, k, K) after one step from zero, ``u_{i,r} = eta_2 mean_n (1{y=i} - 1/k) h_r``."""
    one_hot = torch.nn.functional.one_hot(y, classes).to(h)
    return head_rate * torch.einsum("rni,rnk->rik", one_hot - 1 / classes, h) / h.shape[1]


def wrong_mass(scores: Tensor, y: Tensor) -> Tensor:
    """(R, N) probability given to wrong classes, the paper's ``1 - logit_y``; scores (R, N, k)."""
    log_share = torch.log_softmax(scores, dim=-1)
    return -torch.expm1(log_share.gather(-1, y.unsqueeze(-1)).squeeze(-1))


def wrong_mass_after_one_step(
    samples: Samples, w: Tensor, classes: int, activation: Activation, head_rate: float
) -> Tensor:
    """(R,) mean ``1 - logit_y`` after one step of the head from zero."""
    h = encode_in_blocks(samples.x, w, activation)
    head = first_head(h, samples.y, classes, head_rate)
    return wrong_mass(class_scores(h, head), samples.y).mean(-1)
