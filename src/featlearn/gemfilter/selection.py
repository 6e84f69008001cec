"""Which tokens of a prompt are kept: the scores of GemFilter, SnapKV, H2O and of a window.

Shapes: S sequences, h query heads, g heads of keys, n tokens, d numbers a head, k kept. Equal
scores are decided by the place: the earlier token is kept.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, Literal

import torch
import torch.nn.functional as F
from torch import Tensor

from featlearn.transformers.attention import attention_weights

Kind = Literal["full", "gemfilter", "snapkv", "h2o", "sinks"]
Row = Literal["last", "middle", "largest"]


@dataclass(frozen=True)
class Method:
    """How a prompt is made shorter.

    ``kind``: ``full``: not at all; ``gemfilter`` (Algorithm 2): the tokens that one layer points at
    are read again, alone; ``snapkv`` (Li et al. 2024), ``h2o`` (Zhang et al. 2023) and ``sinks``
    (Xiao et al. 2024) keep keys and values, which stay at their places. ``kept``: tokens (k); of
    SnapKV and H2O the last ``window`` are among them, as in their authors' code. ``layer``: of
    GemFilter, from 0 (r): r + 1 layers are run. ``kernel``: of the pooled scores; 1 is Algorithm 2
    as printed; the thesis writes of maximum pooling and prints an average over zero-padded windows,
    which is this. ``score``: ``product``: sum over heads of query times key, as printed; ``soft``,
    ours: of the attention. ``first``, ``last``: so many tokens at the ends are kept in any case;
    ours, 0 as printed. ``row``: whose query is compared; ``largest``: that of the largest norm in
    the summed products; ``middle``: place n // 2, which the thesis leaves open. ``one_run``: keep
    keys and values of the selected tokens, in all layers, and run once. ``window``: tokens at the
    end that SnapKV and H2O keep and SnapKV scores by. ``sinks``: at the start, of a window.
    ``by_group``: SnapKV and H2O choose for each head of keys, not of queries.
    """

    kind: Kind
    kept: int = 0
    layer: int = 0
    kernel: int = 5
    score: Literal["product", "soft"] = "product"
    first: int = 0
    last: int = 0
    row: Row = "last"
    one_run: bool = False
    window: int = 32
    sinks: int = 4
    by_group: bool = False

    def __post_init__(self) -> None:
        least = {"full": 0, "gemfilter": self.first + self.last, "sinks": self.sinks,
                 "snapkv": self.window, "h2o": self.window}[self.kind]  # fmt: skip
        if self.kind != "full" and self.kept <= least:
            raise ValueError(f"kept: {self.kept}; expected more than the {least} kept in any case")
        if self.kernel < 1 or self.kernel % 2 == 0:
            raise ValueError(f"kernel: {self.kernel}; expected an odd number")


def largest(scores: Tensor, count: int) -> Tensor:
    """Places of the ``count`` largest of (..., n), in increasing order."""
    order = scores.sort(stable=True, dim=-1, descending=True).indices
    return order[..., : min(count, scores.shape[-1])].sort(-1).values


def pooled(scores: Tensor, kernel: int) -> Tensor:
    """Mean of (..., n) over windows, which counts the zeros beyond the ends."""
    if kernel == 1:
        return scores
    return F.avg_pool1d(scores.flatten(0, -2)[:, None], kernel, 1, kernel // 2).view_as(scores)


def products(q: Tensor, k: Tensor) -> Tensor:
    """Sum over heads of <q, k_i>: (S, n), of one query q (S, h, 1, d) and keys (S, g, n, d)."""
    shared = k.shape[1]
    own = q.float().unflatten(1, (shared, -1)).sum(2)  # type: ignore[no-untyped-call]
    return (own @ k.float().mT).sum((1, 2))


def row_of(q: Tensor, k: Tensor, row: Row) -> Tensor:
    """The query (S, h, 1, d) of a row of all q (S, h, n, d)."""
    n = q.shape[2]
    if row == "last":
        return q[:, :, -1:]
    if row == "middle":
        return q[:, :, n // 2 : n // 2 + 1]
    # |S_i|^2 = q_i^T (K^T K) q_i, of the heads side by side: no n x n matrix
    own = q.float().unflatten(1, (k.shape[1], -1)).sum(2).transpose(1, 2).flatten(2)  # type: ignore[no-untyped-call]
    keys = k.float().transpose(1, 2).flatten(2)
    norms = ((own @ (keys.mT @ keys)) * own).sum(-1)
    place = largest(norms, 1)[:, 0]
    index = place.view(-1, 1, 1, 1).expand(-1, q.shape[1], 1, q.shape[3])
    return q.gather(2, index)


def gemfilter(q: Tensor, k: Tensor, method: Method, scale: float) -> Tensor:
    """J of Algorithm 2: (S, min(k, n)) places in increasing order.

    ``q``: (S, h, 1, d), of the compared row. ``k``: (S, g, n, d).
    """
    if method.score == "product":
        found = products(q, k)
    else:
        found = attention_weights(q.float(), k.float(), causal=False, scale=scale).sum((1, 2))
    found = pooled(found, method.kernel)
    found[:, : method.first] = math.inf
    found[:, k.shape[2] - method.last :] = math.inf
    return largest(found, method.kept)


def observed(q: Tensor, k: Tensor, scale: float) -> Tensor:
    """Attention that keys get from the last w queries q (S, h, w, d), summed: (S, h, n)."""
    return attention_weights(q, k, scale=scale).sum(2)


def accumulated(q: Tensor, k: Tensor, scale: float, rows: int = 256) -> Tensor:
    """The same from all queries, some rows at a time: (S, h, n)."""
    n = k.shape[2]
    found = torch.zeros(*q.shape[:2], n, dtype=q.dtype, device=q.device)
    for start in range(0, n, rows):
        end = min(start + rows, n)
        found[..., :end] += observed(q[:, :, start:end], k[:, :, :end], scale)
    return found


def per_head(mass: Tensor, method: Method, shared: int) -> Tensor:
    """What SnapKV and H2O keep by the attention ``mass`` (S, h, n): (S, h or g, k) places.

    The last ``window`` tokens, and of the others those with most; SnapKV pools before.
    """
    n = mass.shape[-1]
    if method.by_group:
        mass = mass.unflatten(1, (shared, -1)).sum(2)  # type: ignore[no-untyped-call]
    if n <= method.kept:
        return torch.arange(n, device=mass.device).expand(*mass.shape[:2], n)
    past = mass[..., : n - method.window]
    if method.kind == "snapkv":
        past = pooled(past, method.kernel)
    chosen = largest(past.float(), method.kept - method.window)
    recent = torch.arange(n - method.window, n, device=mass.device)
    return torch.cat([chosen, recent.expand(*chosen.shape[:2], -1)], -1)


def with_sinks(n: int, method: Method) -> Tensor:
    """The first tokens and the last, (min(k, n),)."""
    if n <= method.kept:
        return torch.arange(n)
    return torch.cat([torch.arange(method.sinks), torch.arange(n - method.kept + method.sinks, n)])


def arms(kept: int, window: int, layer: int, layers: int) -> dict[str, Method]:
    """All of them at the filter layer ``layer`` of ``layers``; ``safe`` and its kin are ours."""
    literal = Method("gemfilter", kept, layer)
    safe = replace(literal, score="soft", first=1, last=2)
    changes: Mapping[str, dict[str, Any]] = {
        "": {}, " one run": {"one_run": True}, " middle row": {"row": "middle"},
        " largest row": {"row": "largest"}, " no pooling": {"kernel": 1},
    }  # fmt: skip
    found = {
        "full": Method("full"),
        "snapkv": Method("snapkv", kept, window=window),
        "h2o": Method("h2o", kept, window=window),
        "sinks": Method("sinks", kept),
    }
    for name, base in (("gemfilter", literal), ("safe", safe)):
        found |= {name + words: replace(base, **change) for words, change in changes.items()}
    found["forced"] = replace(literal, first=1, last=2)
    if layer + 1 < layers:
        found["next layer"] = replace(literal, layer=layer + 1)
        found["safe next layer"] = replace(safe, layer=layer + 1)
    return found
