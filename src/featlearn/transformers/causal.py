"""What a causal language model of the library `transformers` says of texts; see :mod:`.folder`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor


def encoded(tokenizer: Any, text: str) -> list[int]:
    """Tokens of a prompt, with what the tokenizer puts before one."""
    return list(tokenizer(text)["input_ids"])


def continuation(tokenizer: Any, prompt: str, words: str) -> tuple[list[int], int]:
    """Tokens of a prompt with what follows it, and how many of them are the prompt's.

    Both are cut as one text, as words are in running text; where that moves the cut between them,
    tokens count to the continuation from the first that differs.
    """
    alone, both = encoded(tokenizer, prompt), encoded(tokenizer, prompt + words)
    # a tokenizer may end every text with a token of its own
    end = getattr(tokenizer, "eos_token_id", None)
    if end is not None and both and both[-1] == end:
        both = both[:-1]
    same = 0
    while same < min(len(alone), len(both)) and alone[same] == both[same]:
        same += 1
    if same == len(both):
        raise ValueError(f"continuation {words!r}: the tokenizer makes no tokens of it")
    return both, same


@torch.no_grad()
def log_probabilities(
    model: Any, tokenizer: Any, prompts: Sequence[str], words: Sequence[str], batch_size: int
) -> Tensor:
    """Log-probability of each of ``words`` after each of ``prompts``, summed over its tokens.

    Sequences of like length are scored together, filled up on the right: under a causal mask what
    follows changes nothing. Returns (prompts, words), float64.
    """
    items = [continuation(tokenizer, prompt, word) for prompt in prompts for word in words]
    found = torch.zeros(len(items), dtype=torch.float64)
    order = sorted(range(len(items)), key=lambda item: len(items[item][0]))
    for first in range(0, len(order), batch_size):
        chosen = order[first : first + batch_size]
        longest = max(len(items[item][0]) for item in chosen)
        tokens = torch.zeros(len(chosen), longest, dtype=torch.long)
        mask = torch.zeros_like(tokens)
        for row, item in enumerate(chosen):
            own = items[item][0]
            tokens[row, : len(own)] = torch.tensor(own)
            mask[row, : len(own)] = 1
        told = min(items[item][1] for item in chosen) - 1
        logits = model(
            input_ids=tokens, attention_mask=mask, use_cache=False,
            logits_to_keep=longest - max(told, 0),
        ).logits  # fmt: skip
        skipped = longest - logits.shape[1]
        for row, item in enumerate(chosen):
            own, same = items[item]
            places = torch.arange(max(same, 1), len(own))
            each = logits[row, places - 1 - skipped].double().log_softmax(-1)
            found[item] = each.gather(-1, tokens[row, places][:, None]).sum()
    return found.view(len(prompts), len(words))


@torch.no_grad()
def last_attention(model: Any, tokens: Sequence[int]) -> Tensor:
    """Attention of the last token in the last layer, (heads, n)."""
    before = model.config._attn_implementation
    model.set_attn_implementation("eager")  # only there are probabilities kept
    try:
        seen = model(input_ids=torch.tensor([list(tokens)]), output_attentions=True).attentions
    finally:
        model.set_attn_implementation(before)
    return seen[-1][0, :, -1]
