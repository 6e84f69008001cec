"""Needles in haystacks of tokens, for one stand-in.

``scores``: shares of the answer's tokens and exact matches, by method, length and depth.
``layers``: what each layer selects as the filter. ``maps``: of one prompt a length, the places that
GemFilter selects in each layer and SnapKV in each head. ``rows``: the products of its last token.
``texts``: that prompt and what the filter layer keeps of it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

import pandas as pd
from torch import Tensor

from featlearn.core.seeds import Streams
from featlearn.gemfilter.generation import Reading, answer, read
from featlearn.gemfilter.methods import arms
from featlearn.gemfilter.needles import BOS, QUESTION, Prompts, Vocabulary, draw
from featlearn.gemfilter.selection import Method, observed, per_head, products
from featlearn.gemfilter.stands import Stand, trained, wired

if TYPE_CHECKING:
    from featlearn.core.job import Job
    from featlearn.core.outputs import Results

ROWS = ("middle", "largest")


def measure(job: Job) -> Results:
    """Of the network that the rule's wildcard names; ``job.config`` has its section as ``own``."""
    name, config = job.wildcards["network"], job.config
    own = config["own"]
    stand = wired(own, job.seed) if name == "wired" else trained(own, job.tensors("weights"))
    rows: dict[str, list[dict[str, Any]]] = {"scores": [], "layers": []}
    shown: dict[str, list[pd.DataFrame]] = {"maps": [], "rows": [], "texts": []}
    window, layer = own["window"], own["filter_layer"]
    methods = arms(own["kept"], window, layer, stand.network.layers)
    for length in own["lengths"]:
        for place in range(config["depths"]):
            depth = place / (config["depths"] - 1)
            stream = f"{name}-{length}-{place}"
            streams = Streams(job.seed, "gemfilter", stream, range(config["prompts"]))
            prompts = draw(stand.vocabulary, length, depth, streams("prompt"))
            # every trained network reads the same prompts
            tokens = prompts.tokens.repeat(stand.replicates, 1)
            with_mass = length <= own["longest_of_h2o"]
            reading = read(stand.network, tokens, window=window, rows=ROWS, mass=with_mass)
            for arm, method in methods.items():
                if method.kind == "h2o" and not with_mass:
                    continue
                found = answer(stand.network, tokens, method, 3, reading=reading).tokens
                rows["scores"] += _scored(found, prompts, stand, arm=arm, n=length, depth=depth)
            rows["layers"] += _layers(reading, prompts, stand, methods, n=length, depth=depth)
            if place == config["depths"] // 2:
                drawn = _drawn(reading, prompts, stand, methods, length)
                for key, frame in zip(shown, drawn, strict=True):
                    shown[key].append(frame)
    frames = {key: pd.DataFrame(found) for key, found in rows.items()}
    frames |= {key: pd.concat(found, ignore_index=True) for key, found in shown.items()}
    return {key: frame.assign(network=name) for key, frame in frames.items()}


def _replicates(values: Tensor, stand: Stand) -> list[float]:
    """One number a replicate: means over the prompts of each trained network, or each prompt."""
    values = values.double()
    return (values.view(stand.replicates, -1).mean(1) if stand.replicates > 1 else values).tolist()


def _scored(found: Tensor, prompts: Prompts, stand: Stand, **same: Any) -> Iterator[dict[str, Any]]:
    wanted = prompts.answer.repeat(stand.replicates, 1)
    # |set(out) & set(answer)| / L: of the answer's tokens, repetitions counted once
    hit = (wanted[..., None] == found[:, None]).any(-1)
    again = (wanted[..., None] == wanted[:, None]).tril(-1).any(-1)
    shares = (hit & ~again).float().mean(1)
    exact = (found == wanted).all(1)
    first = found[:, 0] == wanted[:, 0]
    columns = (_replicates(part, stand) for part in (shares, exact, first))
    for replicate, (value, whole, begun) in enumerate(zip(*columns, strict=True)):
        yield {**same, "replicate": replicate, "value": value, "exact": whole, "first": begun}


