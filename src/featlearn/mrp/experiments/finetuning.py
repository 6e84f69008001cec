"""What the proof of the fine-tuning theorem says in closed form (appendix G of Pan, Zhou & Yan).

Encoder outputs ``h`` (R, N, K), labels ``y`` (R, N), heads ``u`` (R, k, K), correlations
``<w_r, v_{i,l}>`` (R, K, k, L).
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Literal

import pandas as pd
import torch
from torch import Tensor

from featlearn.core.progress import Progress
from featlearn.mrp.data import MultiView, Samples, sample
from featlearn.mrp.experiment import Experiment
from featlearn.mrp.gradients import classification_descent, encode_in_blocks
from featlearn.mrp.measure import (
    EVALUATION_COLUMNS,
    capture,
    capture_rows,
    finetuning_history,
    predict,
    prediction_rows,
    replicate_rows,
)
from featlearn.mrp.model import Activation, class_scores, smoothed_relu
from featlearn.mrp.train import capture_strength, correlations, train_classifier

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
BALANCE_COLUMNS = ("model", "replicate", "class", "view", "balance", "accuracy")


def finetune(job: Job) -> Results:
    """Fine-tune, recording every step: both orders of update, two ends of the pre-training."""
    experiment = _experiment(job)
    options = job.config["finetuning"]
    samples = experiment.train_samples()
    pretrained = job.tensors("pretrained")
    weights: dict[str, Tensor] = {}
    histories = []
    for name, (kernels, order) in RUNS.items():
        steps = options["steps" if name == "simultaneous" else "short_steps"]
        done = train_classifier(
            samples.x,
            samples.y,
            pretrained[kernels],
            experiment.zero_head(),
            experiment.activation,
            encoder_rate=options["encoder_rate"],
            head_rate=options["head_rate"],
            steps=steps,
            order=order,
            record_every=1,
            features=experiment.features,
            report=Progress(f"{job.rule} {name}", steps).report,
        )
        weights |= {f"{name}.w": done.w, f"{name}.u": done.u}
        histories.append(finetuning_history(done.trace).assign(model=name))
    return {"weights": weights, "learning": pd.concat(histories, ignore_index=True)}


def evaluate(job: Job) -> Results:
    """Measure the first step, what fine-tuning keeps, and which single-view samples it gets."""
    experiment = _experiment(job)
    spec, activation, features = experiment.spec, experiment.activation, experiment.features
    options, samples = job.config["finetuning"], experiment.train_samples()
    tests = {
        "multi_view": experiment.test_samples(single_view=False),
        "single_view": experiment.test_samples(single_view=True),
    }
    pretrained, finetuned = job.tensors("pretrained"), job.tensors("finetuned")

    rates = {"head_rate": options["head_rate"], "encoder_rate": options["encoder_rate"]}
    found = first_step(samples, pretrained["w"], features, spec, activation, **rates)
    for multiple in options["first_head_rates"]:
        mass = wrong_mass_after_one_step(
            samples, pretrained["w"], spec.classes, activation, multiple * spec.classes
        )
        found[f"wrong_mass_at_{multiple}k"] = mass
        found[f"k_times_wrong_mass_at_{multiple}k"] = spec.classes * mass
    rows = [*replicate_rows("first_step", found)]
    for name, (start, _) in RUNS.items():
        w, u = finetuned[f"{name}.w"], finetuned[f"{name}.u"]
        seen = {kind: predict(test, w, u, activation) for kind, test in tests.items()}
        rows += [
            *prediction_rows(name, seen), *capture_rows(name, capture(w, features, activation))
        ]  # fmt: skip
        kept = capture_strength(w, features) / capture_strength(pretrained[start], features)
        rows += replicate_rows(name, {"least_kept": kept.flatten(1).amin(1)})
    return {
        "evaluation": pd.DataFrame(rows, columns=EVALUATION_COLUMNS),
        "balance": _balance(job, experiment, pretrained, finetuned),
    }


def _experiment(job: Job) -> Experiment:
    return Experiment("clean", job.config["clean"], job.seed, job.device)


def _balance(
    job: Job, experiment: Experiment, pretrained: dict[str, Tensor], finetuned: dict[str, Tensor]
) -> pd.DataFrame:
    """What kernels promise on single-view data, and what the networks then do there."""
    spec, activation = experiment.spec, experiment.activation
    many = sample(
        spec,
        experiment.features.cpu(),
        job.config["finetuning"]["balance_samples"],
        experiment.streams("test-balance"),
        single_view=True,
    ).to(job.device)
    supervised = job.tensors("supervised")
    blocks = supervised["u"].transpose(1, 2).unsqueeze(-1) > 0
    networks: dict[str, tuple[Tensor, Tensor | None, Tensor, Tensor]] = {
        "supervised": (supervised["w"], blocks, supervised["w"], supervised["u"]),
    }
    for name, run in (("at_capture", "at_capture"), ("pretrained", "u_then_w")):
        start, w, u = pretrained[RUNS[run][0]], finetuned[f"{run}.w"], finetuned[f"{run}.u"]
        networks[name] = (start, None, w, u)
    cells: list[tuple[str, int, int, int, float, float]] = []
    for name, (before, eligible, w, u) in networks.items():
        weights = feature_weights(correlations(before, experiment.features), eligible)
        promised = balance(weights, spec.weak_strength, spec.off_strength[1])
        found = predict(many, w, u, activation)
        right = found.scores.argmax(-1) == found.y
        shape = (spec.classes, spec.features_per_class)
        cells += balance_rows(name, promised, by_strong_view(right, many.y, many.strong, shape))
    return pd.DataFrame(cells, columns=BALANCE_COLUMNS)


def first_head(h: Tensor, y: Tensor, classes: int, head_rate: float) -> Tensor:
    """The head after one step from zero, ``u_{i,r} = eta_2 mean_n (1{y=i} - 1/k) h_r``.

    Returns
    -------
    Tensor
        (R, k, K).
    """
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

    Parameters
    ----------
    correlation
        Of each kernel with its feature, any shape.

    Returns
    -------
    own, other
        Of the shape of ``correlation``.
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

    Parameters
    ----------
    eligible : broadcastable to (R, K, k, L) bool
        Which kernels count; None for all. The paper sums over the lottery set, outside of which a
        kernel adds ``O(sigma_0^2)`` at most, unless the winner itself is outside.
    """
    squared = correlation.clamp_min(0) ** 2
    return (squared if eligible is None else squared * eligible).sum(1)


