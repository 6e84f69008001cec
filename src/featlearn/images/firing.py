"""Which neurons of a rectified layer fire, how often, and on how few of them an answer rests."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from featlearn.images.draws import Draws
from featlearn.images.encoders.base import Encoder
from featlearn.images.features import Preprocess, evaluating


@dataclass(frozen=True)
class Firing:
    """What a layer did on N images.

    Parameters
    ----------
    shares : (N, channels)
        Share of the places of the map at which the channel fires (is above 0).
    pooled : (N, channels)
        Mean of the channel over the map.
    """

    shares: Tensor
    pooled: Tensor

    @property
    def rate(self) -> float:
        """Share of (image, channel, place) that fire."""
        return float(self.shares.double().mean())

    @property
    def image_rate(self) -> float:
        """Share of (image, channel) that fire at any place."""
        return float((self.shares > 0).double().mean())

    @property
    def sparsity(self) -> float:
        """Hoyer's sparsity of the pooled answers, mean over images: see :func:`hoyer`."""
        return float(hoyer(self.pooled).mean())


def firing(
    encoder: Encoder,
    layers: Sequence[str],
    images: Tensor,
    preprocess: Preprocess,
    *,
    batch: int = 256,
    device: torch.device | str = "cpu",
) -> dict[str, Firing]:
    """Firing of rectified layers, by name, in one pass over the images.

    Parameters
    ----------
    encoder
        Moved to ``device``.
    layers
        Names of modules whose outputs (B, channels, h, w) are rectified, there or right behind.
    images : (N, 3, S, S) uint8
    preprocess
        Normalisation, as for :func:`featlearn.images.features.extract`.
    """
    seen: dict[str, list[tuple[Tensor, Tensor]]] = {name: [] for name in layers}

    def keep(name: str) -> object:
        def hook(_: object, __: object, maps: Tensor) -> None:
            pooled = maps.clamp(min=0).mean((2, 3))
            seen[name].append(((maps > 0).float().mean((2, 3)).cpu(), pooled.cpu()))

        return encoder.get_submodule(name).register_forward_hook(hook)

    encoder.to(device)
    handles = [keep(name) for name in layers]
    try:
        with evaluating(encoder), torch.inference_mode():
            for number, start in enumerate(range(0, len(images), batch)):
                part = images[start : start + batch].to(device)
                encoder(preprocess(part, Draws(("evaluation",), number, len(part))))
    finally:
        for handle in handles:
            handle.remove()  # type: ignore[attr-defined]
    return {
        name: Firing(*(torch.cat(list(parts)) for parts in zip(*found, strict=True)))
        for name, found in seen.items()
    }


def hoyer(values: Tensor) -> Tensor:
    """Hoyer's sparsity of each row of ``(N, C)``: ``(sqrt C - |v|_1 / |v|_2) / (sqrt C - 1)``.

    0 if all entries are equal, 1 if one alone is not zero; a row of zeros counts as 1.
    """
    values = values.double().abs()
    root = values.shape[1] ** 0.5
    length = values.norm(dim=1)
    ratio = torch.where(length > 0, values.sum(1) / length.clamp_min(1e-300), 1.0)
    return (root - ratio) / (root - 1)
