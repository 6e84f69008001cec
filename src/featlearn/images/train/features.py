"""What a frozen network gives for many images: features, or the scores of a classifier."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

import torch
from torch import Tensor, nn

from featlearn.core.errors import FeatlearnError
from featlearn.images.rng import Draws

#: Turns uint8 images (B, 3, S, S) into network inputs, on their device.
Preprocess = Callable[[Tensor, Draws], Tensor]


def extract(
    network: nn.Module, images: Tensor, preprocess: Preprocess, *,
    outputs: Callable[[Tensor], Tensor] | None = None, batch: int = 256,
    device: torch.device | str = "cpu",
) -> Tensor:  # fmt: skip
    """Outputs of a network in evaluation mode, for images in their order.

    ``network``: is moved to ``device``; its mode is as it was before. ``images`` (N, 3, S, S)
    uint8, in memory or memory-mapped. ``preprocess``: normalisation, such as an
    :class:`~featlearn.images.augment.Augment` without random steps. ``outputs``: a method of the
    network from inputs (B, 3, S, S) to one row an image; None for what it returns. ``batch``:
    images at a time. Returns float32 ``(N, width)`` on the CPU. Raises FeatlearnError if there are
    no images, or an output is not finite.
    """
    if not len(images):
        raise FeatlearnError("features: expected images, got none")
    device = torch.device(device)
    network.to(device)
    found: Tensor | None = None
    with evaluating(network), torch.inference_mode():
        for number, start in enumerate(range(0, len(images), batch)):
            part = images[start : start + batch].to(device, non_blocking=True)
            inputs = preprocess(part, Draws(("evaluation",), number, len(part)))
            output = (outputs or network)(inputs)
            if found is None:  # kept on the device: one copy to the CPU, no wait at each batch
                found = output.new_empty((len(images), *output.shape[1:]), dtype=torch.float32)
            found[start : start + len(part)] = output
    assert found is not None
    if not bool(found.isfinite().all()):
        first = int((~found.isfinite()).flatten(1).any(1).nonzero()[0])
        raise FeatlearnError(
            f"{type(network).__name__}: its output for image {first} of {len(images)} is not finite"
        )
    # outside of inference mode, so that the result may enter a computation with gradients
    return found.cpu().clone()


@contextmanager
def evaluating(network: nn.Module) -> Iterator[None]:
    """Evaluation mode for a while; every module gets back the mode that it had."""
    training = [module for module in network.modules() if module.training]
    network.eval()
    try:
        yield
    finally:
        for module in training:
            module.training = True
