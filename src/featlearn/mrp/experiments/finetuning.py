"""What the proof of the fine-tuning theorem says in closed form (appendix G of Pan, Zhou & Yan).

Encoder outputs ``h`` (R, N, K), labels ``y`` (R, N), heads ``u`` (R, k, K), correlations
``<w_r, v_{i,l}>`` (R, K, k, L).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Literal

import pandas as pd
import torch
from torch import Tensor

from featlearn.core.frames import tidy
from featlearn.core.progress import Progress
from featlearn.mrp import train
from featlearn.mrp.data import MultiView, Problem, Samples
from featlearn.mrp.gradients import classification_descent, encode_in_blocks
from featlearn.mrp.kernels import capture
from featlearn.mrp.measure import accuracies, history, joined, predict, rows
from featlearn.mrp.model import (
    Activation,
    capture_strength,
    class_scores,
    correlations,
    smoothed_relu,
)

if TYPE_CHECKING:
    from featlearn.core.job import Job
    from featlearn.core.outputs import Results

#: Nodes of the quadrature over a uniform strength: far more than a smooth integrand needs.
NODES = 2001
#: The runs of fine-tuning: from which kernels of the pre-training, and in which order of updates.
RUNS: dict[str, tuple[str, Literal["simultaneous", "u_then_w"]]] = {
    "simultaneous": ("w", "simultaneous"),
    "u_then_w": ("w", "u_then_w"),
    "at_capture": ("at_capture", "simultaneous"),
}


def finetune(job: Job) -> Results:
    """Fine-tune, recording every step: both orders of update, two ends of the pre-training.

    ``wrong_mass`` is the mean of ``1 - logit_y``, the features those of ``Lambda``.
    """
    problem = Problem("clean", job.config["clean"], job.seed, job.device)
    options, pretrained = job.config["finetuning"], job.tensors("pretrained")
    weights: dict[str, Tensor] = {}
    frames = []
    for name, (kernels, order) in RUNS.items():
        steps = options["steps" if name == "simultaneous" else "short_steps"]
        done = train.finetune(
            problem, pretrained[kernels], encoder_rate=options["encoder_rate"],
            head_rate=options["head_rate"], steps=steps, order=order, record_every=1,
            report=Progress(f"{job.rule} {name}", steps).report,
        )  # fmt: skip
        weights |= {f"{name}.w": done.w, f"{name}.u": done.u}
        strength = done.trace["strength"].flatten(2)
        quantities = {key: done.trace[key] for key in ("loss", "accuracy", "wrong_mass")}
        quantities["weakest_feature"] = strength.amin(-1)
        quantities["median_feature"] = strength.quantile(0.5, dim=-1)
        frames.append(history(done.trace.steps, quantities).assign(model=name))
    return {"weights": weights, "learning": joined(*frames)}


def evaluate(job: Job) -> Results:
    """Measure the first step, what fine-tuning keeps, and which single-view samples it gets."""
    problem = Problem("clean", job.config["clean"], job.seed, job.device)
    spec, activation, features = problem.spec, problem.activation, problem.features
    options, samples = job.config["finetuning"], problem.train
    pretrained, finetuned = job.tensors("pretrained"), job.tensors("finetuned")
    rates = {"head_rate": options["head_rate"], "encoder_rate": options["encoder_rate"]}
    quantities = first_step(samples, pretrained["w"], features, spec, activation, **rates)
    for multiple in options["first_head_rates"]:
        mass = wrong_mass_after_one_step(
            samples, pretrained["w"], spec.classes, activation, multiple * spec.classes
        )
        quantities[f"wrong_mass_at_{multiple}k"] = mass
        quantities[f"k_times_wrong_mass_at_{multiple}k"] = spec.classes * mass
    frames = [rows(quantities, model="first_step")]
    for name, (start, _) in RUNS.items():
        w, u = finetuned[f"{name}.w"], finetuned[f"{name}.u"]
        tests = {kind: predict(test, w, u, activation) for kind, test in problem.tests.items()}
        kept = capture_strength(w, features) / capture_strength(pretrained[start], features)
        quantities = {
            **accuracies(tests),
            **capture(w, features, activation).summary(),
            "least_kept": kept.flatten(1).amin(1),
        }
        frames.append(rows(quantities, model=name))
    promises = promised_and_kept(
        problem, options["balance_samples"], pretrained, finetuned, job.tensors("supervised")
    )
    return {"evaluation": joined(*frames), "balance": promises}


def promised_and_kept(
    problem: Problem,
    count: int,
    pretrained: Mapping[str, Tensor],
    finetuned: Mapping[str, Tensor],
    supervised: Mapping[str, Tensor],
) -> pd.DataFrame:
    """What kernels promise on single-view data, and what the networks then do there."""
    spec = problem.spec
    samples = problem.draw("test-balance", count, single_view=True)
    blocks = supervised["u"].transpose(1, 2).unsqueeze(-1) > 0
    networks: dict[str, tuple[Tensor, Tensor | None, Tensor, Tensor]] = {
        "supervised": (supervised["w"], blocks, supervised["w"], supervised["u"])
    }
    for name, run in (("at_capture", "at_capture"), ("pretrained", "u_then_w")):
        start, w, u = pretrained[RUNS[run][0]], finetuned[f"{run}.w"], finetuned[f"{run}.u"]
        networks[name] = (start, None, w, u)
    axes = {"replicate": range(problem.replicates), "class": range(spec.classes),
            "view": range(spec.features_per_class)}  # fmt: skip
    frames = []
    for name, (before, eligible, w, u) in networks.items():
        weights = feature_weights(correlations(before, problem.features), eligible)
        promised = balance(weights, spec.weak_strength, spec.off_strength[1])
        right = predict(samples, w, u, problem.activation).right()
        shape = (spec.classes, spec.features_per_class)
        kept = by_strong_view(right, samples.y, samples.strong, shape)
        frames.append(tidy({"model": [name], **axes}, balance=promised[None], accuracy=kept[None]))
    return joined(*frames)


def first_head(h: Tensor, y: Tensor, classes: int, head_rate: float) -> Tensor:
    """(R, k, K) after one step from zero, ``u_{i,r} = eta_2 mean_n (1{y=i} - 1/k) h_r``."""
    one_hot = torch.nn.functional.one_hot(y, classes).to(h)
    return head_rate * torch.einsum("rni,rnk->rik", one_hot - 1 / classes, h) / h.shape[1]


def expected_first_head(
    correlation: Tensor, spec: MultiView, activation: Activation, head_rate: float
) -> tuple[Tensor, Tensor]:
    """The same in expectation over multi-view data, for a kernel that holds one feature.

    With ``H`` the mean response to the feature where it is a main one and ``G`` where it is an
    off-class one: ``eta_2 (k-1)/k^2 (H - G s/k)`` for the own class, and
    ``-eta_2 / k^2 (H - G s/k)`` for any other. (The paper prints the own class's as
    ``eta_2 (O(1) (k-1)/k^2 - 0.4 s (k-1)/k^3) psi``, the same with ``H = O(1) psi`` and
    ``G = 0.4 psi``.)

    ``correlation``: of each kernel with its feature, any shape. Returns ``own``, ``other``: of the
    shape of ``correlation``.
    """
    k = spec.classes
    main = _mean_response(correlation, spec.main_strength, spec.main_scale, spec, activation)
    off = _mean_response(correlation, spec.off_strength, 1.0, spec, activation)
    size = head_rate / k**2 * (main - off * spec.sparsity / k)
    return (k - 1) * size, -size


def _mean_response(
    correlation: Tensor,
    strength: Sequence[float],
    scale: float,
    spec: MultiView,
    activation: Activation,
) -> Tensor:
    """Mean over a uniform total strength of the summed response of its ``C_p`` patches."""
    low, high = strength
    room = spec.patches_per_feature
    z = torch.linspace(low, high, NODES, dtype=correlation.dtype) * scale / room
    response = smoothed_relu(
        correlation.unsqueeze(-1) * z.to(correlation.device), activation.q, activation.varrho
    )
    return room * torch.trapezoid(response, dx=1 / (NODES - 1))


def feature_weights(correlation: Tensor, eligible: Tensor | None = None) -> Tensor:
    """``Psi_{i,l} = sum_r ([<w_r, v_{i,l}>]^+)^2`` (R, k, L): what a head can gain from a feature.

    ``eligible`` broadcastable to (R, K, k, L) bool: which kernels count; None for all. The paper
    sums over the lottery set, outside of which a kernel adds ``O(sigma_0^2)`` at most, unless the
    winner itself is outside.
    """
    squared = correlation.clamp_min(0) ** 2
    return (squared if eligible is None else squared * eligible).sum(1)


def balance(weights: Tensor, weak_strength: float, off_strength: float) -> Tensor:
    """How far a single-view sample stands above its worst distractor (equation (26)): (R, k, L).

    ``(Psi_{y,l} + rho sum_{l' != l} Psi_{y,l'}) / (0.4 max_{j != y} Psi_j)`` for strong view ``l``,
    where ``Psi_j`` sums over the features of class j: above 1 the sample is right even if all
    features of class j are present at their largest off-class strength. ``weights`` (R, k, L): from
    :func:`feature_weights`. ``weak_strength``: ``rho``. ``off_strength``: the largest strength of
    an off-class feature, 0.4 in the paper.
    """
    whole = weights.sum(-1, keepdim=True)
    gain = weights + weak_strength * (whole - weights)
    classes = weights.shape[1]
    same = torch.eye(classes, dtype=torch.bool, device=weights.device)
    rivals = whole.transpose(1, 2).expand(-1, classes, -1).masked_fill(same, float("-inf"))
    return gain / (off_strength * rivals.amax(-1, keepdim=True))


def wrong_mass(scores: Tensor, y: Tensor) -> Tensor:
    """(R, N) probability given to wrong classes, the paper's ``1 - logit_y``; scores (R, N, k)."""
    log_share = torch.log_softmax(scores, dim=-1)
    return -torch.expm1(log_share.gather(-1, y.unsqueeze(-1)).squeeze(-1))


