"""Commands on single pictures, with a network that a run wrote."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path

import torch
from PIL import Image
from torch import Tensor, nn

from featlearn.core.errors import FeatlearnError
from featlearn.images.classifier import Classifier
from featlearn.images.door import heat_maps
from featlearn.images.others import is_name, named
from featlearn.images.overlay import overlay
from featlearn.images.saved import Network, load

#: Largest difference between a network and its export, of the largest output.
SAME = 1e-4


def _there(files: Sequence[str]) -> Sequence[str]:
    if missing := [file for file in files if not Path(file).is_file()]:
        raise FeatlearnError(f"{missing[0]}: no such file")
    return files


def cam(options: argparse.Namespace) -> int:
    """A PNG a picture: itself beside its map."""
    network = named(options.weights) if is_name(options.weights) else load(options.weights)
    names = _there(options.images)
    out = Path(options.out)
    out.mkdir(parents=True, exist_ok=True)
    taken: set[str] = set()
    for name in names:
        pixels = network.pixels([name])
        shown = torch.cat([pixels, overlay(pixels, heat_maps(network, pixels))], 3)[0]
        stem, number = Path(name).stem, 1
        while stem in taken:  # of another folder
            number += 1
            stem = f"{Path(name).stem}-{number}"
        taken.add(stem)
        file = out / f"{stem}-cam.png"
        Image.fromarray(shown.permute(1, 2, 0).contiguous().numpy()).save(file)
        print(file)
    return 0


def predict(options: argparse.Namespace) -> int:
    """A line a picture: file, class, probability, tab between them."""
    network = load(options.weights)
    for name, row in zip(options.images, network(_there(options.images)), strict=True):
        best = int(row.argmax())
        print(f"{name}\t{network.classes[best]}\t{float(row[best]):.4f}")
    return 0


class Portable(nn.Module):
    """From pixels (N, 3, S, S), float in 0 to 255, to probabilities; or features, without classes.

    Normalisation is inside, so that whoever loads it needs to know nothing.
    """

    mean: Tensor
    std: Tensor

    def __init__(self, network: Network):
        super().__init__()
        self.network, self.several = network.network, network.about["several"]
        for name in ("mean", "std"):
            value = torch.tensor(network.about[name], dtype=torch.float32)
            self.register_buffer(name, value.view(1, 3, 1, 1))

    def forward(self, pixels: Tensor) -> Tensor:
        inputs = (pixels / 255 - self.mean) / self.std
        if not isinstance(self.network, Classifier):
            return self.network(inputs)
        scores = self.network.scores(inputs)
        return scores.sigmoid() if self.several else scores.softmax(1)


def export(options: argparse.Namespace) -> int:
    """Write a program of torch.export; one that says something else is not written."""
    network = load(options.weights)
    out = Path(options.out)
    if out.suffix != ".pt2":
        raise FeatlearnError(f"{out}: expected a name that ends in .pt2")
    generator = torch.Generator().manual_seed(0)
    side = network.size
    trial = torch.randint(0, 256, (4, 3, side, side), generator=generator, dtype=torch.uint8)
    batch = torch.export.Dim("batch")
    program = torch.export.export(
        Portable(network).eval(), (trial.float(),), dynamic_shapes=({0: batch},)
    )
    wanted = network(trial) if network.classes else network.features(trial)
    torch.export.save(program, out)
    with torch.inference_mode():
        again = torch.export.load(out).module()(trial[:3].float())
    apart = float((again - wanted[:3]).abs().max() / wanted.abs().max().clamp_min(1e-12))
    if not apart <= SAME:
        out.unlink()
        raise FeatlearnError(
            f"{out}: not kept: it differs from the network by {apart:.1e} of its largest output"
        )
    print(f"{out}: pixels (N, 3, {side}, {side}), 0 to 255; differs by {apart:.1e} at most")
    return 0
