"""Walking through the data in blocks that stay in the processor's cache.

A step needs, for each patch and kernel, a few elementwise operations beside its matrix products.
Done on the whole data they would stream through main memory several times and cost more than the
products; done block by block, in buffers that are used again, they cost little.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import torch
from torch import Tensor

from featlearn.mrp.model import Activation

#: Working set of a block on a CPU, in bytes: about half of a second-level cache.
CACHE_BYTES = 1 << 20


@dataclass(frozen=True)
class Block:
    """Consecutive samples with the responses of all kernels to their patches.

    Attributes
    ----------
    samples
        Which samples.
    x : (R, B * P, d)
        Their patches.
    u, s, slope : (R, B * P, K)
        ``<w_r, x_p>``, smoothed ReLU of it and its derivative. Buffers: free to be overwritten,
        and overwritten by the next block.
    spare : (R, B * P, K)
        One more buffer, of no defined content.
    """

    samples: slice
    x: Tensor
    u: Tensor
    s: Tensor
    slope: Tensor
    spare: Tensor

    def per_sample(self, tensor: Tensor, patches: int) -> Tensor:
        """(R, B * P, K) seen as (R, B, P, K)."""
        return tensor.view(tensor.shape[0], -1, patches, tensor.shape[2])


def responses(x: Tensor, w: Tensor, activation: Activation) -> Iterator[Block]:
    """Run kernels over all samples, block by block; one block on a GPU.

    Parameters
    ----------
    x : (R, N, P, d)
    w : (R, K, d)
    """
    replicates, samples, patches, dimension = x.shape
    kernels = w.shape[1]
    row_bytes = 4 * replicates * patches * kernels * x.element_size()
    size = samples if x.device.type != "cpu" else min(samples, max(1, CACHE_BYTES // row_bytes))
    buffers = [x.new_empty((replicates, size * patches, kernels)) for _ in range(4)]
    transposed = w.transpose(1, 2)
    for start in range(0, samples, size):
        part = slice(start, min(start + size, samples))
        rows = x[:, part].reshape(replicates, -1, dimension)
        u, s, slope, spare = (buffer[:, : rows.shape[1]] for buffer in buffers)
        torch.bmm(rows, transposed, out=u)
        activate(u, s, slope, spare, activation)
        yield Block(part, rows, u, s, slope, spare)


def activate(u: Tensor, s: Tensor, slope: Tensor, spare: Tensor, activation: Activation) -> None:
    """``s`` and ``slope`` become smoothed ReLU of ``u`` and its derivative; uses up ``spare``."""
    q, varrho = activation.q, activation.varrho
    torch.mul(u, 1 / varrho, out=s)
    s.clamp_(0, 1)
    _power(s, q - 1, slope)
    s.mul_(slope).mul_(varrho / q)
    torch.sub(u, varrho, out=spare)
    s.add_(spare.clamp_min_(0))


def _power(base: Tensor, exponent: int, out: Tensor) -> None:
    """``base ** exponent`` by products: several times faster than ``torch.pow``."""
    out.copy_(base)
    for _ in range(exponent - 1):
        out.mul_(base)
