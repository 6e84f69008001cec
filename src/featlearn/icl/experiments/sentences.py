"""Small transformers on documents of sentences that people wrote, with flipped labels."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import pandas as pd
import torch

from featlearn.core.seeds import Streams
from featlearn.icl import documents, sentences
from featlearn.icl.experiments.small import attention

if TYPE_CHECKING:
    from featlearn.core.job import Job
    from featlearn.core.outputs import Results


def measure(job: Job) -> Results:
    """Train small transformers on documents of sentences; all answer about others."""
    config = job.config
    examples = config["examples"] + 1
    corpus = sentences.read(Path(config["sst2"]), Path(config["essays"]), config["words"])
    told = sentences.naive_bayes(corpus)
    streams = Streams(job.seed, "icl", "sentences", range(config["replicates"]))
    drawn = [sentences.write(documents.draw(config["prompts"], examples, one), corpus.asked, one)
             for one in streams("test")]  # fmt: skip
    test = documents.Documents(*(torch.stack(part) for part in zip(*drawn, strict=True)))
    rows: list[dict[str, Any]] = []
    seen: list[dict[str, Any]] = []
    for family, inverted in config["corpora"].items():
        for name, size in config["sizes"].items():
            reader = sentences.trained(
                f"{family}, {name}", size, corpus, config["training"], examples, inverted,
                streams(f"start-{name}"), streams(f"documents-{family}"),
            )  # fmt: skip
            parameters = sum(one[0].numel() for one in reader.weights.values())
            key = {"family": family, "data": "SST-2", "model": name, "parameters": parameters}
            for share in config["shares"]:
                count = round(share * config["examples"])
                pairs = zip(drawn, streams(f"labels-{count}"), strict=True)
                tokens = torch.stack([documents.flipped(one, count, own) for one, own in pairs])
                found = documents.accuracy(reader, tokens, test.meaning).tolist()
                best = sentences.by_counting(test._replace(tokens=tokens), told, inverted).tolist()
                rows += [{**key, "noise": "labels", "share": share, "replicate": replicate,
                          "value": value, "bayes": bayes}
                         for replicate, (value, bayes)
                         in enumerate(zip(found, best, strict=True))]  # fmt: skip
            seen += attention(reader, test, config["shown"], key)
    return {"flips": pd.DataFrame(rows), "attention": pd.DataFrame(seen)}
