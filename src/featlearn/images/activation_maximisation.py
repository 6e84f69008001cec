"""Images that maximise a channel (Allen-Zhu and Li 2020), all in one batch; details are ours."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import pandas as pd
import torch
from torch import Tensor
from torch.nn import functional

from featlearn.core.evidence.frames import tidy
from featlearn.core.seeds import generator
from featlearn.images.augment import Augment
from featlearn.images.encoders.base import Encoder
from featlearn.images.train.features import evaluating

#: Value of the images that the ascent starts from.
GREY = 0.5


def maximise_channels(
    encoder: Encoder, layer: str, channels: Sequence[int], size: int, mean: Tensor, std: Tensor,
    name: tuple[object, ...], *, steps: int = 200, rate: float = 1.0, pull: float = 1e-3,
) -> Tensor:  # fmt: skip
    """One image a channel that makes the channel's mean activation large.

    Starts at grey with a little noise and takes ``steps`` steps of length ``rate`` (Euclidean, in
    pixel values) along the gradient of the mean over the map less ``pull * |x - grey|^2``, in [0,
    1].

    ``layer``: name of a module whose output is (B, channels, h, w), before its rectifier.
    ``channels``: which of its channels. ``size``: side of the images. ``mean``, ``std`` (3,): of
    the encoder's inputs. ``name``: of the random stream; all channels start alike. Returns float32
    ``(len(channels), 3, size, size)`` in [0, 1], on the encoder's device.
    """
    device = next(encoder.parameters()).device
    noise = torch.randn(1, 3, size, size, generator=generator(*name, "start"))
    start = (GREY + 0.01 * noise).clamp(0, 1).to(device)
    images = start.expand(len(channels), -1, -1, -1).contiguous()
    offset, scale = (value.to(device).view(1, 3, 1, 1) for value in (mean, std))
    own = torch.arange(len(channels), device=device)
    wanted = torch.tensor(list(channels), device=device)
    with evaluating(encoder), torch.enable_grad():
        for _ in range(steps):
            images = images.detach().requires_grad_(True)
            maps = encoder.layer_maps((images - offset) / scale, layer)
            # each image has a channel of its own: one gradient serves all of them
            reached = maps[own, wanted].mean((1, 2)).sum()
            (slope,) = torch.autograd.grad(reached - pull * (images - GREY).square().sum(), images)
            step = slope / slope.flatten(1).norm(dim=1).clamp_min(1e-12).view(-1, 1, 1, 1)
            images = (images.detach() + rate * step).clamp_(0, 1)
    return images.detach()


def of_last_layer(
    encoder: Encoder, plain: Augment, size: int, dials: Mapping[str, Any], name: tuple[object, ...]
) -> Tensor:
    """:func:`maximise_channels` of the first ``channels`` of the last layer, on the CPU.

    ``plain``: what normalises the encoder's inputs. ``dials``: channels, steps, rate and pull.
    """
    options = {key: dials[key] for key in ("steps", "rate", "pull")}
    channels, stream = range(min(dials["channels"], encoder.width)), (*name, "visualisation")
    return maximise_channels(encoder, encoder.last_layer, channels, size, plain.mean, plain.std,
                             stream, **options).cpu()  # fmt: skip


def chroma_share(signal: Tensor) -> Tensor:
    """Share of the energy that lies in colour: ``(N,)`` from ``(N, 3, h, w)``.

    That of the two directions across grey, ``(1, 1, 1) / sqrt(3)``: 0 for a grey signal, 2/3 for
    independent channels of equal variance. ``signal``: ``images - 0.5``, or kernels of a first
    layer. Raises ValueError if one is zero.
    """
    signal = signal.double()
    total = signal.square().sum((1, 2, 3))
    if not bool((total > 0).all()):
        raise ValueError("signal: expected one that is not zero everywhere")
    grey = signal.sum(1).square().sum((1, 2)) / 3
    return 1 - grey / total


def roughness(signal: Tensor) -> Tensor:
    """Share of the energy that does not survive a 2x2 mean: ``(N,)`` from ``(N, 3, h, w)``.

    0 for what is flat over each square of 2x2 pixels, 3/4 for white noise. ``h`` and ``w`` even.
    """
    signal = signal.double()
    kept = 4 * functional.avg_pool2d(signal, 2).square().sum((1, 2, 3))
    return 1 - kept / signal.square().sum((1, 2, 3))


def likeness(signal: Tensor) -> tuple[float, float]:
    """How alike pictures are: the mean absolute cosine of two of them, and how many they make.

    The second number is the exponential of the entropy of the spectrum of their cosines (Roy and
    Vetterli 2007): 1 if all are the same up to sign and size, N if they are orthogonal. A picture
    moved by some pixels is a different one.

    ``signal``: deviations from grey, (N, 3, h, w). Raises ValueError if fewer than two are not
    zero.
    """
    flat = signal.double().flatten(1)
    flat = flat[flat.norm(dim=1) > 0]
    if len(flat) < 2:
        raise ValueError(f"signal: {len(flat)} pictures that are not zero; expected at least 2")
    unit = functional.normalize(flat, dim=1)
    cosines = unit @ unit.T
    count = len(unit)
    pairs = (cosines.abs().sum() - count) / (count * (count - 1))
    shares = torch.linalg.eigvalsh(cosines).clamp(min=0) / count
    positive = shares[shares > 0]
    return float(pairs), float((-(positive * positive.log()).sum()).exp())


def as_pictures(filters: Tensor) -> Tensor:
    """Kernels ``(N, 3, k, k)`` to pictures in [0, 1], each from its least to its largest value."""
    flat = filters.flatten(1)
    low, high = (edge.view(-1, 1, 1, 1) for edge in (flat.amin(1), flat.amax(1)))
    return (filters - low) / (high - low).clamp_min(1e-12)


def pixels(kind: str, pictures: Tensor) -> pd.DataFrame:
    """A row a pixel of pictures (N, 3, h, w) with values from 0 to 255."""
    count, _, height, width = pictures.shape
    axes = {"kind": [kind], "channel": range(count), "row": range(height), "column": range(width)}
    colours = pictures.to(torch.uint8).unbind(1)
    return tidy(axes, **dict(zip(("red", "green", "blue"), colours, strict=True)))
