"""An :class:`Objective`: an encoder with a loss, and how its parameters are to be stepped."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import Any

from torch import Tensor, nn

from featlearn.images.rng import Draws

#: Last part of the names of parameters that stand for a token or a place: never decayed.
_TOKEN = re.compile(r"token|pos_|position")
#: A block's own place within its parent: ``3``, or ``encoder_layer_3`` as torchvision has it.
_COUNTED = re.compile(r"\d+|\w+_\d+")


class Objective(nn.Module):
    """An encoder and the loss that trains it. ``encoder``: what is kept after the training."""

    encoder: nn.Module

    def forward(self, images: Tensor, labels: Tensor | None, draws: Draws) -> dict[str, Tensor]:
        """The loss of a batch, and what else its history shall hold.

        ``images`` (B, 3, S, S): normalised. ``labels`` (B,) int64 or None. ``draws``: all random
        numbers of this step. Returns ``loss``, the mean over these images, and further scalars; the
        same names at every step.
        """
        raise NotImplementedError(f"{type(self).__name__} has no loss")

    def parts(
        self, images: Tensor, labels: Tensor | None, draws: Draws
    ) -> Iterator[dict[str, Tensor]]:
        """What :meth:`forward` gives, in parts whose losses share no parameter.

        The training descends on one part before it asks for the next, so that only one graph is in
        memory; scalars of the same name are summed.
        """
        yield self(images, labels, draws)

    def clipped(self) -> dict[str, nn.Module]:
        """Modules whose gradients are clipped each for itself, by the prefix of their norm."""
        return {"": self}

    def parameter_groups(
        self, weight_decay: float, layer_decay: float | None = None
    ) -> list[dict[str, Any]]:
        """Split the trainable parameters by weight decay and by factor of the learning rate.

        Norms, biases (fewer than two axes) and tokens are not decayed. With layer decay, a layer of
        ``encoder`` that lies ``n`` layers below the head learns at ``layer_decay ** n`` times the
        rate (BEiT, appendix): stem and tokens are layer 0, blocks follow in order, and what comes
        after the last counts as head.

        ``weight_decay``: of all other parameters. ``layer_decay``: in (0, 1]; None for the same
        rate everywhere. Returns ``params``, ``weight_decay`` and ``lr_scale`` of each group, in a
        fixed order.
        """
        depths, head = layers(name for name, _ in self.named_parameters())
        groups: dict[tuple[float, float], list[nn.Parameter]] = {}
        for name, parameter in self.named_parameters():
            if not parameter.requires_grad:
                continue
            decayed = parameter.ndim > 1 and not _TOKEN.search(name.rpartition(".")[2])
            decay = weight_decay if decayed else 0.0
            scale = 1.0 if layer_decay is None else layer_decay ** (head - depths.get(name, head))
            groups.setdefault((scale, decay), []).append(parameter)
        return [{"params": parameters, "weight_decay": decay, "lr_scale": scale}
                for (scale, decay), parameters in sorted(
                    groups.items(), key=lambda item: item[0])]  # fmt: skip

    def after_step(self, step: int, steps: int) -> None:
        """Called when ``step`` of ``steps`` optimiser steps are done, e.g. to move a teacher."""


def layers(names: Iterable[str]) -> tuple[dict[str, int], int]:
    """Layer of each parameter of the encoder, from the names in their order; the head's layer.

    A block is what a counted place in a sequence holds (``blocks.3``, ``layer2.0``,
    ``stages.1.0``), unless its name says ``stem`` or ``embed``.
    """
    found: dict[str, int] = {}
    blocks: dict[str, int] = {}
    for name in names:
        if not name.startswith("encoder."):
            continue
        block = _block(name)
        if block is not None:
            found[name] = blocks.setdefault(block, len(blocks) + 1)
        elif not blocks:
            found[name] = 0
    return found, len(blocks) + 1


def _block(name: str) -> str | None:
    """``encoder.layer1.0.conv1.weight`` -> ``encoder.layer1.0``; None outside of blocks."""
    parts = name.split(".")[:-1]
    counted = [place for place, part in enumerate(parts) if _COUNTED.fullmatch(part)]
    if not counted:
        return None
    first = counted[0]
    if any("stem" in part or "embed" in part for part in parts[:first]):
        return None
    last = first
    while last + 1 in counted:
        last += 1
    return ".".join(parts[: last + 1])
