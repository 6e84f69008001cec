"""Greedy generation after a prompt that a method made shorter.

A prompt is read layer by layer. SnapKV and H2O drop keys and values of a layer as soon as it has
read the prompt, so that no two layers hold all of them; the first token of these methods, of a
window and of the single run comes from the whole prompt. GemFilter's first run stores nothing but
the tokens it selects, and its second is an ordinary generation.
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


def _attention(q: Any, k: Any, v: Any, *_: Any, **__: Any) -> int:
    return int(sdpa_flop_count(q, k, v))  # type: ignore[no-untyped-call]


#: Attention on a processor, which the counter of PyTorch does not know.
OF_PROCESSORS = {torch.ops.aten._scaled_dot_product_flash_attention_for_cpu: _attention}


@dataclass
class Meter:
    """Floating-point operations (of matrix products) and peaks of memory, by phase.

    ``weights`` are those of the layers that are resident, without embeddings; ``cache`` the keys
    and values that are held. Phases: ``prompt``, ``second prompt`` (of GemFilter), ``generation``.
    """

    flops: dict[str, int] = field(default_factory=dict)
    weights: dict[str, int] = field(default_factory=dict)
    cache: dict[str, int] = field(default_factory=dict)
    places: dict[str, int] = field(default_factory=dict)  #: largest place that was ever turned to
    _phase: str = ""

    @contextmanager
    def phase(self, name: str) -> Iterator[None]:
        self._phase = name
        with FlopCounterMode(display=False, custom_mapping=OF_PROCESSORS) as counter:
            yield
        self.flops[name] = self.flops.get(name, 0) + counter.get_total_flops()

    def see(self, weights: int, cache: int, place: int) -> None:
        for seen, now in ((self.weights, weights), (self.cache, cache), (self.places, place)):
            seen[self._phase] = max(seen.get(self._phase, 0), now)


@dataclass
class Reading:
    """What all methods need of one pass over a prompt, so that it is read once for many of them."""

    tokens: Tensor  #: (S, n)
    cache: Cache
    recent: list[Tensor]  #: the last queries of each layer, (S, h, w, d)
    rows: dict[str, list[tuple[Tensor, Any]]]  #: of other rows of each layer, by name
    mass: list[Tensor]  #: attention that keys got in each layer, (S, h, n), if asked for
    logits: Tensor  #: of the next token, (S, V)

    def select(self, method: Method, layer: int, scale: float) -> Tensor:
        """GemFilter's selection at any layer, (S, k)."""
        k, _ = self.cache.keys_and_values(layer)
        if method.row == "last":
            q, place = self.recent[layer][:, :, -1:], k.shape[2] - 1
        else:
            q, place = self.rows[method.row][layer]
        return gemfilter(q, k, method, scale, place)


@dataclass
class Answer:
    """What was generated, and what was kept for it."""

    tokens: Tensor  #: (S, t)
    #: GemFilter and a window: (S, k). SnapKV, H2O: (S, h, k) of each layer. Full: nothing
    kept: list[Tensor]


@torch.no_grad()
def read(
    network: Network, tokens: Tensor, *, window: int = 32, rows: Collection[Any] = (),
    mass: bool = False,
) -> Reading:  # fmt: skip
    """Read prompts (S, n) through all layers and keep what any method asks for.

    Parameters
    ----------
    window
        Of the queries at the end.
    rows
        Which others are looked up.
    mass
        Whether H2O needs the attention of all rows.
    """
    recent: list[Tensor] = []
    found: dict[str, list[tuple[Tensor, Any]]] = {row: [] for row in rows}
    masses: list[Tensor] = []

    def look(layer: int, q: Tensor, k: Tensor) -> None:
        recent.append(q[:, :, -window:].clone())  # a view would keep all of q in memory
        for row in rows:
            query, place = row_of(q, k, row)
            found[row].append((query.clone(), place))
        if mass:
            masses.append(accumulated(q, k, network.scale))

    cache = Cache(network.layers)
    x = _prompt(network, tokens, cache, look, window=None if rows or mass else window)
    return Reading(tokens, cache, recent, found, masses, network.logits(x))


