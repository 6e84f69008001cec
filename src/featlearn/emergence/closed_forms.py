"""What the theory of chapter 2 gives in closed form."""

from __future__ import annotations

import torch
from torch import Tensor


def classical_map(cosines: Tensor) -> Tensor:
    """(N, 2) classical multidimensional scaling of the dissimilarities ``1 - cosine``. The first
    point, a star, lies right; the second axis has a positive largest entry."""
    number = len(cosines)
    centre = torch.eye(number, dtype=torch.float64, device=cosines.device) - 1 / number
    gram = -0.5 * centre @ (1 - cosines.double()).square() @ centre
    values, vectors = torch.linalg.eigh((gram + gram.T) / 2)
    points = vectors[:, [-1, -2]] * values[[-1, -2]].clamp_min(0).sqrt()
    signs = torch.stack([points[0, 0], points[points[:, 1].abs().argmax(), 1]]).sign()
    return points * torch.where(signs == 0, 1.0, signs)
