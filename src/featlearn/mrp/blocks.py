"""Walking through the data in blocks that stay in the processor's cache.

On the whole data a step's elementwise operations would stream through main memory several times
and cost more than its matrix products; block by block, in buffers used again, they cost little.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import torch
from torch import Tensor

from featlearn.mrp.model import Activation

#: Working set of a block on a CPU, in bytes: a second-level cache.
CACHE_BYTES = 1 << 21


class Block(NamedTuple):
    """Some replicates and consecutive samples of them, with the responses of all their kernels.

    ``r`` and ``B`` are the numbers of replicates and of samples in the block. All from ``u`` on are
    buffers: free to be overwritten, and overwritten by the next block.
    """

    replicates: slice
    samples: slice
    x: Tensor  #: (r, B * P, d), the patches
    u: Tensor  #: (r, B * P, K), ``<w_r, x_p>``
    s: Tensor  #: (r, B * P, K), smoothed ReLU of it
    slope: Tensor  #: (r, B * P, K), the derivative of that
    spare: Tensor  #: (r, B * P, K), of no defined content

    def per_sample(self, tensor: Tensor, patches: int) -> Tensor:
        """(r, B * P, K) seen as (r, B, P, K)."""
        return tensor.view(tensor.shape[0], -1, patches, tensor.shape[2])


def responses(x: Tensor, w: Tensor, activation: Activation) -> Iterator[Block]:
    """Kernels ``w`` (R, K, d) over samples ``x`` (R, N, P, d) by blocks; one block on a GPU."""
    replicates, samples, patches, dimension = x.shape
    kernels = w.shape[1]
    together, size = _block_shape(x, kernels)
    buffers = [x.new_empty((together, size * patches, kernels)) for _ in range(4)]
    transposed = w.transpose(1, 2)
    for first in range(0, replicates, together):
        chosen = slice(first, min(first + together, replicates))
        for start in range(0, samples, size):
            part = slice(start, min(start + size, samples))
            rows = x[chosen, part].reshape(chosen.stop - first, -1, dimension)
            u, s, slope, spare = (buffer[: rows.shape[0], : rows.shape[1]] for buffer in buffers)
            torch.bmm(rows, transposed[chosen], out=u)
            activate(u, s, slope, spare, activation)
            yield Block(chosen, part, rows, u, s, slope, spare)


def _block_shape(x: Tensor, kernels: int) -> tuple[int, int]:
    """Replicates and samples of a block: whole replicates while they fit the cache, else one, cut
    by samples, as its long products run faster than many short ones.
    """
    replicates, samples, patches, _ = x.shape
    if x.device.type != "cpu":
        return replicates, samples
    sample_bytes = 4 * patches * kernels * x.element_size()
    fitting = CACHE_BYTES // sample_bytes
    if fitting >= samples:
        return min(replicates, fitting // samples), samples
    return 1, max(1, fitting)


def activate(u: Tensor, s: Tensor, slope: Tensor, spare: Tensor, activation: Activation) -> None:
    """``s`` and ``slope`` become smoothed ReLU of ``u`` and its derivative; uses up ``spare``.

    With ``t = u / varrho`` and ``a = clamp(t, 0, 1)`` they are
    ``varrho (max(t, 0) - a + a**q / q)`` and ``a**(q-1)``: seven or eight passes over the block.
    """
    q, varrho = activation.q, activation.varrho
    torch.mul(u, 1 / varrho, out=s)
    torch.clamp(s, 0, 1, out=spare)
    _power(spare, q - 1, slope)
    s.clamp_min_(0).sub_(spare).addcmul_(spare, slope, value=1 / q).mul_(varrho)


def _power(base: Tensor, exponent: int, out: Tensor) -> None:
    """``base ** exponent`` by products: several times faster than ``torch.pow``."""
    if exponent == 1:
        out.copy_(base)
        return
    torch.mul(base, base, out=out)
    for _ in range(exponent - 2):
        out.mul_(base)
