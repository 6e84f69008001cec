"""Where a network that is not ours has its maps, found by watching it look at a picture."""

from __future__ import annotations

import re
from typing import Any, NamedTuple

import torch
from torch import Tensor, nn

from featlearn.core.errors import ConfigError
from featlearn.images.eigencam import token_maps
from featlearn.images.features import evaluating
from featlearn.images.photographs import watched

#: Most tokens that stand for no place (class, register, distillation), where a network tells none.
MOST_LEADING = 9


class Layers(NamedTuple):
    """Names of layers.

    Attributes
    ----------
    last
        The last one whose output has places: maps or tokens.
    shown
        The one that is looked at: the first norm of the last block where ``last`` gives tokens, as
        in Eigen-CAM of our transformers; else ``last``.
    maps : bool
        Whether ``last`` gives maps, and no tokens.
    """

    last: str
    shown: str
    maps: bool


def positions(
    output: Any, size: tuple[int, int], leading: int | None = None, channels_last: bool = False
) -> Tensor | None:
    """What a layer gave for images of ``size`` pixels, as maps (B, C, h, w).

    Parameters
    ----------
    output
        Maps (B, C, h, w), with ``channels_last`` (B, h, w, C); or tokens (B, n, C), row by row.
    size
        Height and width.
    leading
        Tokens before those of the picture; None: as few as leave an even grid over it.

    Returns
    -------
    Tensor or None
        None if the output has no places, or a single one.
    """
    if not isinstance(output, Tensor) or not output.is_floating_point():
        return None
    if output.dim() == 4:
        maps = output.permute(0, 3, 1, 2) if channels_last else output
        return maps if maps.shape[2] * maps.shape[3] > 1 else None
    if output.dim() != 3:
        return None
    count = output.shape[1] - (leading or 0)
    for side in range(1, max(size) + 1):  # of a patch, from fine to coarse
        grid = (size[0] // side, size[1] // side)
        if (cells := grid[0] * grid[1]) <= count:
            before = output.shape[1] - cells
            fits = before == leading if leading is not None else before <= MOST_LEADING
            return token_maps(output, grid, before) if fits and cells > 1 else None
    return None


def leading_tokens(network: nn.Module) -> int | None:
    """Tokens before those of the picture, where a network tells; timm's do."""
    told = getattr(network, "num_prefix_tokens", None)
    return told if isinstance(told, int) else None


def layers(network: nn.Module, inputs: Tensor) -> Layers:
    """The layers of a network that maps can be read from.

    Raises
    ------
    ConfigError
        If no output has places.
    """
    size, leading = (inputs.shape[-2], inputs.shape[-1]), leading_tokens(network)
    seen: list[tuple[str, bool, bool]] = []  # name, whether maps, whether a norm

    def keep(name: str, module: nn.Module, output: Any) -> None:
        found = positions(output, size, leading, _channels_last(network, module, output))
        if found is None or len(found) != len(inputs):
            return
        if abs(found.shape[2] * size[1] - found.shape[3] * size[0]) > max(size):
            return  # what attention does to pairs of tokens
        seen.append((name, output.dim() == 4, "norm" in type(module).__name__.lower()))

    handles = [
        module.register_forward_hook(lambda m, _, output, name=name: keep(name, m, output))
        for name, module in network.named_modules()
        if name
    ]
    try:
        with evaluating(network), torch.no_grad():
            network(inputs)
    finally:
        for handle in handles:
            handle.remove()
    if not seen:
        raise ConfigError(
            f"layer: none of {type(network).__name__} gives maps (batch, channels, h, w) or tokens "
            "(batch, n, channels) of more than one place"
        )
    last, maps, _ = seen[-1]
    if not maps:
        norms = [name for name, is_map, norm in seen if norm and not is_map]
        blocks = [found.group(0) for name in norms if (found := re.match(r".*\d\.", name))]
        if blocks:
            shown = next(name for name in norms if name.startswith(blocks[-1]))
            return Layers(last, shown, False)
    return Layers(last, last, maps)


def activations(network: nn.Module, inputs: Tensor, layer: str) -> Tensor:
    """Output of a layer for inputs (B, 3, H, W), as maps (B, C, h, w).

    Raises
    ------
    ConfigError
        If there is no such layer, or its output has no places.
    """
    every = dict(network.named_modules())
    if layer not in every or not layer:
        raise ConfigError(f"layer: {layer!r} is no module of {type(network).__name__}")
    output = watched(network, every[layer], inputs)[1]
    last = _channels_last(network, every[layer], output)
    size = (inputs.shape[-2], inputs.shape[-1])
    maps = positions(output, size, leading_tokens(network), last)
    if maps is None:
        shape = tuple(output.shape) if isinstance(output, Tensor) else type(output).__name__
        raise ConfigError(
            f"layer: {layer!r} gives {shape}; expected maps (batch, channels, h, w), or tokens "
            "(batch, n, channels) of an even grid"
        )
    return maps


def _channels_last(network: nn.Module, module: nn.Module, output: Any) -> bool:
    """Whether maps are (B, h, w, C): timm's networks tell, a plain layer norm shows it."""
    if not isinstance(output, Tensor) or output.dim() != 4:
        return False
    if isinstance(module, nn.LayerNorm) and not type(module).__name__.endswith("2d"):
        return output.shape[-1:] == torch.Size(module.normalized_shape)
    width = getattr(network, "num_features", None)
    told = str(getattr(network, "output_fmt", "")).endswith("NHWC")
    return told and output.shape[-1] == width
