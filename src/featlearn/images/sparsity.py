"""Single neurons: how often they fire, and how the first layer's filters move in a training."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

from featlearn.core.errors import ConfigError
from featlearn.images.encoders.base import Encoder
from featlearn.images.rng import Draws
from featlearn.images.train.features import Preprocess, evaluating
from featlearn.images.train.objective import Objective


@dataclass(frozen=True)
class Firing:
    """What a layer did on N images.

    ``shares`` (N, channels): share of the map at which the channel is above 0. ``pooled`` (N,
    channels): mean of the channel over the map.
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
    encoder: Encoder, layers: Sequence[str], images: Tensor, preprocess: Preprocess, *,
    batch: int = 256, device: torch.device | str = "cpu",
) -> dict[str, Firing]:  # fmt: skip
    """Firing of rectified layers, by name, in one pass over the images.

    ``encoder``: moved to ``device``. ``layers``: names of modules whose outputs (B, channels, h, w)
    are rectified, there or right behind. ``images`` (N, 3, S, S) uint8. ``preprocess``:
    normalisation.
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
    return {name: Firing(*(torch.cat(list(parts)) for parts in zip(*found, strict=True)))
            for name, found in seen.items()}  # fmt: skip


def hoyer(values: Tensor) -> Tensor:
    """Hoyer's sparsity of each row of ``(N, C)``: ``(sqrt C - |v|_1 / |v|_2) / (sqrt C - 1)``.

    0 if all entries are equal, 1 if one alone is not zero; a row of zeros counts as 1.
    """
    values = values.double().abs()
    root = values.shape[1] ** 0.5
    length = values.norm(dim=1)
    ratio = torch.where(length > 0, values.sum(1) / length.clamp_min(1e-300), 1.0)
    return (root - ratio) / (root - 1)


class FilterTrace(Objective):
    """An objective that also keeps its encoder's first filters at some moments, in its state.

    ``objective``: whose encoder names a ``first_layer``. ``points``: number of moments after the
    start, evenly spaced, the last of them the end.
    """

    trace: Tensor  # (points + 1, weights of the first layer)

    def __init__(self, objective: Objective, points: int):
        super().__init__()
        encoder: Any = objective.encoder
        if not encoder.first_layer:
            raise ConfigError(
                f"encoder.kind: {type(encoder).__name__} names no first layer; expected plain, "
                "alexnet or wide_resnet"
            )
        self.objective, self.points = objective, points
        # flat: the loop changes the order in memory of whatever has four axes or more
        first = self.filters.detach().flatten()
        self.register_buffer("trace", first.expand(points + 1, -1).clone())

    @property
    def encoder(self) -> Any:  # type: ignore[override]
        return self.objective.encoder

    @property
    def filters(self) -> Tensor:
        """Weights (channels, 3, k, k) of the first convolution, as they are now."""
        encoder = self.objective.encoder
        return encoder.get_submodule(encoder.first_layer).weight  # type: ignore[arg-type, return-value]

    def forward(self, images: Tensor, labels: Tensor | None, draws: Draws) -> dict[str, Tensor]:
        return self.objective(images, labels, draws)

    def parameter_groups(
        self, weight_decay: float, layer_decay: float | None = None
    ) -> list[dict[str, Any]]:
        return self.objective.parameter_groups(weight_decay, layer_decay)

    def after_step(self, step: int, steps: int) -> None:
        """Keep the filters where a moment has come; then what the objective does."""
        before, now = (self.points * done // steps for done in (step - 1, step))
        if now > before:
            self.trace[now] = self.filters.detach().flatten()
        self.objective.after_step(step, steps)


@torch.no_grad()
def distances_to_end(trace: Tensor) -> Tensor:
    """Distance of the filters from where they end, over that at the start: ``(moments,)``.

    ``trace`` (moments, weights). Raises ValueError if the filters did not move.
    """
    distance = (trace.double() - trace[-1].double()).norm(dim=1)
    if not distance[0] > 0:
        raise ValueError("trace: the filters end where they began; expected a training")
    return distance / distance[0]
