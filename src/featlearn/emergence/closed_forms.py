"""What the theory of chapter 2 gives in closed form."""

from __future__ import annotations

import math

import torch
from torch import Tensor

from featlearn.emergence.data import Law, World
from featlearn.emergence.model import Network


def best_network(world: World) -> Network:
    """A network of 3 (k + 1) neurons that gives every label exactly (Lemma A.1).

    A tent over each count, made of three neurons, carries the label of that count. Pre-activations
    stay below one, so that the truncation is never met. Of the two heights and shifts that the
    lemma allows the one is taken whose biases all are at least 1 / (32 k).

    Returns it in float64 and in reduced coordinates.
    """
    law, k = world.law, world.law.relevant
    mean = k * law.relevant_frequency
    labels = law.label(torch.arange(k + 1)).double()
    counts = torch.arange(k + 1, dtype=torch.float64)
    height, biases = 0.0, torch.zeros(0)
    for shift, height in ((0.0, 2.0), (0.25, 4.0)):  # noqa: B007  the first that is good
        middle = -(counts - mean + shift) / (4 * k)
        biases = torch.stack([middle + d / (4 * k) for d in (0.5, 0.0, -0.5)], 1)
        if biases.abs().min() >= 1 / (32 * k) - 1e-12:
            break
    outer = 4 * k * labels[:, None] * torch.tensor([height, -2 * height, height])
    weight = torch.zeros(len(world.relevant), law.patterns, dtype=torch.float64)
    weight.scatter_(1, world.relevant, law.scale / (4 * k))
    neurons = 3 * (k + 1)
    rows = torch.cat(
        [
            weight[:, None].expand(-1, neurons, -1),
            biases.flatten().expand(len(weight), -1)[..., None],
        ],
        -1,
    )
    return Network(rows, outer.flatten().double().expand(len(weight), -1))


def reach(bias: Tensor, noise: float) -> Tensor:
    """beta: probability that a neuron of weight zero is in its linear part, given its bias."""
    return torch.special.ndtr(bias / noise) - torch.special.ndtr((bias - 1) / noise)


def second_step_cosine(law: Law, samples: int) -> float:
    """Cosine with the relevant direction after step 2, of every neuron, up to fluctuations.

    The mean of ``y x`` over n samples has the part ``gamma / scale`` along each relevant pattern
    and sampling noise of variance ``p_o (1 - p_o) / (n scale^2)`` along every other one.
    """
    p = law.irrelevant_frequency
    wrong = (law.patterns - law.relevant) * p * (1 - p) / samples
    return 1 / math.sqrt(1 + wrong / (law.relevant * law.weighted_gamma**2))


def largest_start_cosine(pairs: int, dimension: int) -> float:
    """About the largest cosine of m random weights with a direction: sqrt(2 ln m / d), refined.

    The mean of the largest of m standard normal numbers (Blom's approximation) over sqrt(d).
    """
    from scipy.special import ndtri  # slow to import

    return float(ndtri((pairs - 0.375) / (pairs + 0.25))) / math.sqrt(dimension)


def corner_sum(relevant: int) -> int:
    """``sum_c y_c ReLU(<c, x>)`` over all corners of a cube, at a corner x labelled +1 (A.7.4).

    The thesis says that a network on the hypercube mixture is about such a sum, with output weights
    of the sign of the corner's label. Without biases it is 1, 2, 0, -4, 0, 12, 0, -40 for k = 1 to
    8: so of the wrong sign at k = 4, and nothing at k = 5.
    """
    k = relevant
    return sum(math.comb(k, h) * (-1) ** h * max(k - 2 * h, 0) for h in range(k + 1))


def classical_map(cosines: Tensor) -> Tensor:
    """(N, 2) classical multidimensional scaling of the dissimilarities ``1 - cosine``.

    The first point, a star, lies right; the second axis has a positive largest entry.
    """
    number = len(cosines)
    centre = torch.eye(number, dtype=torch.float64, device=cosines.device) - 1 / number
    gram = -0.5 * centre @ (1 - cosines.double()).square() @ centre
    values, vectors = torch.linalg.eigh((gram + gram.T) / 2)
    points = vectors[:, [-1, -2]] * values[[-1, -2]].clamp_min(0).sqrt()
    signs = torch.stack([points[0, 0], points[points[:, 1].abs().argmax(), 1]]).sign()
    return points * torch.where(signs == 0, 1.0, signs)
