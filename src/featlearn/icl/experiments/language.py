"""Figures 5.1 to 5.3 of causal language models in folders of the user."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from featlearn.core.seeds import derive_seed
from featlearn.icl import texts
from featlearn.transformers import causal, folder

if TYPE_CHECKING:
    from featlearn.core.run.job import Job
    from featlearn.core.run.outputs import Results

Rows = Iterator[dict[str, Any]]


def measure(job: Job) -> Results:
    """Show language models flipped labels, garbled words and an irrelevant word, one by one."""
    config = job.config
    data = {name: (texts.read(Path(one["file"])), one["words"])
            for name, one in config["texts"].items()}  # fmt: skip
    flips: list[dict[str, Any]] = []
    seen: list[dict[str, Any]] = []
    for family, models in config["models"].items():
        for name, where in models.items():
            job.tell(f"{family}, {name}: {where}")
            model, tokenizer = folder.load(Path(where))
            key = {"family": family, "model": name, "parameters": model.num_parameters()}
            for of, (own, words) in data.items():
                for row in accuracies(model, tokenizer, own, words, config, (job.seed, "icl", of)):
                    flips.append({**key, "data": of, "noise": "labels", **row})
            of, (own, words) = next(iter(data.items()))
            random = np.random.default_rng(derive_seed(job.seed, "icl", of, "attention"))
            seen += [
                {**key, "data": of, "replicate": 0, **row}
                for row in attention(model, tokenizer, own, words, config, random)
            ]
    return {"flips": pd.DataFrame(flips), "attention": pd.DataFrame(seen)}


def accuracies(
    model: Any, tokenizer: Any, own: texts.Texts, words: list[str], config: Mapping[str, Any],
    name: tuple[Any, ...],
) -> Rows:  # fmt: skip
    """Accuracy by seed and share of flipped labels; the shares have the same examples."""
    for seed in range(config["seeds"]):
        random = np.random.default_rng(derive_seed(*name, seed))
        chosen = [texts.choose(own, config["examples"], random) for _ in range(config["prompts"])]
        wanted = own.label[[one.query for one in chosen]]
        for share in config["shares"]:
            flipped = round(share * config["examples"])
            prompts = [texts.prompt(own, one, words, flipped) for one in chosen]
            after = [f" {word}" for word in words]
            scores = causal.log_probabilities(
                model, tokenizer, prompts, after, config["batch_size"]
            )
            found = scores.argmax(1).numpy()
            yield {"share": share, "replicate": seed, "value": float((found == wanted).mean())}


def attention(
    model: Any, tokenizer: Any, own: texts.Texts, words: list[str], config: Mapping[str, Any],
    random: np.random.Generator,
) -> Rows:  # fmt: skip
    """Norm over heads and tokens of the label's attention to either sentence."""
    for prompt in range(config["shown"]):
        place = int(random.integers(len(own.text)))
        for label in ("correct", "wrong"):
            word = words[int(own.label[place]) ^ (label == "wrong")]
            whole, spans = texts.with_irrelevant(own.text[place], config["irrelevant"], word)
            tokens = tokenizer(whole, return_offsets_mapping=True)
            row = causal.last_attention(model, tokens["input_ids"])
            for sentence, (start, end) in spans.items():
                inside = [k for k, (low, high) in enumerate(tokens["offset_mapping"])
                          if low < end and high > start]  # fmt: skip
                yield {"label": label, "sentence": sentence, "prompt": prompt,
                       "value": float(row[:, inside].norm())}  # fmt: skip
