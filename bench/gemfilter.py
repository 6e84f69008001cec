"""Chapter 9 on random weights of 12 layers: a prompt and 8 tokens by each method against the full
cache, ours against `generate` of the library `transformers`, memory counted against the formulas.
"""

from __future__ import annotations

from functools import partial
from importlib.util import find_spec

import pandas as pd
import torch

from bench.llama import llama_weights
from bench.timing import ratio, side_by_side
from featlearn.core.seeds import Streams, generator
from featlearn.gemfilter.generation import Meter, answer
from featlearn.gemfilter.networks import OfTransformers, Ours
from featlearn.gemfilter.selection import Method
from featlearn.transformers.decoder import Decoder, Shape, start

SHAPE = Shape(words=512, width=128, layers=12, heads=4, key_value_heads=2, head_width=32,
              hidden=256, norm="rms", activation="swiglu")  # fmt: skip
LAYER, KEPT, NEW = 4, 64, 8
METHODS = {
    "full": Method("full"),
    "snapkv": Method("snapkv", KEPT, by_group=True),
    "gemfilter": Method("gemfilter", KEPT, LAYER),
}
#: Turns at each length. The shortest warms up for all; the longest takes as long as all others.
TURNS = {1024: 3, 2048: 2, 4096: 1, 8192: 1}
COLUMNS = ["what", "ratio", "wanted"]


def method_ratios() -> pd.DataFrame:
    """Full cache over the others, and over m / (r + 1); SnapKV not at the longest.

    Also over (m - 1) / r: of the layer that selects, keys and the last queries are all that is
    computed, and so of the last layer of a prompt by the full cache.
    """
    network = Ours(Decoder(SHAPE, start(SHAPE, Streams(0, "gemfilter", "bench", [0])("start"))))
    law, rows = SHAPE.layers / (LAYER + 1), []
    for n, turns in TURNS.items():
        tokens = torch.randint(SHAPE.words, (1, n), generator=generator("bench", n))
        timed = side_by_side({
            arm: partial(answer, network, tokens, method, NEW)
            for arm, method in METHODS.items() if n < max(TURNS) or arm != "snapkv"
        }, turns, warm=n > min(TURNS))  # fmt: skip
        found = ratio(timed, "full", "gemfilter")
        told = ".8 to 1.2 from n / k = 32 on" if n >= 32 * KEPT else ""
        read = (SHAPE.layers - 1) / LAYER
        rows.append((f"gemfilter: n = {n}, full / GemFilter, over m / (r + 1)", found / law, told))
        rows.append((f"gemfilter: n = {n}, full / GemFilter, over (m - 1) / r", found / read, ""))
        if n < max(TURNS):
            rows.append((f"gemfilter: n = {n}, full / SnapKV", ratio(timed, "full", "snapkv"), ""))
    return pd.DataFrame(rows, columns=COLUMNS)


def generate_ratios() -> pd.DataFrame:
    """A model's own `generate` over our decoder of its weights, and over our loop of its layers."""
    if find_spec("transformers") is None:
        return pd.DataFrame(columns=COLUMNS)
    from transformers import LlamaConfig, LlamaForCausalLM

    model = LlamaForCausalLM(LlamaConfig(
        vocab_size=SHAPE.words, hidden_size=SHAPE.width, intermediate_size=SHAPE.hidden,
        num_hidden_layers=SHAPE.layers, num_attention_heads=SHAPE.heads,
        num_key_value_heads=SHAPE.shared, head_dim=SHAPE.head_width, eos_token_id=None,
        max_position_embeddings=4096, rms_norm_eps=SHAPE.epsilon,
    )).eval().requires_grad_(False)  # fmt: skip
    networks = {"our decoder": Ours(Decoder(SHAPE, llama_weights(model.state_dict(), SHAPE))),
                "our loop of its layers": OfTransformers(model)}  # fmt: skip
    rows = []
    for n in (256, 1024):
        tokens = torch.randint(SHAPE.words, (1, n), generator=generator("bench", n))
        rivals = {name: partial(answer, network, tokens, METHODS["full"], 16)
                  for name, network in networks.items()}  # fmt: skip
        theirs = partial(model.generate, tokens, max_new_tokens=16, do_sample=False)
        timed = side_by_side({**rivals, "theirs": theirs}, turns=3)
        for name, ours in rivals.items():
            same = torch.equal(theirs()[:, n:], ours().tokens)
            what = f"gemfilter: n = {n}, generate of transformers / {name}"
            rows.append((what, ratio(timed, "theirs", name), ">= 1"))
            rows.append((f"{what}: the same tokens", float(same), "1"))
    return pd.DataFrame(rows, columns=COLUMNS)


def memory() -> pd.DataFrame:
    """Weights and cache that are counted, over Theorem 9.3 with the n that its print lacks."""
    network = Ours(Decoder(SHAPE, start(SHAPE, Streams(0, "gemfilter", "bench", [0])("start"))))
    n, (m, w) = 512, (SHAPE.layers, network.bytes_of(0))
    pair, last = 2 * SHAPE.shared * SHAPE.head_width * 4, NEW - 1  # the last token is not read
    formulas = {
        ("full", "prompt"): m * w + m * pair * n,
        ("full", "generation"): m * w + m * pair * (n + last),
        # all layers but the one that reads have dropped what they do not keep
        ("snapkv", "prompt"): m * w + pair * n + (m - 1) * pair * KEPT,
        ("snapkv", "generation"): m * w + m * pair * (KEPT + last),
        ("gemfilter", "prompt"): (LAYER + 1) * w + pair * n,
        ("gemfilter", "generation"): m * w + m * pair * (KEPT + last),
    }
    meters = {arm: Meter() for arm in METHODS}
    tokens = torch.randint(SHAPE.words, (1, n), generator=generator("bench"))
    for arm, method in METHODS.items():
        answer(network, tokens, method, NEW, meter=meters[arm], evict=True)
    rows = [(f"gemfilter: memory of {arm}, {phase}, counted / formula",
             (meters[arm].weights[phase] + meters[arm].cache[phase]) / formula, "1")
            for (arm, phase), formula in formulas.items()]  # fmt: skip
    return pd.DataFrame(rows, columns=COLUMNS)


BENCHMARKS = {
    "gemfilter-method-ratios": method_ratios,
    "gemfilter-generate-ratios": generate_ratios,
    "gemfilter-memory": memory,
}