def by_strong_view(right: Tensor, y: Tensor, strong: Tensor, shape: tuple[int, int]) -> Tensor:
    """Accuracy on the single-view samples of each class and strong view.

    ``right``, ``y``, ``strong`` (R, N): correct or not; class; strong view. ``shape``: ``(k, L)``.
    Returns a Tensor (R, k, L); not a number where there is no such sample.
    """
    classes, views = shape
    cell = torch.nn.functional.one_hot(y * views + strong, classes * views).double()
    hits = torch.einsum("rn,rnf->rf", right.double(), cell)
    return (hits / cell.sum(1)).view(-1, classes, views)


# --------------------------------------------------------------------------- the first step


def first_step(
    samples: Samples,
    w: Tensor,
    features: Tensor,
    spec: MultiView,
    activation: Activation,
    *,
    head_rate: float,
    encoder_rate: float,
) -> dict[str, Tensor]:
    """What one step from a zero head does, beside what the proof says of it.

    A *winner* is a kernel that holds exactly one feature, an *idle* kernel one that holds none.

    Returns dict of (R,): ``head_error``: relative distance of the head from its closed form.
    ``own_positive``, ``other_negative``: shares of the winners' weights with the sign of the proof.
    ``own_over_expected``: mean own-class weight over that of the closed form. ``idle_over_own``:
    largest weight of an idle kernel over the median own weight. ``encoder_moved``: largest change
    of a kernel in a simultaneous first step. ``least_gain``: smallest gain of a winner's
    correlation, over ``eta_1 eta_2 / k**2`` times that correlation, when the encoder's step sees
    the new head.
    """
    classes, views = spec.classes, spec.features_per_class
    zero = w.new_zeros((w.shape[0], classes, w.shape[1]))
    down = classification_descent(samples.x, samples.y, w, zero, activation)
    head = head_rate * down.u
    closed = first_head(encode_in_blocks(samples.x, w, activation), samples.y, classes, head_rate)
    second = classification_descent(samples.x, samples.y, w, head, activation)
    before = correlations(w, features).flatten(2)
    gain = correlations(w + encoder_rate * second.w, features).flatten(2) - before

    held = before >= activation.varrho
    rows: dict[str, list[Tensor]] = {}
    for r in range(w.shape[0]):
        winner, idle = held[r].sum(-1) == 1, held[r].sum(-1) == 0
        feature = held[r, winner].int().argmax(-1)
        strength = before[r, winner].gather(-1, feature[:, None])[:, 0]
        own_class = torch.nn.functional.one_hot(feature // views, classes).bool()
        weight = head[r].T[winner]  # (winners, k)
        own, other = weight[own_class], weight[~own_class]
        expected, _ = expected_first_head(strength, spec, activation, head_rate)
        gained = gain[r, winner].gather(-1, feature[:, None])[:, 0]
        unit = encoder_rate * head_rate / classes**2 * strength
        idle_weight = head[r][:, idle].abs()
        quantities = {
            "head_error": (head[r] - closed[r]).abs().max() / closed[r].abs().max(),
            "own_positive": (own > 0).double().mean(),
            "other_negative": (other < 0).double().mean(),
            "own_over_expected": own.mean() / expected.mean(),
            "idle_over_own": idle_weight.max() / own.median() if idle.any() else own.new_zeros(()),
            "encoder_moved": encoder_rate * down.w[r].abs().max(),
            "least_gain": (gained / unit).min(),
        }
        for name, value in quantities.items():
            rows.setdefault(name, []).append(value.double())
    return {name: torch.stack(values) for name, values in rows.items()}


def wrong_mass_after_one_step(
    samples: Samples, w: Tensor, classes: int, activation: Activation, head_rate: float
) -> Tensor:
    """(R,) mean ``1 - logit_y`` after one step of the head from zero."""
    h = encode_in_blocks(samples.x, w, activation)
    head = first_head(h, samples.y, classes, head_rate)
    return wrong_mass(class_scores(h, head), samples.y).mean(-1)
