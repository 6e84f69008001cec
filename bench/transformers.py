"""The transformers' room: a decoder against PyTorch's own layers, against its own products, and
against the Llama of the library `transformers` of the same size where that is installed.
"""

from __future__ import annotations

from collections.abc import Callable
from importlib.util import find_spec

import pandas as pd
import torch
import torch.nn.functional as F
from torch import Tensor, nn

from bench.llama import llama_weights
from bench.timing import ratio, side_by_side
from featlearn.core.seeds import Streams, generator
from featlearn.core.training.optimisers import build
from featlearn.transformers.cache import Cache
from featlearn.transformers.decoder import Decoder, Shape, start

#: Of the addition of three numbers: short sequences, three replicates.
GPT = Shape(words=24, width=64, layers=2, heads=4, head_width=16, hidden=256, length=4)
REPLICATES, BATCH = 3, 256
LLAMA = Shape(words=512, width=256, layers=4, heads=8, key_value_heads=2, head_width=32,
              hidden=512, norm="rms", activation="swiglu")  # fmt: skip
PROMPT, NEW = 512, 16


def step_of(loss: Callable[[], Tensor], weights: list[Tensor]) -> Callable[[], None]:
    """Gradient and AdamW."""
    optimiser = build("adamw", [{"params": weights, "weight_decay": 0.0, "lr": 1e-3}])

    def step() -> None:
        optimiser.zero_grad()
        loss().backward()
        optimiser.step()

    return step


class Theirs(nn.Module):
    """One replicate of :data:`GPT`, of PyTorch's layers."""

    def __init__(self) -> None:
        super().__init__()
        self.words = nn.Embedding(GPT.words, GPT.width)
        self.positions = nn.Parameter(torch.randn(GPT.length, GPT.width))
        layer = nn.TransformerEncoderLayer(
            GPT.width, GPT.heads, GPT.hidden, 0.0, batch_first=True, norm_first=True, bias=False
        )
        self.blocks = nn.TransformerEncoder(
            layer, GPT.layers, nn.LayerNorm(GPT.width), enable_nested_tensor=False
        )
        self.unembed = nn.Linear(GPT.width, GPT.words, bias=False)
        self.mask = nn.Transformer.generate_square_subsequent_mask(GPT.length)

    def forward(self, tokens: Tensor) -> Tensor:
        x = self.words(tokens) + self.positions
        return self.unembed(self.blocks(x, self.mask, is_causal=True)[:, -1])


def step_ratios() -> pd.DataFrame:
    """Forward and step of decoders that read their last token."""
    streams = Streams(0, "transformers", "bench", range(REPLICATES))
    weights = {name: w.requires_grad_() for name, w in start(GPT, streams("start")).items()}
    tokens = torch.randint(GPT.words, (REPLICATES, BATCH, GPT.length), generator=generator("bench"))
    labels = tokens[..., 0]
    ours, theirs = Decoder(GPT, weights), [Theirs() for _ in range(REPLICATES)]

    def our_loss() -> Tensor:
        logits = ours(tokens, last=1)[:, :, 0]
        return F.cross_entropy(logits.flatten(0, 1), labels.flatten())

    def their_loss(r: int) -> Callable[[], Tensor]:
        return lambda: F.cross_entropy(theirs[r](tokens[r]), labels[r])

    steps = [step_of(their_loss(r), list(one.parameters())) for r, one in enumerate(theirs)]
    rows = torch.randn(REPLICATES, BATCH * GPT.length, GPT.width)
    hidden = torch.randn(REPLICATES, BATCH * GPT.length, GPT.hidden)

    def products() -> None:
        """Of the weights of blocks, forward and back; all tokens of the first, one of the last."""
        for block in range(GPT.layers):
            many = rows.shape[1] if block == 0 else BATCH
            for name, width in (("qkv", GPT.width), ("out", GPT.width), ("up", GPT.width),
                                ("down", GPT.hidden)):  # fmt: skip
                weight = weights[f"{block}/{name}"].detach()
                x = (hidden if width == GPT.hidden else rows)[:, :many]
                if name == "qkv":
                    x = rows
                out = x @ weight
                out @ weight.mT
                x.mT @ out

    def forward(call: Callable[[], object]) -> Callable[[], None]:
        @torch.no_grad()
        def run() -> None:
            call()

        return run

    timed = side_by_side({
        "step": step_of(our_loss, list(weights.values())),
        "their steps": lambda: [step() for step in steps],
        "forward": forward(lambda: ours(tokens, last=1)),
        "their forward": forward(lambda: [one(tokens[r]) for r, one in enumerate(theirs)]),
        "products": products,
    })  # fmt: skip
    told = [
        ("replicates by TransformerEncoder one by one / step", "their steps", "step", ">= 1"),
        ("replicates by TransformerEncoder one by one / forward", "their forward", "forward",
         ">= 1"),
        ("step / its products", "step", "products", ""),
    ]  # fmt: skip
    return _told(timed, told)


