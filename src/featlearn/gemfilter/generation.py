"""Greedy generation after a prompt that a method made shorter.

A prompt is read layer by layer; SnapKV and H2O drop keys and values of a layer as soon as it is
read. The first token of these, of a window and of the single run comes from the whole prompt.
GemFilter's first run stores only the selected tokens; its second is an ordinary generation.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, field
from typing import Any

import torch
from torch import Tensor
from torch.utils.flop_counter import FlopCounterMode, sdpa_flop_count

from featlearn.gemfilter.networks import Network
from featlearn.gemfilter.selection import (
    Method,
    accumulated,
    gemfilter,
    observed,
    per_head,
    row_of,
    with_sinks,
)
from featlearn.transformers.attention import grouped
from featlearn.transformers.cache import Cache

#: Attention on a processor, which the counter of PyTorch does not know.
OF_PROCESSORS = {
    torch.ops.aten._scaled_dot_product_flash_attention_for_cpu:
        lambda q, k, v, *_, **__: int(sdpa_flop_count(q, k, v)),  # type: ignore[no-untyped-call]
}  # fmt: skip


@dataclass
class Meter:
    """Floating-point operations (of matrix products) and peaks of memory, by phase.

    ``weights`` are those of the resident layers, without embeddings; ``cache`` the keys and values
    that are held. Phases: ``prompt``, ``second prompt`` (of GemFilter), ``generation``.
    """

    counts: bool = True
    flops: dict[str, int] = field(default_factory=dict)
    weights: dict[str, int] = field(default_factory=dict)
    cache: dict[str, int] = field(default_factory=dict)
    _phase: str = ""

    @contextmanager
    def phase(self, name: str) -> Iterator[None]:
        self._phase = name
        counting: Any = FlopCounterMode(display=False, custom_mapping=OF_PROCESSORS)
        with counting if self.counts else nullcontext() as counter:
            yield
        if counter:
            self.flops[name] = self.flops.get(name, 0) + counter.get_total_flops()

    def see(self, network: Network, layers: int, cache: int) -> None:
        """Now so many layers are resident, and so many bytes of keys and values."""
        if self.counts:
            weights = sum(network.bytes_of(layer) for layer in range(layers))
            for seen, now in ((self.weights, weights), (self.cache, cache)):
                seen[self._phase] = max(seen.get(self._phase, 0), now)


@dataclass
class Seen:
    """What methods choose by in one layer, besides its keys."""

    recent: Tensor  #: the last queries, (S, h, w, d)
    rows: dict[str, Tensor]  #: the query of other rows, by name
    mass: Tensor | None  #: attention that keys got from all queries, (S, h, n), if asked for

    @classmethod
    def of(
        cls, q: Tensor, k: Tensor, scale: float, window: int, rows: Collection[Any], mass: bool
    ) -> Seen:
        """Of all queries q (S, h, n, d), or of the last ``window`` where no more is asked for."""
        # what is kept is a copy: a view would keep all of q in memory
        return cls(q[:, :, -window:].clone(), {row: row_of(q, k, row).clone() for row in rows},
                   accumulated(q, k, scale) if mass else None)  # fmt: skip

    def choose(self, k: Tensor, method: Method, scale: float) -> Tensor:
        """Places among keys k (S, g, n, d): (S, k) of GemFilter; of SnapKV and H2O each head's."""
        if method.kind == "gemfilter":
            q = self.recent[:, :, -1:] if method.row == "last" else self.rows[method.row]
            return gemfilter(q, k, method, scale)
        mass = self.mass if method.kind == "h2o" else None
        if mass is None:
            mass = observed(self.recent[:, :, -method.window :], k, scale)
        return per_head(mass, method, k.shape[1])


@dataclass
class Reading:
    """What all methods need of one pass over a prompt, so that it is read once for many of them."""

    tokens: Tensor  #: (S, n)
    cache: Cache
    seen: list[Seen]  #: of each layer
    logits: Tensor  #: of the next token, (S, V)

    def select(self, method: Method, layer: int, scale: float) -> Tensor:
        """GemFilter's selection at any layer, (S, k)."""
        return self.seen[layer].choose(self.cache.keys_and_values(layer)[0], method, scale)


@dataclass
class Answer:
    """What was generated, and what was kept for it."""

    tokens: Tensor  #: (S, t)
    #: GemFilter and a window: (S, k). SnapKV, H2O: (S, h, k) of each layer. Full: nothing
    kept: list[Tensor]


@torch.no_grad()
def read(
    network: Network, tokens: Tensor, *, window: int = 32, rows: Collection[Any] = (),
    layer: int = 0, mass: bool = False,
) -> Reading:  # fmt: skip
    """Read prompts (S, n) through all layers and keep what any method asks for.

    ``window``: of the queries at the end. ``rows``, ``layer``: which others are looked up, and
    where. ``mass``: whether H2O needs the attention of all rows.
    """
    cache = Cache(network.layers)
    seen: list[Seen] = []

    def look(at: int, q: Tensor, k: Tensor) -> None:
        looked_up = rows if at == layer else ()
        seen.append(Seen.of(q, k, network.scale, window, looked_up, mass))

    logits = _prompt(network, tokens, cache, look, None if rows or mass else window)
    return Reading(tokens, cache, seen, logits)


def _prompt(
    network: Network, tokens: Tensor, cache: Cache,
    look: Callable[[int, Tensor, Tensor], None] | None = None, window: int | None = 1,
) -> Tensor:  # fmt: skip
    """Logits after a prompt; ``look`` gets each layer's queries and keys and may drop some."""
    x = network.embed(tokens)
    for layer in range(network.layers):
        at_end = layer == network.layers - 1
        q, k, v = network.project(layer, x, 0, window if at_end else None)
        cache.extend(layer, k, v)
        own, x = (q[:, :, -1:], x[..., -1:, :]) if at_end else (q, x)
        x = network.finish(layer, x, network.attend(layer, own, k, v))
        if look:
            look(layer, q, k)
    cache.position = tokens.shape[1]
    return network.logits(x)


