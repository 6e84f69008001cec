"""Which patches a prediction rests on: the patch model's counterpart of a class activation map.

The score of the own class is a sum over patches, ``F_y = sum_p e_p`` with the evidence
``e_p = sum_r u_{y,r} R(<w_r, x_p>)``. An encoder that captured all features of a class should find
all patches that show one (the paper's argument for detection).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import pandas as pd
import torch
from torch import Tensor

from featlearn.mrp.blocks import responses
from featlearn.mrp.data import Samples
from featlearn.mrp.experiment import Experiment
from featlearn.mrp.heads import encoder, new_heads
from featlearn.mrp.measure import replicate_rows
from featlearn.mrp.model import Activation

if TYPE_CHECKING:
    from featlearn.core.job import Job
    from featlearn.core.outputs import Results

#: Columns of ``localisation/localisation.parquet``.
LOCALISATION_COLUMNS = ("model", "replicate", "quantity", "value")
#: Columns of ``localisation/patches.parquet``: the evidence of each patch of a few samples.
#: ``owner`` is the flat index of the feature on the patch, -1 for none; ``own_view`` which feature
#: of the sample's class that is, -1 for none of them.
PATCH_COLUMNS = (
    "model", "replicate", "sample", "class", "patch", "owner", "own_view", "strength", "evidence",
)  # fmt: skip


def localise(job: Job) -> Results:
    """Which patches the classifiers look at: evidence of each for the class of the sample."""
    options = job.config["localisation"]
    experiment = Experiment("clean", job.config["clean"], job.seed, job.device)
    samples = experiment.test_samples(single_view=False)
    supervised, w = job.tensors("supervised"), job.tensors("downstream")["w"]
    found = new_heads(
        encoder(w, experiment.activation),
        experiment.train_samples(),
        experiment.validation_samples(),
        experiment.spec.classes,
    )
    networks = {
        "supervised": (supervised["w"], supervised["u"]),
        "finetuned": (w, found.heads.weight.to(w)),
    }
    shown = own_patches(samples, experiment.spec.features_per_class)
    rows: list[tuple[Any, ...]] = []
    patches: list[tuple[Any, ...]] = []
    for name, (w, u) in networks.items():
        evidence = patch_evidence(samples, w, u, experiment.activation)
        rows += localisation_rows(name, evidence, shown, options["seen_share"])
        patches += patch_rows(name, evidence, samples, options["pictured_samples"])
    return {
        "localisation": pd.DataFrame(rows, columns=LOCALISATION_COLUMNS),
        "patches": pd.DataFrame(patches, columns=PATCH_COLUMNS),
    }


def patch_evidence(samples: Samples, w: Tensor, u: Tensor, activation: Activation) -> Tensor:
    """``e_p`` for the true class: kernels (R, K, d) and head (R, k, K) to (R, N, P)."""
    replicates, _, patches, _ = samples.x.shape
    rows = torch.arange(replicates, device=u.device)[:, None]
    evidence = samples.x.new_empty(samples.x.shape[:3])
    for block in responses(samples.x, w, activation):
        own, part = block.replicates, block.samples
        own_head = u[rows[own], samples.y[own, part]]  # (r, B, K)
        response = block.per_sample(block.s, patches)
        evidence[own, part] = torch.einsum("rbpk,rbk->rbp", response, own_head)
    return evidence


def own_patches(samples: Samples, views: int) -> Tensor:
    """(R, N, P, L) bool: which patches show which feature of the own class."""
    view = torch.arange(views, device=samples.owner.device)
    own = views * samples.y.unsqueeze(-1) + view
    return samples.owner.unsqueeze(-1) == own.unsqueeze(2)


def share_of_evidence(evidence: Tensor, shown: Tensor) -> Tensor:
    """Share of the positive evidence that lies on each own feature.

    Parameters
    ----------
    evidence : (R, N, P)
    shown : (R, N, P, L) bool
        From :func:`own_patches`.

    Returns
    -------
    Tensor
        (R, N, L); 0 where there is no positive evidence.
    """
    positive = evidence.clamp_min(0)
    on_feature = (positive.unsqueeze(-1) * shown).sum(2)
    total = positive.sum(-1, keepdim=True)
    return torch.where(total > 0, on_feature / total.clamp_min(1e-30), 0.0)


def precision(evidence: Tensor, shown: Tensor) -> Tensor:
    """Share of own patches among those with the most evidence, as many as there are own ones.

    With ``L`` features of ``C_p`` patches these are the top ``L C_p``; precision equals recall.

    Returns
    -------
    Tensor
        (R, N).
    """
    own = shown.any(-1)
    count = int(own.sum(-1).amax())
    top = evidence.topk(count, dim=-1).indices
    return own.gather(-1, top).double().mean(-1)


def localisation_rows(
    model: str, evidence: Tensor, shown: Tensor, seen_share: float
) -> Iterator[tuple[str, int, str, float]]:
    """How much of the own features a model sees, a row a replicate and quantity.

    A feature is seen if at least ``seen_share`` of the positive evidence is on it. ``seen``: share
    of own features seen, ``seen_both``: share of samples of which all are, ``precision``: see
    :func:`precision`, ``on_own``: share of the positive evidence that lies on own features.
    """
    share = share_of_evidence(evidence, shown)
    seen = (share >= seen_share).double()
    yield from replicate_rows(
        model,
        {
            "seen": seen.mean((1, 2)),
            "seen_both": seen.amin(-1).mean(1),
            "precision": precision(evidence, shown).mean(1),
            "on_own": share.sum(-1).double().mean(1),
        },
    )


def patch_rows(
    model: str, evidence: Tensor, samples: Samples, count: int
) -> Iterator[tuple[str, int, int, int, int, int, int, float, float]]:
    """Evidence on each patch of the first ``count`` samples of each replicate."""
    views = samples.active.shape[-1]
    for replicate in range(evidence.shape[0]):
        for number in range(min(count, evidence.shape[1])):
            y = int(samples.y[replicate, number])
            columns = (samples.owner, samples.strength, evidence)
            patches = zip(*(c[replicate, number].tolist() for c in columns), strict=True)
            for patch, (owner, strength, value) in enumerate(patches):
                own = owner - views * y if owner // views == y else -1
                yield model, replicate, number, y, patch, owner, own, strength, value
