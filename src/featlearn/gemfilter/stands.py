"""What reads needles: the two stand-ins and language models, and what each of them is asked."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import torch
from torch import Generator, Tensor

from featlearn.gemfilter import haystack, needles
from featlearn.gemfilter.networks import Network, OfTransformers, Ours
from featlearn.gemfilter.stand_in import shape_of
from featlearn.gemfilter.wired import Wired
from featlearn.transformers.decoder import Decoder
from featlearn.transformers.folder import load


class Asked(NamedTuple):
    """S prompts of one length and depth."""

    tokens: Tensor  #: (S, n)
    span: tuple[int, int]  #: first place of the needle, and the first behind it
    wanted: str  #: from the first of them
    #: of answers (S, t): the share of what was wanted that is said, and whether all of it is; (S,)
    score: Callable[[Tensor], tuple[Tensor, Tensor]]


@dataclass(frozen=True)
class Stand:
    """A network, or several, and how it is asked.

    ``ask``: prompts for a length, a depth and a stream a prompt. ``say``: tokens in words.
    ``replicates``: networks, which read equal parts of the prompts; of one, prompts. ``steps``,
    ``stop``: tokens of an answer, and those that end it. ``thorough``: sweep layers at each depth.
    """

    network: Network
    ask: Callable[[int, float, Sequence[Generator]], Asked]
    say: Callable[[Sequence[int]], list[str]]
    replicates: int = 1
    steps: int = 3
    stop: tuple[int, ...] = ()
    thorough: bool = True


def wired(config: Mapping[str, Any], seed: int) -> Stand:
    """Of the section ``gemfilter.wired``."""
    words = needles.Vocabulary(**config["vocabulary"])
    network = Wired(words.size, (seed, "gemfilter", "wired"), config["width"])
    return Stand(network, partial(_of_tokens, words, 1, "cpu"), words.say)


def trained(config: Mapping[str, Any], weights: Mapping[str, Tensor]) -> Stand:
    """Of the section ``gemfilter.trained`` and its weights."""
    words = needles.Vocabulary(**config["vocabulary"])
    decoder = Decoder(shape_of(config), weights)
    ask = partial(_of_tokens, words, decoder.replicates, weights["words"].device)
    return Stand(Ours(decoder), ask, words.say, decoder.replicates)


def language(config: Mapping[str, Any], device: torch.device | str) -> Stand:
    """A causal model in a folder; ``config`` as :func:`.config.reader` gives it."""
    network, tokenizer, stop = model_of(config, device)
    essays = haystack.essays(
        tokenizer, haystack.read(Path(config["haystack"])), max(config["lengths"]),
        leak_bos=config["leak_bos"],
    )  # fmt: skip

    def score(found: Tensor) -> tuple[Tensor, Tensor]:
        """The released score, and whether all words are said, without punctuation."""
        said = [tokenizer.decode(row, skip_special_tokens=True) for row in found.tolist()]
        scores = torch.tensor([haystack.set_score(one) for one in said])
        return scores, torch.tensor([haystack.set_score(one, bare=True) == 1 for one in said])

    def ask(length: int, depth: float, _: Sequence[Generator]) -> Asked:
        prompt = haystack.write(tokenizer, essays, length, depth, leak_bos=config["leak_bos"])
        tokens = torch.tensor([prompt.tokens], device=device)
        return Asked(tokens, prompt.span, haystack.EXPECTED, score)

    def say(tokens: Sequence[int]) -> list[str]:
        return [tokenizer.decode([token]).strip() for token in tokens]

    return Stand(network, ask, say, 1, config["steps"], stop, thorough=False)


def model_of(
    config: Mapping[str, Any], device: torch.device | str
) -> tuple[OfTransformers, Any, tuple[int, ...]]:
    """The model in ``config["folder"]``, its tokenizer and the tokens that end an answer."""
    model, tokenizer = load(Path(config["folder"]))
    model.to(device=device, dtype=getattr(torch, config["precision"]))
    ends = model.generation_config.eos_token_id
    stop = () if ends is None else tuple([ends] if isinstance(ends, int) else ends)
    return OfTransformers(model, str(config["folder"])), tokenizer, stop


def _of_tokens(
    words: needles.Vocabulary, replicates: int, device: torch.device | str, length: int,
    depth: float, streams: Sequence[Generator],
) -> Asked:  # fmt: skip
    prompts = needles.draw(words, length, depth, streams)
    wanted = prompts.answer.repeat(replicates, 1)

    def score(found: Tensor) -> tuple[Tensor, Tensor]:
        found = found.cpu()
        # |set(out) & set(answer)| / L: of the answer's tokens, repetitions counted once
        hit = (wanted[..., None] == found[:, None]).any(-1)
        again = (wanted[..., None] == wanted[:, None]).tril(-1).any(-1)
        return (hit & ~again).float().mean(1), (found == wanted).all(1)

    # every network reads the same prompts
    tokens, first = prompts.tokens.repeat(replicates, 1), prompts.answer[0].tolist()
    return Asked(tokens.to(device), prompts.span, " ".join(words.say(first)), score)