def llama_ratios() -> pd.DataFrame:
    """A prompt, tokens one by one and a step of training of a small Llama; empty without theirs."""
    if find_spec("transformers") is None:
        return _told(pd.DataFrame(), [])
    from transformers import LlamaConfig, LlamaForCausalLM

    theirs = LlamaForCausalLM(LlamaConfig(
        vocab_size=LLAMA.words, hidden_size=LLAMA.width, intermediate_size=LLAMA.hidden,
        num_hidden_layers=LLAMA.layers, num_attention_heads=LLAMA.heads,
        num_key_value_heads=LLAMA.shared, head_dim=LLAMA.head_width, rms_norm_eps=LLAMA.epsilon,
    ))  # fmt: skip
    weights = llama_weights(theirs.state_dict(), LLAMA)
    ours = Decoder(LLAMA, weights)
    learned = {name: w.clone().requires_grad_() for name, w in weights.items()}
    tokens = torch.randint(LLAMA.words, (1, 1, PROMPT), generator=generator("bench"))
    short = tokens.view(1, 8, PROMPT // 8)

    @torch.no_grad()
    def prompt() -> Cache:
        cache = Cache(LLAMA.layers)
        ours(tokens, last=1, cache=cache)
        return cache

    @torch.no_grad()
    def their_prompt() -> object:
        return theirs(tokens[0], logits_to_keep=1, use_cache=True).past_key_values

    cache, their_cache = prompt(), their_prompt()

    @torch.no_grad()
    def decode() -> None:
        for place in range(NEW):
            ours(tokens[..., place : place + 1], cache=cache)

    @torch.no_grad()
    def their_decode() -> None:
        for place in range(NEW):
            theirs(tokens[0, :, place : place + 1], past_key_values=their_cache, use_cache=True)

    def our_loss() -> Tensor:
        logits = Decoder(LLAMA, learned)(short[..., :-1])
        return F.cross_entropy(logits.flatten(0, 2), short[..., 1:].flatten())

    def their_loss() -> Tensor:
        logits = theirs(short[0, :, :-1], use_cache=False).logits
        return F.cross_entropy(logits.flatten(0, 1), short[..., 1:].flatten())

    timed = side_by_side({
        "prompt": prompt, "their prompt": their_prompt,
        "decode": decode, "their decode": their_decode,
        "step": step_of(our_loss, list(learned.values())),
        "their step": step_of(their_loss, list(theirs.parameters())),
    }, turns=7)  # fmt: skip
    return _told(timed, [
        (f"Llama of transformers / ours, {what}", f"their {key}", key, ">= 1")
        for key, what in (("prompt", f"{PROMPT} tokens"), ("decode", f"{NEW} one by one"),
                          ("step", "training step"))
    ])  # fmt: skip


def _told(timed: pd.DataFrame, told: list[tuple[str, str, str, str]]) -> pd.DataFrame:
    rows = [(f"transformers: {what}", ratio(timed, above, below), wanted)
            for what, above, below, wanted in told]  # fmt: skip
    return pd.DataFrame(rows, columns=["what", "ratio", "wanted"])


BENCHMARKS = {"transformers-step-ratios": step_ratios, "transformers-llama-ratios": llama_ratios}