def _layers(
    reading: Reading, prompts: Prompts, stand: Stand, methods: Mapping[str, Method], **same: Any
) -> Iterator[dict[str, Any]]:
    start, end = prompts.span
    n = reading.tokens.shape[1]
    for arm in ("gemfilter", "safe"):
        for layer in range(stand.network.layers):
            method = Method(**{**methods[arm].__dict__, "layer": layer})
            kept = reading.select(method, layer, stand.network.scale)
            found = answer(stand.network, reading.tokens, method, 3, reading=reading).tokens
            wanted = prompts.answer.repeat(stand.replicates, 1)
            columns = {
                # as the figure defines it, with the absolute value that the code takes
                "distance": (kept - start).abs().amin(1),
                "coverage": ((kept >= start) & (kept < end)).sum(1) / (end - start),
                "last": (kept == n - 1).any(1),
                "bos": (kept == 0).any(1),
                "exact": (found == wanted).all(1),
            }
            listed = [_replicates(part, stand) for part in columns.values()]
            for replicate, values in enumerate(zip(*listed, strict=True)):
                yield {**same, "arm": arm, "layer": layer, "replicate": replicate,
                       **dict(zip(columns, values, strict=True))}  # fmt: skip


def _drawn(
    reading: Reading, prompts: Prompts, stand: Stand, methods: Mapping[str, Method], length: int
) -> tuple[pd.DataFrame, pd.DataFrame, pd.DataFrame]:
    """Of the first prompt."""
    network, tokens = stand.network, reading.tokens
    start, end = prompts.span
    same = {"n": length, "start": start, "end": end}
    maps, rows = [], []
    for layer in range(network.layers):
        k, _ = reading.cache.keys_and_values(layer)
        kept = reading.select(methods["gemfilter"], layer, network.scale)[0]
        # one selection for all heads
        maps.append(pd.DataFrame({"method": "gemfilter", "layer": layer, "head": -1,
                                  "place": kept.tolist()}))  # fmt: skip
        mass = observed(reading.recent[layer][:1], k[:1], network.scale)
        for head, places in enumerate(
            per_head(mass, methods["snapkv"], network.shared)[0].tolist()
        ):
            maps.append(pd.DataFrame({"method": "snapkv", "layer": layer, "head": head,
                                      "place": places}))  # fmt: skip
        own = products(reading.recent[layer][:1, :, -1:], k[:1])[0]
        rows.append(pd.DataFrame({
            "layer": layer, "place": range(length), "value": own.tolist(),
        }))  # fmt: skip
    texts = []
    layer = methods["gemfilter"].layer
    for arm in ("gemfilter", "safe"):
        kept = reading.select(methods[arm], layer, network.scale)[0]
        found = answer(network, tokens[:1].repeat(stand.replicates, 1), methods[arm], 3).tokens[0]
        texts.append({"arm": arm, "text": said(tokens[0], kept, prompts, stand.vocabulary),
                      "answer": words(found.tolist(), stand.vocabulary),
                      "wanted": words(prompts.answer[0].tolist(), stand.vocabulary)})  # fmt: skip
    return (pd.concat(maps).assign(**same), pd.concat(rows).assign(**same),
            pd.DataFrame(texts).assign(**same))  # fmt: skip


def words(tokens: list[int], vocabulary: Vocabulary) -> str:
    """Tokens as a reader sees them: keys K0 .., values v0 .., fillers a dot."""
    found = []
    for token in tokens:
        if token in (BOS, QUESTION):
            found.append("BOS" if token == BOS else "Q")
        elif token < vocabulary.first_value:
            found.append(f"K{token - 2}")
        elif token < vocabulary.first_filler:
            found.append(f"v{token - vocabulary.first_value}")
        else:
            found.append("·")
    return " ".join(found)


def said(tokens: Tensor, kept: Tensor, prompts: Prompts, vocabulary: Vocabulary) -> str:
    """What is kept, the needle in brackets, a bar where something is left out."""
    start, end = prompts.span
    parts, before = [], -1
    for place in kept.tolist():
        if place != before + 1:
            parts.append("|")
        word = words([int(tokens[place])], vocabulary)
        parts.append(f"[{word}]" if start <= place < end else word)
        before = place
    return " ".join(parts)
