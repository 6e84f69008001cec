"""How the first layer's filters move during a training."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from featlearn.core.errors import ConfigError
from featlearn.images.draws import Draws
from featlearn.images.objective import Objective


class FilterTrace(Objective):
    """An objective that also keeps its encoder's first filters at some moments of its training.

    They are a part of its state, so that a training that was interrupted goes on with them.

    Parameters
    ----------
    objective
        Whose encoder names a ``first_layer``.
    points
        Number of moments after the start, evenly spaced, the last of them the end.
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
        """The objective's."""
        return self.objective.encoder

    @property
    def filters(self) -> Tensor:
        """Weights (channels, 3, k, k) of the first convolution, as they are now."""
        encoder = self.objective.encoder
        return encoder.get_submodule(encoder.first_layer).weight  # type: ignore[arg-type, return-value]

    def forward(self, images: Tensor, labels: Tensor | None, draws: Draws) -> dict[str, Tensor]:
        """What the objective gives."""
        return self.objective(images, labels, draws)

    def parameter_groups(
        self, weight_decay: float, layer_decay: float | None = None
    ) -> list[dict[str, Any]]:
        """Those of the objective."""
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

    Parameters
    ----------
    trace : (moments, weights)

    Raises
    ------
    ValueError
        If the filters did not move.
    """
    distance = (trace.double() - trace[-1].double()).norm(dim=1)
    if not distance[0] > 0:
        raise ValueError("trace: the filters end where they began; expected a training")
    return distance / distance[0]