def balance(weights: Tensor, weak_strength: float, off_strength: float) -> Tensor:
    """How far a single-view sample stands above its worst distractor (equation (26)).

    ``(Psi_{y,l} + rho sum_{l' != l} Psi_{y,l'}) / (0.4 max_{j != y} Psi_j)`` for strong view ``l``,
    where ``Psi_j`` sums over the features of class j: above 1 the sample is right even if all
    features of class j are present at their largest off-class strength.

    Parameters
    ----------
    weights : (R, k, L)
        From :func:`feature_weights`.
    weak_strength
        ``rho``.
    off_strength
        The largest strength of an off-class feature, 0.4 in the paper.

    Returns
    -------
    Tensor
        (R, k, L).
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

    Parameters
    ----------
    right, y, strong : (R, N)
        Correct or not; class; strong view.
    shape
        ``(k, L)``.

    Returns
    -------
    Tensor
        (R, k, L); not a number where there is no such sample.
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

    Returns
    -------
    dict of (R,)
        ``head_error``: relative distance of the head from its closed form. ``own_positive``,
        ``other_negative``: shares of the winners' weights with the sign of the proof.
        ``own_over_expected``: mean own-class weight over that of the closed form.
        ``idle_over_own``: largest weight of an idle kernel over the median own weight.
        ``encoder_moved``: largest change of a kernel in a simultaneous first step.
        ``least_gain``: smallest gain of a winner's correlation, over ``eta_1 eta_2 / k**2`` times
        that correlation, when the encoder's step sees the new head.
    """
    classes, views = spec.classes, spec.features_per_class
    zero = w.new_zeros((w.shape[0], classes, w.shape[1]))
    down = classification_descent(samples.x, samples.y, w, zero, activation)
    head = head_rate * down.u
    closed = first_head(encode_in_blocks(samples.x, w, activation), samples.y, classes, head_rate)
    assert down.w is not None
    second = classification_descent(samples.x, samples.y, w, head, activation)
    assert second.w is not None
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
        found = {
            "head_error": (head[r] - closed[r]).abs().max() / closed[r].abs().max(),
            "own_positive": (own > 0).double().mean(),
            "other_negative": (other < 0).double().mean(),
            "own_over_expected": own.mean() / expected.mean(),
            "idle_over_own": idle_weight.max() / own.median() if idle.any() else own.new_zeros(()),
            "encoder_moved": encoder_rate * down.w[r].abs().max(),
            "least_gain": (gained / unit).min(),
        }
        for name, value in found.items():
            rows.setdefault(name, []).append(value.double())
    return {name: torch.stack(values) for name, values in rows.items()}


def wrong_mass_after_one_step(
    samples: Samples, w: Tensor, classes: int, activation: Activation, head_rate: float
) -> Tensor:
    """(R,) mean ``1 - logit_y`` after one step of the head from zero."""
    h = encode_in_blocks(samples.x, w, activation)
    head = first_head(h, samples.y, classes, head_rate)
    return wrong_mass(class_scores(h, head), samples.y).mean(-1)


def balance_rows(
    model: str, promised: Tensor, accuracy: Tensor
) -> Iterator[tuple[str, int, int, int, float, float]]:
    """One row a replicate, class and strong view: both arguments (R, k, L)."""
    index = itertools.product(*(range(size) for size in promised.shape))
    values = zip(promised.flatten().tolist(), accuracy.flatten().tolist(), strict=True)
    for place, value in zip(index, values, strict=True):
        yield model, *place, *value
