"""Networks that attain the maximum margin: the one of the thesis, and one of fewer neurons (ours).

Both are a set of neurons a frequency zeta, pure cosines of one amplitude whose phases add up::

    u_j(a) = beta cos(theta_j + 2 pi zeta a / p),  w(c) = beta cos(theta_w + 2 pi zeta c / p)
    theta_1 + ... + theta_k = theta_w  (mod 2 pi)

such that the sum over the set is a multiple of cos(2 pi zeta (a_1 + ... + a_k - c) / p). That,
summed over the frequencies, is (p - 1) / 2 where c is the label and -1/2 elsewhere (the thesis
prints 0), so that all wrong logits are equal and all inputs have the same margin.
"""

from __future__ import annotations

from itertools import product
from math import pi

import torch
from torch import Tensor

from featlearn.fourier.closed_forms import amplitude, frequencies
from featlearn.fourier.network import Network


def thesis_phases(k: int) -> Tensor:
    """Phases (2^(2k - 1), k + 1) of the neurons of one frequency, the output's last (Lemma C.18).

    For each way b to write the cosine of a sum as products of cosines and sines (b_j = 1: a sine),
    and all signs c with c_1 = 1, by which 2^(k - 1) powers of sums make one product (Lemma C.16).
    """
    rows = []
    for b in product((0, 1), repeat=k):
        last = sum(b) % 2
        flip = (sum(b) + last) % 4 == 2
        for c in product((1, -1), repeat=k - 1):
            negative = c.count(-1)
            own = [-pi / 2 * sine + pi * (sign < 0)
                   for sine, sign in zip(b, (1, *c), strict=True)]  # fmt: skip
            rows.append([*own, pi / 2 * last + pi * ((flip + negative) % 2)])
    return torch.tensor(rows, dtype=torch.float64)


def grid_phases(k: int) -> Tensor:
    """Phases (3^k, k + 1): all of 0, 2 pi / 3, 4 pi / 3 for the inputs, their sum for the output.

    Three phases average every product of powers away but the one that is wanted; from k = 3 on
    these are fewer neurons than the thesis takes.
    """
    inputs = torch.tensor(list(product(range(3), repeat=k)), dtype=torch.float64) * (2 * pi / 3)
    return torch.cat([inputs, inputs.sum(1, keepdim=True)], 1)


PHASES = {"thesis": thesis_phases, "grid": grid_phases}


def construct(name: str, k: int, p: int) -> Network:
    """One network (R = 1) of norm 1 in double precision, all its neurons of the same norm.

    ``name``: one of :data:`PHASES`. ``p``: odd in the thesis; an even one leaves out p / 2.
    """
    phases = PHASES[name](k)
    turns = 2 * pi / p * torch.outer(torch.arange(1, frequencies(p) + 1), torch.arange(p)).double()
    each = (phases[None, :, :, None] + turns[:, None, None]).cos()  # (frequency, neuron, k + 1, p)
    weights = amplitude(k, p) * each.flatten(0, 1).permute(1, 2, 0)
    unit = Network(weights[None, :k].contiguous(), weights[k:].contiguous())
    return unit.scaled(unit.w.shape[-1] ** (-1 / (k + 1)))
