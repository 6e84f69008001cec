"""Sentences through an encoder such as BERT of the library `transformers`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor

from featlearn.core.seeds import derive_seed

#: Sentences that go through the encoder at once, and tokens of a sentence at most.
BATCH, LONGEST = 64, 128


def features(
    loaded: tuple[Any, Any],
    texts: Sequence[str],
    device: torch.device | str = "cpu",
    dropout: tuple[object, ...] | None = None,
) -> Tensor:
    """Last hidden state at the first token ([CLS]) of each text, (n, width) on the CPU.

    ``loaded``: as of :func:`featlearn.transformers.folder.load_encoder`. ``dropout``: name of the
    random stream of its dropout, SimCSE's augmentation (Gao et al. 2021).
    """
    model, tokenizer = loaded
    model.to(device).train(dropout is not None)
    # texts of like length go together, so that little is padding; the order is restored
    order = sorted(range(len(texts)), key=lambda i: len(texts[i]))
    found: list[Tensor] = []
    with torch.inference_mode(), torch.random.fork_rng(enabled=dropout is not None):
        if dropout is not None:
            torch.manual_seed(derive_seed(*dropout))
        for start in range(0, len(order), BATCH):
            own = [texts[i] for i in order[start : start + BATCH]]
            tokens = tokenizer(own, padding=True, truncation=True, max_length=LONGEST,
                               return_tensors="pt").to(device)  # fmt: skip
            found.append(model(**tokens).last_hidden_state[:, 0].float().cpu())
    model.eval()
    features = torch.cat(found).clone()
    return features[torch.tensor(order).argsort()]
