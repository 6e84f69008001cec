"""Needles in haystacks, for one reader: a stand-in or a language model of the user.

``scores``: shares of the answer that are said and exact answers, by method, length and depth.
``layers``: what each layer selects as the filter. ``maps``: of one prompt a length, the places that
GemFilter selects in each layer and SnapKV in each head. ``rows``: the products of its last token.
``texts``: what the filter layer keeps of it, and the answer.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pandas as pd
from torch import Tensor

from featlearn.core.seeds import Streams
from featlearn.gemfilter.generation import Reading, answer, read
from featlearn.gemfilter.methods import arms
from featlearn.gemfilter.selection import Method, observed, per_head, products
from featlearn.gemfilter.stands import Asked, Stand, language, trained, wired

if TYPE_CHECKING:
    from featlearn.core.job import Job
    from featlearn.core.outputs import Results

ROWS = ("middle", "largest")
#: Most tokens that are shown as text and as places (Figures 9.1 and G.5).
SHOWN = 100


def measure(job: Job) -> Results:
    """Of the reader that the rule's wildcard names; ``job.config`` has its section as ``own``."""
    name, config = job.wildcards["network"], job.config
    own, kept = config["own"], config["own"]["kept"]
    if "folder" in own:
        stand, kept = language(own, job.device), kept[0]
    else:
        stand = wired(own, job.seed) if name == "wired" else trained(own, job.tensors("weights"))
    network, window = stand.network, own["window"]
    methods = arms(kept, window, own["filter_layer"], network.layers)
    frames: dict[str, list[pd.DataFrame]] = {}
    for length in own["lengths"]:
        for place in range(config["depths"]):
            depth, middle = place / (config["depths"] - 1), place == config["depths"] // 2
            stream = f"{name}-{length}-{place}"
            streams = Streams(job.seed, "gemfilter", stream, range(config["prompts"]))
            asked = stand.ask(length, depth, streams("prompt"))
            with_mass = stand.thorough and length <= own["longest_of_h2o"]
            reading = read(network, asked.tokens, window=window, rows=ROWS, mass=with_mass)
            parts: dict[str, Any] = {"scores": _scores(reading, asked, stand, methods)}
            if middle or stand.thorough:
                parts["layers"] = _layers(reading, asked, stand, methods)
            if middle:
                parts |= {"maps": _maps(reading, stand, methods), "rows": _rows(reading, stand),
                          "texts": _texts(reading, asked, stand, methods)}  # fmt: skip
            start, end = asked.span
            for key, rows in parts.items():
                frames.setdefault(key, []).append(pd.DataFrame(rows).assign(
                    network=name, n=length, depth=depth, start=start, end=end,
                    tokens=asked.tokens.shape[1],
                ))  # fmt: skip
    return {key: pd.concat(found, ignore_index=True) for key, found in frames.items()}


def _by_replicate(stand: Stand, columns: Mapping[str, Tensor]) -> Iterator[dict[str, Any]]:
    """A row a replicate: means over the prompts of each trained network, or each prompt."""
    found = {}
    for name, values in columns.items():
        values = values.double()
        found[name] = values.view(stand.replicates, -1).mean(1) if stand.replicates > 1 else values
    for replicate, row in enumerate(zip(*(own.tolist() for own in found.values()), strict=True)):
        yield {"replicate": replicate, **dict(zip(found, row, strict=True))}


def _scores(
    reading: Reading, asked: Asked, stand: Stand, methods: Mapping[str, Method]
) -> list[dict[str, Any]]:
    rows = []
    for arm, method in methods.items():
        if method.kind == "h2o" and not reading.mass:
            continue
        found = answer(stand.network, reading.tokens, method, stand.steps, stop=stand.stop,
                       reading=reading).tokens  # fmt: skip
        value, exact = asked.score(found)
        columns = {"value": value, "exact": exact}
        rows += [{"arm": arm, **row} for row in _by_replicate(stand, columns)]
    return rows


def _layers(
    reading: Reading, asked: Asked, stand: Stand, methods: Mapping[str, Method]
) -> list[dict[str, Any]]:
    (start, end), n = asked.span, reading.tokens.shape[1]
    rows = []
    for arm in ("gemfilter", "safe"):
        for layer in range(stand.network.layers):
            method = replace(methods[arm], layer=layer)
            found = answer(stand.network, reading.tokens, method, stand.steps, stop=stand.stop,
                           reading=reading)  # fmt: skip
            kept = found.kept[0]
            columns = {
                # as the figure defines it, with the absolute value that the code takes
                "distance": (kept - start).abs().amin(1),
                "coverage": ((kept >= start) & (kept < end)).sum(1) / (end - start),
                "last": (kept == n - 1).any(1),
                "bos": (kept == 0).any(1),
                "exact": asked.score(found.tokens)[1],
            }
            rows += [{"arm": arm, "layer": layer, **row} for row in _by_replicate(stand, columns)]
    return rows


def _maps(reading: Reading, stand: Stand, methods: Mapping[str, Method]) -> pd.DataFrame:
    """Places of the first prompt: one set of GemFilter a layer, one of SnapKV a head."""
    parts = []
    gems, snapkv = (replace(methods[arm], kept=min(methods[arm].kept, SHOWN))
                    for arm in ("gemfilter", "snapkv"))  # fmt: skip
    for layer in range(stand.network.layers):
        kept = reading.select(gems, layer, stand.network.scale)[0]
        parts.append({"method": "gemfilter", "head": -1, "layer": layer, "place": kept.tolist()})
        k, _ = reading.cache.keys_and_values(layer)
        mass = observed(reading.recent[layer][:1], k[:1], stand.network.scale)
        sets = per_head(mass, snapkv, stand.network.shared)[0].tolist()
        parts += [{"method": "snapkv", "head": head, "layer": layer, "place": places}
                  for head, places in enumerate(sets)]  # fmt: skip
    return pd.concat(pd.DataFrame(part) for part in parts)


def _rows(reading: Reading, stand: Stand) -> pd.DataFrame:
    """Products of the last query of the first prompt with all keys, by layer."""
    parts = []
    for layer in range(stand.network.layers):
        k, _ = reading.cache.keys_and_values(layer)
        values = products(reading.recent[layer][:1, :, -1:], k[:1])[0].tolist()
        parts.append({"layer": layer, "place": range(len(values)), "value": values})
    return pd.concat(pd.DataFrame(part) for part in parts)


def _texts(
    reading: Reading, asked: Asked, stand: Stand, methods: Mapping[str, Method]
) -> list[dict[str, Any]]:
    """The first prompt as the filter layer cuts it: the needle in brackets, a bar for a gap."""
    rows = []
    for arm in ("gemfilter", "safe"):
        method = replace(methods[arm], kept=min(methods[arm].kept, SHOWN))
        found = answer(stand.network, reading.tokens, method, stand.steps, stop=stand.stop,
                       reading=reading)  # fmt: skip
        places = found.kept[0][0].tolist()
        parts, before = [], -1
        for place, word in zip(places, stand.say(reading.tokens[0, places].tolist()), strict=True):
            gap = ["|"] if place != before + 1 else []
            inside = asked.span[0] <= place < asked.span[1]
            parts += [*gap, f"[{word}]" if inside else word]
            before = place
        said = " ".join(stand.say(found.tokens[0].tolist()))
        rows.append({"arm": arm, "filter_layer": method.layer, "kept": len(places),
                     "text": " ".join(parts), "answer": said, "wanted": asked.wanted})  # fmt: skip
    return rows