def _prompt(
    network: Network,
    tokens: Tensor,
    cache: Cache,
    look: Callable[[int, Tensor, Tensor], None] | None = None,
    *,
    window: int | None = 1,
    repeat: bool = False,
    after: Callable[[int], None] | None = None,
) -> Tensor:
    """Read a prompt into an empty cache; x of the last token.

    ``window`` queries of the last layer are computed (None: all), ``repeat`` keeps keys and values
    of each query head, ``after`` may drop some of a layer.
    """
    x = network.embed(tokens)
    for layer in range(network.layers):
        last = window if layer == network.layers - 1 else None
        q, k, v = network.project(layer, x, 0, last)
        if look:
            look(layer, q, k)
        if last is not None or layer == network.layers - 1:
            q, x = q[:, :, -1:], network.end(x, 1)
        if repeat:
            k, v = grouped(k, network.heads), grouped(v, network.heads)
        cache.extend(layer, k, v)
        x = network.finish(layer, x, network.attend(layer, q, k, v))
        if after:
            after(layer)
    cache.position = tokens.shape[1]
    return x


@torch.no_grad()
def filtered(network: Network, tokens: Tensor, method: Method) -> Tensor:
    """GemFilter's first run: the selection (S, k) of layer r, after r layers and no cache."""
    x = network.embed(tokens)
    for layer in range(method.layer):
        x = network.finish(layer, x, network.attend(layer, *network.project(layer, x)))
    last = 1 if method.row == "last" else None
    q, k, _ = network.project(method.layer, x, 0, last)
    q, place = row_of(q, k, method.row) if last is None else (q, tokens.shape[1] - 1)
    return gemfilter(q, k, method, network.scale, place)


@torch.no_grad()
def answer(
    network: Network,
    tokens: Tensor,
    method: Method,
    steps: int,
    *,
    stop: Collection[int] = (),
    meter: Meter | None = None,
    reading: Reading | None = None,
    evict: bool = False,
) -> Answer:
    """Generate ``steps`` tokens after prompts (S, n), greedily.

    Parameters
    ----------
    stop
        Tokens after which a sequence is over: generation ends when all sequences are.
    meter
        Counts operations and memory; not with a ``reading``.
    reading
        Of these prompts: the methods then choose from what it holds.
    evict
        Layers beyond r are not resident in GemFilter's first run.

    Raises
    ------
    ValueError
        If the layer is none of the network's.
    """
    if not 0 <= method.layer < network.layers:
        raise ValueError(f"layer: {method.layer}; expected 0 to {network.layers - 1}")
    run = _Run(network, meter)
    n = tokens.shape[1]
    if method.kind == "gemfilter" and not method.one_run:
        resident = method.layer + 1 if evict else network.layers
        with run.phase("prompt"):
            if reading is not None:
                kept = reading.select(method, method.layer, network.scale)
            else:
                network.reside(resident)
                kept = filtered(network, tokens, method)
                network.reside(network.layers)
            # keys and values of one layer at a time
            number = network.embed(tokens[:, :1]).element_size()
            size = 2 * network.shared * network.head_width * number
            run.see(resident, len(tokens) * n * size, n - 1)
        short = tokens.gather(1, kept)
        cache = Cache(network.layers)
        with run.phase("second prompt"):
            logits = network.logits(_prompt(network, short, cache))
            run.see(network.layers, cache.bytes(), short.shape[1] - 1)
        return Answer(run.go_on(logits, cache, steps, stop), [kept])
    with run.phase("prompt"):
        logits, cache, chosen = run.compressed(tokens, method, reading)
    return Answer(run.go_on(logits, cache, steps, stop), chosen)


