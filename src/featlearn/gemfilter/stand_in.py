"""The trained stand-in: small Llamas that learn to find needles. All sizes are ours."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import torch
import torch.nn.functional as F
from torch import Generator, Tensor

from featlearn.gemfilter.needles import Vocabulary, lesson
from featlearn.transformers.decoder import Decoder, Shape, Weights

#: Least body of a sequence.
SHORTEST = 16


def shape_of(config: Mapping[str, Any]) -> Shape:
    """Of the section ``gemfilter.trained``."""
    words = Vocabulary(**config["vocabulary"]).size
    width, heads = config["width"], config["heads"]
    return Shape(
        words=words, width=width, layers=config["layers"], heads=heads, head_width=width // heads,
        hidden=2 * width, key_value_heads=heads // 2, norm="rms", activation="swiglu",
    )  # fmt: skip


class Lessons:
    """Batches of random length, and the loss on them.

    Lengths are log-uniform: most sequences are short, on which the network learns what to do, and
    cost little. The length of a batch is common to all replicates and has a stream of its own.
    """

    def __init__(self, config: Mapping[str, Any], streams: Sequence[Generator], lengths: Generator):
        self.config, self.streams, self.lengths = config, streams, lengths
        self.vocabulary = Vocabulary(**config["vocabulary"])
        self.shape = shape_of(config)

    def body(self) -> int:
        """Of the next batch."""
        low, high = math.log(SHORTEST), math.log(self.config["longest"] + 1)
        drawn = torch.rand((), generator=self.lengths, dtype=torch.float64).item()
        return int(math.exp(low + (high - low) * drawn))

    def drawn(self, body: int, batch: int, streams: Sequence[Generator]) -> tuple[Tensor, Tensor]:
        """Sequences, and where an answer comes next, as of :func:`.needles.lesson`."""
        return lesson(self.vocabulary, body, batch, streams)

    def loss(self, weights: Weights) -> Tensor:
        """Cross-entropy (R,) on the values of answers."""
        logits, wanted = self.answers(weights, self.body(), self.config["batch_size"], self.streams)
        each = F.cross_entropy(logits.flatten(0, 2), wanted.flatten(), reduction="none")
        return each.view(len(wanted), -1).mean(1)

    def answers(
        self, weights: Weights, body: int, batch: int, streams: Sequence[Generator]
    ) -> tuple[Tensor, Tensor]:
        """Logits (R, B, 24, V) where a value of an answer comes next, and these values."""
        tokens, targets = self.drawn(body, batch, streams)
        device = weights["words"].device
        network = Decoder(self.shape, weights)
        x = network.embed(tokens[..., :-1].to(device))
        for layer in range(self.shape.layers):
            x = network.block(layer, x)
        wanted = tokens[..., targets + 1].to(device)
        return network.logits(x[:, :, targets.to(device)]), wanted
