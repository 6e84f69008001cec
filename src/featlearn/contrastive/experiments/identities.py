"""Statements about expectations, by sampling: closed forms of stage I and II, and section 2.

Rows name a check, a setting, a replicate, what was measured and what the closed form predicts.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import pandas as pd
import torch
from torch import Tensor

from featlearn.contrastive import closed_forms as forms
from featlearn.contrastive.data import SparseCoding, draw_dictionary, positives, sample
from featlearn.contrastive.measure import Alignment, Lottery, mean_over
from featlearn.contrastive.model import (
    Batch,
    codes,
    contrastive_loss,
    initial_weights,
    symmetrised_relu,
    weight_descent,
)
from featlearn.contrastive.train import Learner, Thresholds, Training, draw_batch, train
from featlearn.core.evidence.frames import tidy
from featlearn.core.seeds import Streams, draws

if TYPE_CHECKING:
    from featlearn.core.run.job import Job
    from featlearn.core.run.outputs import Results

NAN = math.nan

#: Setting of the growth rates at b = 0: data, neurons, negatives.
RATE_SPEC, RATE_NEURONS, RATE_NEGATIVES = SparseCoding(16, 64), 40, 255
RATE_SCALES = (0.1, 0.2, 0.3)
#: Setting of the statements on one atom: ``(alpha, ||perp||)``; b is the threshold at T1.
ATOM_SPEC = SparseCoding(32, 512)
ATOM_SETTINGS = ((0.2, 0.98), (0.4, 0.9), (0.7, 0.7), (1.0, 0.0))
#: Threshold of the decoding map of section 4 (ours: halfway between silent and active).
DECODING_THRESHOLD = 0.5
#: Numbers of atoms, as powers of ten, at which the order of Theorem C.1(4) is looked at.
LARGE_SIZES = (2, 20, 50, 200)


def measure(job: Job) -> Results:
    """Compare closed forms of expectations with samples."""
    config = job.config
    streams = Streams(job.seed, "contrastive", "identities", range(config["replicates"]))
    checks = [
        *growth_rates(streams, config["rate_rounds"]),
        *no_augmentation(streams, config["wide"]),
        *one_atom(streams, config["atom_samples"]),
        *noise_alone(streams, config["atom_samples"]),
        *sparse_and_dense(streams, config["sizes"], config["size_samples"]),
        *lottery_sizes(streams, config["lottery_sizes"]),
        *large_coordinates(streams),
    ]
    return {"sampled": pd.concat(checks, ignore_index=True)}


def rows(
    check: str, setting: float, measured: Tensor, predicted: Tensor | float
) -> Iterator[pd.DataFrame]:
    """One row a replicate."""
    axes: dict[str, Any] = {"check": [check], "setting": [float(setting)]}
    yield tidy(axes | {"replicate": range(len(measured))}, measured=measured, predicted=predicted)


def _zeros(w: Tensor) -> Tensor:
    return torch.zeros(w.shape[:2], dtype=w.dtype)


def _along(down: Tensor, part: Tensor) -> Tensor:
    """(R,): mean rate of growth of the part of the weights in a subspace."""
    return (down * part).sum((1, 2)) / part.square().sum((1, 2))


def growth_rates(streams: Streams, rounds: int) -> Iterator[pd.DataFrame]:
    """Rates along ``span(M)`` and its complement at b = 0, against the next-order formula."""
    spec, negatives = RATE_SPEC, RATE_NEGATIVES
    atoms = draw_dictionary(spec, streams("rate-dictionary")).to("cpu").atoms
    training = Training(negatives + 1, negatives, 1.0, 1)
    for scale in RATE_SCALES:
        w = initial_weights(RATE_NEURONS, spec.dimension, scale, streams("rate-weights"))
        own = streams("rate-samples")
        total = torch.zeros_like(w)
        for _ in range(rounds):
            total += weight_descent(draw_batch(spec, atoms, training, own), w, _zeros(w), 1.0)
        formula = forms.next_order_descent(spec, atoms.double(), w.double(), negatives, 1.0)
        signal = torch.bmm(torch.bmm(w, atoms), atoms.mT)
        for name, part in (("rate_signal", signal), ("rate_dense", w - signal)):
            measured = _along(total / rounds, part)
            yield from rows(name, scale, measured, _along(formula, part.double()))


def no_augmentation(streams: Streams, config: Mapping[str, Any]) -> Iterator[pd.DataFrame]:
    """Theorem 3.2 and Fact F.4 over d_1: without augmentation, thresholds at zero, at the end
    ``1 - cos(f(x), f(xi))``, the mean share of ``||w_i||^2`` in ``span(M)``, and the loss.
    """
    for dimension in config["dimensions"]:
        spec = SparseCoding(config["atoms"], dimension)
        atoms = draw_dictionary(spec, streams(f"wide-{dimension}-dictionary")).to("cpu").atoms
        w = initial_weights(config["neurons"], dimension, 0.01, streams(f"wide-{dimension}"))
        training = Training(config["anchors"], config["negatives"], config["learning_rate"],
                            config["steps"], masking="none")  # fmt: skip
        own = Learner(spec, atoms, w, training, Thresholds("zero"), streams(f"wide-{dimension}-x"))
        w = train(own, record_every=training.steps).w
        seen = sample(spec, atoms, 1000, streams(f"wide-{dimension}-test"))
        f, noise = (torch.bmm(x, w.mT) for x in (seen.x, seen.xi))
        first = seen.x[:, :500]
        loss = contrastive_loss(codes(Batch(first, first, seen.x[:, 500:]), w, _zeros(w)), 1.0)
        cosine = torch.cosine_similarity(f, noise, dim=-1).mean(-1)
        share = Alignment.of(w, atoms).signal_share.mean(1)
        yield from rows("off_noise", dimension, 1 - cosine, NAN)
        yield from rows("wide_signal_share", dimension, share, NAN)
        yield from rows("wide_loss", dimension, loss, NAN)


def one_atom(streams: Streams, count: int) -> Iterator[pd.DataFrame]:
    """Lemmas D.3 and D.4 in closed form: pull on an active atom, and on a dense direction."""
    spec = ATOM_SPEC
    drawn = draw_dictionary(spec, streams("atom-dictionary"), complement=True).to("cpu")
    atom, dense = drawn.atoms[..., 0], drawn.complement()[..., 0]
    own = streams("atom-samples")
    b = torch.tensor(forms.bias_at_t1(spec.atoms), dtype=torch.float64)
    for alpha, perp in ATOM_SETTINGS:
        w = (alpha * atom + perp * dense).unsqueeze(1)
        norm = math.hypot(alpha, perp)
        threshold = (norm * b).float().expand(len(w), 1)
        noise = draws(torch.randn, own, count, spec.dimension)
        x = atom.unsqueeze(1) + spec.sigma * noise
        plus, other = positives(x, own, "complementary")
        h = symmetrised_relu(torch.bmm(other, w.mT), threshold)
        fired = (torch.bmm(plus, w.mT).abs() >= threshold.unsqueeze(1)).float()
        pulled = (h * fired).double()
        a, s = torch.tensor(alpha).double(), math.sqrt(2) * spec.sigma * norm
        args = (a, norm * b, torch.tensor(s, dtype=torch.float64))
        wanted = forms.mean_response(*args) * forms.firing_probability(*args)
        yield from rows("atom_pull", alpha, pulled.mean((1, 2)), wanted)
        if perp:
            along = (pulled * torch.bmm(plus, dense.unsqueeze(-1))).mean((1, 2))
            dense_wanted = forms.dense_pull(*args, torch.tensor(perp).double(), spec.variance)
            yield from rows("dense_pull", alpha, along, dense_wanted)


def noise_alone(streams: Streams, count: int) -> Iterator[pd.DataFrame]:
    """A sample of noise alone: its pull without masks (Lemma F.1 for b > 0), and with them."""
    spec = ATOM_SPEC
    own = streams("noise-alone")
    w = initial_weights(1, spec.dimension, 1.0, streams("noise-weight"))
    w = w / w.norm(dim=-1, keepdim=True)
    for share in (0.0, 0.5, 1.0):
        b = share * forms.bias_at_t1(spec.atoms)
        noise = draws(torch.randn, own, count, spec.dimension)
        xi = spec.sigma * noise
        threshold = torch.full((len(w), 1), b)
        u = torch.bmm(xi, w.mT)
        one, size = torch.ones((), dtype=torch.float64), torch.tensor(b, dtype=torch.float64)
        wanted = forms.noise_pull_without_mask(size, one, one, spec.variance)
        h = symmetrised_relu(u, threshold)
        yield from rows("noise_pull", share, (h * u).double().mean((1, 2)), wanted)
        fired = (u.abs() >= threshold.unsqueeze(1)).double()
        yield from rows("noise_pull_as_printed", share, (h * u).double().mean((1, 2)),
                        (fired * u**2).mean((1, 2)))  # fmt: skip
        plus, other = positives(xi, own, "complementary")
        seen = torch.bmm(plus, w.mT)
        fired = (seen.abs() >= threshold.unsqueeze(1)).float()
        h = symmetrised_relu(torch.bmm(other, w.mT), threshold)
        yield from rows("masked_noise_pull", share, (h * fired * seen).double().mean((1, 2)), 0.0)


def sparse_and_dense(streams: Streams, sizes: Sequence[int], count: int) -> Iterator[pd.DataFrame]:
    """Sections 2 and 4 on data of growing d (D = 8 d): significance, individuality, decoding."""
    for atoms_count in sizes:
        spec = SparseCoding(atoms_count, 8 * atoms_count)
        atoms = draw_dictionary(spec, streams(f"size-{atoms_count}-dictionary")).to("cpu").atoms
        own = streams(f"size-{atoms_count}-samples")
        seen = sample(spec, atoms, count, own)
        moment = torch.bmm(seen.x, atoms).square().mean((1, 2))
        ratio = moment / (seen.xi.square().mean((1, 2)))
        yield from rows("second_moments", atoms_count, ratio, forms.second_moment_ratio(spec))
        view, _ = positives(seen.x, own, "complementary")
        seen_along = torch.bmm(view, atoms)
        code = seen_along.sign() * (seen_along.abs() > DECODING_THRESHOLD)
        precision = mean_over(code == seen.z, code != 0)
        yield from rows("decoding_precision", atoms_count, precision, NAN)


def lottery_sizes(streams: Streams, sizes: Sequence[int]) -> Iterator[pd.DataFrame]:
    """Lemma B.2 at m = 8 d and at the paper's m = d^1.01, D = 8 d: read off initial weights."""
    for d in sizes:
        spec = SparseCoding(d, 8 * d)
        atoms = draw_dictionary(spec, streams(f"lottery-{d}-dictionary")).to("cpu").atoms
        for label, m in (("", 8 * d), ("_paper_width", round(d**1.01))):
            own = streams(f"lottery-{d}{label}")
            # one by one: the weights of all replicates need not be held together
            alpha = torch.cat([
                torch.bmm(initial_weights(m, spec.dimension, spec.dimension**0.5, [one]), basis)
                for one, basis in zip(own, atoms.unsqueeze(1), strict=True)
            ])  # fmt: skip
            lucky = Lottery.of(alpha).lucky.any(1)
            empty = 1 - lucky.double().mean(1)
            yield from rows(f"atoms_without_lucky{label}", d, empty, NAN)


def large_coordinates(streams: Streams) -> Iterator[pd.DataFrame]:
    """Theorem C.1(4): the chance of a large coordinate over the printed order; d by its log10.

    A closed form, at sizes that no computer holds: the same in every replicate.
    """
    for digits in LARGE_SIZES:
        result = forms.large_coordinate_chance(digits * math.log(10))
        same = torch.full((len(streams.replicates),), result, dtype=torch.float64)
        yield from rows("large_coordinates", digits, same, NAN)
