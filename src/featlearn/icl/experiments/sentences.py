"""Small transformers on documents of sentences that people wrote, with flipped labels."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from torch import Tensor

from featlearn.core.seeds import Streams
from featlearn.icl import documents, sentences
from featlearn.icl.experiments.small import by_size

if TYPE_CHECKING:
    from featlearn.core.run.job import Job
    from featlearn.core.run.outputs import Results


def measure(job: Job) -> Results:
    """Train small transformers on documents of sentences; all answer about others."""
    config = job.config
    examples = config["examples"] + 1
    corpus = sentences.read(Path(config["sst2"]), Path(config["essays"]), config["words"])
    told = sentences.naive_bayes(corpus)
    streams = Streams(job.seed, "icl", "sentences", range(config["replicates"]))
    drawn = [sentences.write(documents.draw(config["prompts"], examples, one), corpus.asked, one)
             for one in streams("test")]  # fmt: skip

    def train(label: str, size: Any, inverted: float, *random: Any) -> sentences.Reader:
        training = config["training"]
        return sentences.trained(label, size, corpus, training, examples, inverted, *random)

    def bayes(test: documents.Documents, tokens: Tensor, inverted: float) -> Tensor:
        return sentences.by_counting(test._replace(tokens=tokens), told, inverted)

    kinds = {"labels": documents.flipped}
    return by_size(config, streams, drawn, "SST-2", train, kinds, bayes)
