"""Ridge regression from frozen features: how much of a quantity they hold linearly."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor

#: Penalties that are tried, relative to the mean square of the standardised features.
PENALTIES = tuple(10.0**power for power in range(-6, 3))


def explained_share(
    training: tuple[Tensor, Tensor],
    validation: tuple[Tensor, Tensor],
    testing: tuple[Tensor, Tensor],
    penalties: Sequence[float] = PENALTIES,
) -> float:
    """R^2 on test data of a ridge regression with intercept, mean over the targets.

    The penalty is the one with the least squared error on ``validation``.

    Parameters
    ----------
    training, validation, testing
        Features (N, width) and targets (N, K).

    Returns
    -------
    float
        ``1 - sum (y - prediction)^2 / sum (y - mean of the test y)^2``, at most 1.
    """
    mean, std = training[0].double().mean(0), training[0].double().std(0, correction=0)
    usual = training[1].double().mean(0)

    def ready(data: tuple[Tensor, Tensor]) -> tuple[Tensor, Tensor]:
        return (data[0].double() - mean) / std.clamp_min(1e-12), data[1].double() - usual

    (x, y), chosen, (x_test, y_test) = ready(training), ready(validation), ready(testing)
    # directions that do not vary at all are left with the penalty alone
    square = x.T @ x / len(x)
    values, turn = torch.linalg.eigh(square)
    product = turn.T @ (x.T @ y / len(x))
    weights = [turn @ (product / (values.clamp_min(0) + one)[:, None]) for one in penalties]
    errors = [float((chosen[0] @ weight - chosen[1]).square().mean()) for weight in weights]
    weight = weights[errors.index(min(errors))]
    residual = (x_test @ weight - y_test).square().sum(0)
    spread = (y_test - y_test.mean(0)).square().sum(0)
    return float((1 - residual / spread).mean())
