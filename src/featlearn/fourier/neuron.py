"""One neuron alone: what it adds to the margin, and the best that it can be (Lemmas 4.10, C.14).

The margin of a network, equally weighted and averaged over inputs, is the sum over neurons of

    O(u, w) = eta(0) - mean_{delta != 0} eta(delta)
    eta(delta) = E_a[(u_1(a_1) + ... + u_k(a_k))^k w(a_1 + ... + a_k - delta)]

so that networks of maximum margin are made of neurons that maximise O at norm 1.
"""

from __future__ import annotations

from collections.abc import Iterator
from math import factorial

import torch
from torch import Tensor

from featlearn.fourier.closed_forms import maximum_margin


def objective(vectors: Tensor) -> Tensor:
    """O by the discrete Fourier transform (Lemma C.14), whatever the means of the vectors::

    k! / ((p - 1) p^k)  sum_{j != 0}  w^(-j) u_1^(j) ... u_k^(j)
    """
    k, p = vectors.shape[-2] - 1, vectors.shape[-1]
    spectra = torch.fft.rfft(vectors)[..., 1:]
    # the frequencies j and -j of real vectors give conjugate terms; p / 2 is its own conjugate
    twice = torch.full((spectra.shape[-1],), 2.0, dtype=vectors.dtype)
    if p % 2 == 0:
        twice[-1] = 1.0
    terms = spectra[..., :k, :].prod(-2) * spectra[..., k, :].conj()
    return factorial(k) / ((p - 1) * p**k) * (twice * terms.real).sum(-1)


def ascend(vectors: Tensor, steps: int) -> Iterator[Tensor]:
    """Gradient ascent of O on the sphere, neurons (S, k + 1, p): the start, then each of the steps.

    O is homogeneous of degree k + 1, so that its gradient at a maximum is (k + 1) gamma* times the
    point itself; a step is that point over k + 1, and longer ones turn back and forth.
    """
    k, p = vectors.shape[-2] - 1, vectors.shape[-1]
    rate = 1 / ((k + 1) ** 2 * maximum_margin(k, p))
    now = vectors / vectors.flatten(1).norm(dim=1)[:, None, None]
    for _ in range(steps):
        yield now
        point = now.detach().requires_grad_()
        (slope,) = torch.autograd.grad(objective(point).sum(), point)
        moved = now + rate * slope
        now = moved / moved.flatten(1).norm(dim=1)[:, None, None]
    yield now