class _Run:
    """One generation, and what it tells of its costs."""

    def __init__(self, network: Network, meter: Meter | None):
        self.network, self.meter = network, meter

    def phase(self, name: str) -> Any:
        return self.meter.phase(name) if self.meter else nullcontext()

    def see(self, layers: int, cache: int, place: int) -> None:
        if self.meter:
            weights = sum(self.network.bytes_of(layer) for layer in range(layers))
            self.meter.see(weights, cache, place)

    def compressed(
        self, tokens: Tensor, method: Method, reading: Reading | None
    ) -> tuple[Tensor, Cache, list[Tensor]]:
        """Logits after the prompt, and what is left of its keys and values."""
        network, n = self.network, tokens.shape[1]
        heads = method.kind in ("snapkv", "h2o")
        repeat = heads and not method.by_group
        masses: list[Tensor] = []
        rows: list[tuple[Tensor, Any]] = []

        def look(layer: int, q: Tensor, k: Tensor) -> None:
            if method.kind == "snapkv":
                masses.append(observed(q[:, :, -method.window :], k, network.scale))
            elif method.kind == "h2o":
                masses.append(accumulated(q, k, network.scale))
            elif method.one_run and layer == method.layer:
                query, place = row_of(q, k, method.row)
                rows.append((gemfilter(query, k, method, network.scale, place), None))

        chosen: list[Tensor] = []
        if reading is None:
            cache = Cache(network.layers)

            def after(layer: int) -> None:
                self.see(network.layers, cache.bytes(), n - 1)
                if heads:
                    chosen.append(per_head(masses.pop(), method, network.shared))
                    cache.gather(chosen[-1], layer)

            window = {"snapkv": method.window, "h2o": None}.get(method.kind, 1)
            if method.one_run and method.row != "last":
                window = None
            x = _prompt(network, tokens, cache, look, window=window, repeat=repeat, after=after)
            logits = network.logits(x)
            selected = rows[0][0] if rows else None
        else:
            logits, cache, selected = reading.logits, reading.cache.copy(), None
            for layer in range(network.layers if heads else 0):
                k, v = cache.keys_and_values(layer)
                if method.kind == "h2o":
                    mass = reading.mass[layer]
                else:
                    mass = observed(reading.recent[layer][:, :, -method.window :], k, network.scale)
                chosen.append(per_head(mass, method, network.shared))
                if repeat and k.shape[1] < network.heads:
                    cache.replace(layer, grouped(k, network.heads), grouped(v, network.heads))
                cache.gather(chosen[-1], layer)
            if method.one_run:
                selected = reading.select(method, method.layer, network.scale)
        if method.kind == "sinks":
            selected = with_sinks(n, method).to(tokens.device).expand(len(tokens), -1)
        if selected is not None:
            cache.gather(selected[:, None])
            chosen = [selected]
        return logits, cache, chosen

    def go_on(self, logits: Tensor, cache: Cache, steps: int, stop: Collection[int]) -> Tensor:
        """Token after token, (S, t)."""
        found = [_first_largest(logits)]
        over = _stopped(found[-1], stop)
        with self.phase("generation"):
            # the last token is not read: nobody asks what comes after
            while len(found) < steps and not (stop and bool(over.all())):
                found.append(_first_largest(self.step(found[-1][:, None], cache)))
                over |= _stopped(found[-1], stop)
                self.see(self.network.layers, cache.bytes(), cache.position - 1)
        return torch.stack(found, 1)

    def step(self, tokens: Tensor, cache: Cache) -> Tensor:
        """Logits after one more token, (S, V)."""
        network, first = self.network, cache.position
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


def _stopped(tokens: Tensor, stop: Collection[int]) -> Tensor:
    ends = torch.tensor(sorted(stop), device=tokens.device, dtype=tokens.dtype)
    return torch.isin(tokens, ends) if stop else torch.zeros_like(tokens, dtype=torch.bool)
