"""Which patches a prediction rests on: the patch model's counterpart of a class activation map.

The score of the own class is a sum over patches, ``F_y = sum_p e_p`` with the evidence
``e_p = sum_r u_{y,r} R(<w_r, x_p>)``. An encoder that captured all features of a class should find
all patches that show one (the paper's argument for detection).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import torch
from torch import Tensor

from featlearn.mrp.blocks import responses
from featlearn.mrp.data import Problem, Samples
from featlearn.mrp.measure import encoder, joined, new_heads, rows
from featlearn.mrp.model import Activation

if TYPE_CHECKING:
    from featlearn.core.run.job import Job
    from featlearn.core.run.outputs import Results


def localise(job: Job) -> Results:
    """Measure which patches classifiers look at: evidence of each for the sample's class.

    ``seen``: share of own features that carry at least ``seen_share`` of the positive evidence,
    ``seen_both``: share of samples of which all do.
    """
    options = job.config["localisation"]
    problem = Problem("clean", job.config["clean"], job.seed, job.device)
    samples = problem.tests["multi_view"]
    supervised, w = job.tensors("supervised"), job.tensors("downstream")["w"]
    encode = encoder(w, problem.activation)
    head = new_heads(encode, problem.train, problem.validation, problem.spec.classes).heads
    networks = {
        "supervised": (supervised["w"], supervised["u"]),
        "finetuned": (w, head.weight.to(w)),
    }
    shown = own_patches(samples, problem.spec.features_per_class)
    frames = []
    for name, (w, u) in networks.items():
        evidence = patch_evidence(samples, w, u, problem.activation)
        share = share_of_evidence(evidence, shown)
        visible = (share >= options["seen_share"]).double()
        quantities = {
            "seen": visible.mean((1, 2)),
            "seen_both": visible.amin(-1).mean(1),
            "precision": precision(evidence, shown).mean(1),
        }
        frames.append(rows(quantities, model=name))
    return {"localisation": joined(*frames)}


def patch_evidence(samples: Samples, w: Tensor, u: Tensor, activation: Activation) -> Tensor:
    """``e_p`` for the true class: kernels (R, K, d) and head (R, k, K) to (R, N, P)."""
    replicates, _, patches, _ = samples.x.shape
    index = torch.arange(replicates, device=u.device)[:, None]
    evidence = samples.x.new_empty(samples.x.shape[:3])
    for block in responses(samples.x, w, activation):
        chosen, part = block.replicates, block.samples
        head = u[index[chosen], samples.y[chosen, part]]  # (r, B, K)
        response = block.per_sample(block.s, patches)
        evidence[chosen, part] = torch.einsum("rbpk,rbk->rbp", response, head)
    return evidence


def own_patches(samples: Samples, views: int) -> Tensor:
    """(R, N, P, L) bool: which patches show which feature of the own class."""
    view = torch.arange(views, device=samples.owner.device)
    own = views * samples.y.unsqueeze(-1) + view
    return samples.owner.unsqueeze(-1) == own.unsqueeze(2)


def share_of_evidence(evidence: Tensor, shown: Tensor) -> Tensor:
    """Share of the positive evidence that lies on each own feature.

    ``evidence`` (R, N, P), ``shown`` (R, N, P, L) bool to (R, N, L); 0 where nothing is positive.
    """
    positive = evidence.clamp_min(0)
    on_feature = (positive.unsqueeze(-1) * shown).sum(2)
    total = positive.sum(-1, keepdim=True)
    return torch.where(total > 0, on_feature / total.clamp_min(1e-30), 0.0)


def precision(evidence: Tensor, shown: Tensor) -> Tensor:
    """(R, N) share of own patches among those with the most evidence, as many as there are own."""
    own = shown.any(-1)
    count = int(own.sum(-1).amax())
    top = evidence.topk(count, dim=-1).indices
    return own.gather(-1, top).double().mean(-1)