@torch.no_grad()
def filtered(network: Network, tokens: Tensor, method: Method) -> Tensor:
    """GemFilter's first run: the selection (S, k) of layer r, after r layers and no cache."""
    x = network.embed(tokens)
    for layer in range(method.layer):
        x = network.finish(layer, x, network.attend(layer, *network.project(layer, x)))
    last = 1 if method.row == "last" else None
    q, k, _ = network.project(method.layer, x, 0, last)
    return gemfilter(row_of(q, k, method.row), k, method, network.scale)


@torch.no_grad()
def answer(
    network: Network, tokens: Tensor, method: Method, steps: int, *, stop: Collection[int] = (),
    meter: Meter | None = None, reading: Reading | None = None, evict: bool = False,
) -> Answer:  # fmt: skip
    """Generate ``steps`` tokens after prompts (S, n), greedily.

    Raises ValueError if the layer is none of the network's. ``stop``: tokens after which a sequence
    is over: generation ends when all sequences are. ``meter``: counts operations and memory; not
    with a ``reading``. ``reading``: of these prompts: the methods then choose from what it holds.
    ``evict``: counted as if layers beyond r were not resident in GemFilter's first run.
    """
    if not 0 <= method.layer < network.layers:
        raise ValueError(f"layer: {method.layer}; expected 0 to {network.layers - 1}")
    meter = meter or Meter(counts=False)
    if method.kind != "gemfilter" or method.one_run:
        with meter.phase("prompt"):
            logits, cache, chosen = _one_run(network, tokens, method, meter, reading)
    else:
        with meter.phase("prompt"):
            resident = method.layer + 1 if evict else network.layers
            if reading is not None:
                kept = reading.select(method, method.layer, network.scale)
            else:
                kept = filtered(network, tokens, method)
            # keys and values of one layer at a time
            number = network.embed(tokens[:, :1]).element_size()
            pair = 2 * network.shared * network.head_width * number
            meter.see(network, resident, tokens.numel() * pair)
        cache, chosen = Cache(network.layers), [kept]
        with meter.phase("second prompt"):
            logits = _prompt(network, tokens.gather(1, kept), cache)
            meter.see(network, network.layers, cache.bytes())
    return Answer(_go_on(network, logits, cache, steps, stop, meter), chosen)


def _one_run(
    network: Network, tokens: Tensor, method: Method, meter: Meter, reading: Reading | None
) -> tuple[Tensor, Cache, list[Tensor]]:
    """Logits after the prompt, what is left of its keys and values, and the places of these."""
    heads = method.kind in ("snapkv", "h2o")
    asked: Collection[int] = (
        range(network.layers) if heads else [method.layer] if method.one_run else ()
    )
    cache = reading.cache.copy() if reading else Cache(network.layers)
    chosen: list[Tensor] = []

    def keep(layer: int, seen: Seen) -> None:
        k, v = cache.keys_and_values(layer)
        chosen.append(seen.choose(k, method, network.scale))
        if heads:
            if not method.by_group:
                cache.replace(layer, grouped(k, network.heads), grouped(v, network.heads))
            cache.gather(chosen[-1], layer)

    if reading:
        logits = reading.logits
        for layer in asked:
            keep(layer, reading.seen[layer])
    else:
        row: Collection[Any] = {method.row} - {"last"} if method.one_run else ()
        mass = method.kind == "h2o"

        def look(layer: int, q: Tensor, k: Tensor) -> None:
            meter.see(network, network.layers, cache.bytes())
            if layer in asked:
                keep(layer, Seen.of(q, k, network.scale, method.window, row, mass))

        window = method.window if method.kind == "snapkv" else 1
        logits = _prompt(network, tokens, cache, look, None if row or mass else window)
    if method.kind == "sinks":
        chosen = [with_sinks(tokens.shape[1], method).to(tokens.device).expand(len(tokens), -1)]
    if chosen and not heads:
        cache.gather(chosen[0][:, None])
    return logits, cache, chosen


def _go_on(
    network: Network, logits: Tensor, cache: Cache, steps: int, stop: Collection[int], meter: Meter
) -> Tensor:
    """Token after token, (S, t)."""
    ends = torch.tensor(sorted(stop), device=logits.device, dtype=torch.long)
    found = [_first_largest(logits)]
    over = torch.isin(found[-1], ends)
    with meter.phase("generation"):
        # the last token is not read: nobody asks what comes after
        while len(found) < steps and not (stop and bool(over.all())):
            found.append(_first_largest(_step(network, found[-1][:, None], cache)))
            over |= torch.isin(found[-1], ends)
            meter.see(network, network.layers, cache.bytes())
    return torch.stack(found, 1)


def _step(network: Network, tokens: Tensor, cache: Cache) -> Tensor:
    """Logits after one more token, (S, V)."""
    first = cache.position
    x = network.embed(tokens, first)
    for layer in range(network.layers):
        q, k, v = network.project(layer, x, first)
        heads = cache.heads(layer)
        k, v = cache.extend(layer, grouped(k, heads), grouped(v, heads))
        x = network.finish(layer, x, network.attend(layer, q, k, v))
    cache.position += 1
    return network.logits(x)


def _first_largest(logits: Tensor) -> Tensor:
    """Greedy tokens (S,); of equal logits the first."""
    places = torch.arange(logits.shape[-1], device=logits.device)
    best = logits == logits.amax(-1, keepdim=True)
    return torch.where(best, places, logits.shape[-1]).amin(-1)
