"""Ours: small transformers by size, on flipped labels, garbled words and an irrelevant word."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pandas as pd
import torch

from featlearn.core.seeds import Streams
from featlearn.icl import documents
from featlearn.transformers.decoder import Decoder

if TYPE_CHECKING:
    from featlearn.core.job import Job
    from featlearn.core.outputs import Results


def measure(job: Job) -> Results:
    """Train small softmax transformers of several sizes; all answer the same documents."""
    config = job.config
    examples = config["examples"] + 1
    streams = Streams(job.seed, "icl", "small", range(config["replicates"]))
    drawn = [documents.draw(config["prompts"], examples, one) for one in streams("test")]
    test = documents.Documents(*(torch.stack(part) for part in zip(*drawn, strict=True)))
    rows: list[dict[str, Any]] = []
    seen: list[dict[str, Any]] = []
    for corpus, inverted in config["corpora"].items():
        for name, size in config["sizes"].items():
            decoder = documents.trained(
                f"{corpus}, {name}", documents.shape_of(size, examples), config["training"],
                examples, inverted, streams(f"start-{name}"), streams(f"documents-{corpus}"),
            )  # fmt: skip
            parameters = sum(one[0].numel() for one in decoder.weights.values())
            key = {"family": corpus, "data": "words", "model": name, "parameters": parameters}
            for share in config["shares"]:
                count = round(share * config["examples"])
                for kind, change in (("labels", documents.flipped), ("words", documents.garbled)):
                    pairs = zip(drawn, streams(f"{kind}-{count}"), strict=True)
                    given = torch.stack([change(one, count, stream) for one, stream in pairs])
                    found = documents.accuracy(decoder, given, test.meaning).tolist()
                    best = documents.bayes(test, given, inverted).tolist()
                    rows += [{**key, "noise": kind, "share": share, "replicate": replicate,
                              "value": value, "bayes": bayes}
                             for replicate, (value, bayes)
                             in enumerate(zip(found, best, strict=True))]  # fmt: skip
            seen += attention(decoder, test, config["shown"], key)
    return {"flips": pd.DataFrame(rows), "attention": pd.DataFrame(seen)}


def attention(
    decoder: Decoder, test: documents.Documents, shown: int, key: dict[str, Any]
) -> list[dict[str, Any]]:
    """Norm over heads of the answer's attention to both words of its own example. The labels of the
    context are all ``correct`` or all ``wrong``."""
    rows = []
    own = documents.Documents(*(part[:, :shown] for part in test))
    wrong = own.tokens.clone()
    wrong[..., 2::3] = 6 * documents.FAMILY + 1 - wrong[..., 2::3]
    for label, tokens in (("correct", own.tokens), ("wrong", wrong)):
        # the label is asked at the second word, where the loss trains
        words = documents.last_row(decoder, tokens[..., :-1])[..., -2:].norm(dim=2)  # (R, B, 2)
        place = own.relevant[..., -1:]
        for sentence, at in (("relevant", place), ("irrelevant", 1 - place)):
            for replicate, values in enumerate(words.gather(-1, at).squeeze(-1).tolist()):
                rows += [{**key, "label": label, "sentence": sentence, "replicate": replicate,
                          "prompt": prompt, "value": value}
                         for prompt, value in enumerate(values)]  # fmt: skip
    return rows
