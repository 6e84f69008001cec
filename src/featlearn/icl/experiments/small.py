"""Ours: small transformers by size, on flipped labels, garbled words and an irrelevant word."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from itertools import product
from typing import TYPE_CHECKING, Any

import pandas as pd
import torch
from torch import Tensor

from featlearn.core.evidence.frames import rows
from featlearn.core.seeds import Streams
from featlearn.icl import documents
from featlearn.transformers.decoder import Decoder

if TYPE_CHECKING:
    from featlearn.core.run.job import Job
    from featlearn.core.run.outputs import Results


def measure(job: Job) -> Results:
    """Train small softmax transformers of several sizes; all answer the same documents."""
    config = job.config
    examples = config["examples"] + 1
    streams = Streams(job.seed, "icl", "small", range(config["replicates"]))
    drawn = [documents.draw(config["prompts"], examples, one) for one in streams("test")]

    def train(label: str, size: Any, inverted: float, *random: Any) -> Decoder:
        shape = documents.shape_of(size, examples)
        return documents.trained(
            label, shape, config["training"], examples, inverted, *random, made=Decoder
        )

    kinds = {"labels": documents.flipped, "words": documents.garbled}
    return by_size(config, streams, drawn, "words", train, kinds, documents.bayes)


def by_size(
    config: Mapping[str, Any], streams: Streams, drawn: Sequence[documents.Documents], data: str,
    train: Callable[..., Decoder], kinds: Mapping[str, Callable[..., Tensor]],
    bayes: Callable[[documents.Documents, Tensor, float], Tensor],
) -> dict[str, pd.DataFrame]:  # fmt: skip
    """Accuracies and attention of a decoder of each size and corpus on the documents ``drawn``.

    ``data``: their name. ``kinds``: of noise, by name. ``bayes``: how often a Bayesian is right.
    """
    test = documents.Documents(*(torch.stack(part) for part in zip(*drawn, strict=True)))
    flips: list[dict[str, Any]] = []
    seen: list[dict[str, Any]] = []
    for (family, inverted), (name, size) in product(
        config["corpora"].items(), config["sizes"].items()
    ):
        decoder = train(f"{family}, {name}", size, inverted, streams(f"start-{name}"),
                        streams(f"documents-{family}"))  # fmt: skip
        parameters = sum(one[0].numel() for one in decoder.weights.values())
        key = {"family": family, "data": data, "model": name, "parameters": parameters}
        for share, (kind, change) in product(config["shares"], kinds.items()):
            count = round(share * config["examples"])
            pairs = zip(drawn, streams(f"{kind}-{count}"), strict=True)
            given = torch.stack([change(one, count, stream) for one, stream in pairs])
            both = {"value": documents.accuracy(decoder, given, test.meaning),
                    "bayes": bayes(test, given, inverted)}  # fmt: skip
            flips += rows(both, **key, noise=kind, share=share)
        seen += attention(decoder, test, config["shown"], key)
    return {"flips": pd.DataFrame(flips), "attention": pd.DataFrame(seen)}


def attention(
    decoder: Decoder, test: documents.Documents, shown: int, key: dict[str, Any]
) -> list[dict[str, Any]]:
    """Norm over heads of the answer's attention to both words of its own example. The labels of the
    context are all ``correct`` or all ``wrong``."""
    told = []
    own = documents.Documents(*(part[:, :shown] for part in test))
    wrong = own.tokens.clone()
    wrong[..., 2::3] = 6 * documents.FAMILY + 1 - wrong[..., 2::3]
    for label, tokens in (("correct", own.tokens), ("wrong", wrong)):
        # the label is asked at the second word, where the loss trains
        words = documents.last_row(decoder, tokens[..., :-1])[..., -2:].norm(dim=2)  # (R, B, 2)
        place = own.relevant[..., -1:]
        for sentence, at in (("relevant", place), ("irrelevant", 1 - place)):
            for replicate, values in enumerate(words.gather(-1, at).squeeze(-1).tolist()):
                told += [{**key, "label": label, "sentence": sentence, "replicate": replicate,
                          "prompt": prompt, "value": value}
                         for prompt, value in enumerate(values)]  # fmt: skip
    return told
