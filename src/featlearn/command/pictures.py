"""Commands on single pictures, with a network that a run wrote."""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path

import torch
from PIL import Image
from torch import Tensor, nn

from featlearn import images
from featlearn.core.errors import FeatlearnError
from featlearn.images.api import BATCH, heat_maps
from featlearn.images.cam.eigencam import overlay
from featlearn.images.data.readers.common import shown
from featlearn.images.data.readers.decode import BrokenImage
from featlearn.images.pretrained import Foreign, is_name
from featlearn.images.saved import Network
from featlearn.images.train.classifier import Classifier

#: Largest difference between a network and its export, of the largest output.
SAME = 1e-4
#: Letters of a picture's name that its map keeps.
LONGEST = 60


def _network(source: str) -> Network | Foreign:
    """The network that a command line names; see :func:`featlearn.images.network`."""
    file = Path(source)
    if not is_name(source) and (file.suffix != ".safetensors" or not file.is_file()):
        what = "a folder; " if file.is_dir() else "" if file.is_file() else "no such file; "
        raise FeatlearnError(
            f"{source}: {what}expected a network that a run wrote, such as "
            "results/flowers/own_images/weights/flowers/classifier-pretrained-0.safetensors"
        )
    return images.network(source)


def _there(files: Sequence[str]) -> Sequence[str]:
    for file in files:
        if Path(file).is_dir():
            raise FeatlearnError(f"{file}: a folder; expected pictures, such as {file}/*.jpg")
        if not Path(file).is_file():
            raise FeatlearnError(f"{file}: no such file")
    return files


def _decoded(
    network: Network | Foreign, files: Sequence[str]
) -> Iterator[tuple[list[str], Tensor]]:
    """Files and their pixels, some at a time; what is no picture is told and left out."""
    for start in range(0, len(files), BATCH):
        names, found = [], []
        for name in files[start : start + BATCH]:
            try:
                found.append(network.pixels([name]))
                names.append(name)
            except BrokenImage as error:
                print(f"{shown(name)}: {error}", file=sys.stderr)
        if names:
            yield names, torch.cat(found)


def cam(options: argparse.Namespace) -> int:
    """A PNG a picture: itself beside its map."""
    network = _network(options.weights)
    files = _there(options.images)
    out = Path(options.out)
    try:
        out.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=out):
            pass
    except OSError as error:
        raise FeatlearnError(
            f"--out {out}: {error.strerror}; expected a folder that may be written, or a new name"
        ) from error
    taken: set[str] = set()
    for names, pixels in _decoded(network, files):
        shots = torch.cat([pixels, overlay(pixels, heat_maps(network, pixels))], 3)
        for name, shot in zip(names, shots, strict=True):
            stem = shown(Path(name).stem)[:LONGEST]
            own, number = stem, 1
            while own in taken:  # of another folder
                number += 1
                own = f"{stem}-{number}"
            taken.add(own)
            file = out / f"{own}-cam.png"
            Image.fromarray(shot.permute(1, 2, 0).contiguous().numpy()).save(file)
            print(shown(file))
    return int(len(taken) < len(files))


def predict(options: argparse.Namespace) -> int:
    """A line a picture: file, class, probability, tab between them."""
    network = None if is_name(options.weights) else _network(options.weights)
    if not isinstance(network, Network) or not network.classes:
        raise FeatlearnError(
            f"{options.weights}: knows no classes; expected a classifier-....safetensors of a run"
        )
    files = _there(options.images)
    done = 0
    for names, pixels in _decoded(network, files):
        for name, row in zip(names, network(pixels), strict=True):
            if not row.isfinite().all():
                raise FeatlearnError(f"{options.weights}: must answer numbers, got {row.tolist()}")
            best = int(row.argmax())
            label = shown(network.classes[best])  # a stranger's file names the classes
            print(f"{shown(name)}\t{label}\t{float(row[best]):.4f}", flush=True)
            done += 1
    return int(done < len(files))


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
    network = None if is_name(options.weights) else _network(options.weights)
    if not isinstance(network, Network):
        raise FeatlearnError(f"{options.weights}: expected a .safetensors file that a run wrote")
    out = Path(options.out)
    if out.suffix != ".pt2":
        raise FeatlearnError(f"{out}: expected a name that ends in .pt2")
    if not out.parent.is_dir():
        raise FeatlearnError(f"{out.parent}: no such folder")
    generator = torch.Generator().manual_seed(0)
    side = network.size
    trial = torch.randint(0, 256, (4, 3, side, side), generator=generator, dtype=torch.uint8)
    batch = torch.export.Dim("batch")
    program = torch.export.export(
        Portable(network).eval(), (trial.float(),), dynamic_shapes=({0: batch},)
    )
    wanted = network(trial) if network.classes else network.features(trial)
    # what is there already is replaced by what was tested, or stays
    with tempfile.TemporaryDirectory(dir=out.parent, prefix=".export-") as staging:
        staged = Path(staging) / out.name
        try:
            torch.export.save(program, staged)
            with torch.inference_mode():
                again = torch.export.load(staged).module()(trial[:3].float())
        except RuntimeError as error:  # of a disk that is full, too
            raise FeatlearnError(f"{out}: cannot be written: {error}") from error
        apart = float((again - wanted[:3]).abs().max() / wanted.abs().max().clamp_min(1e-12))
        if not apart <= SAME:
            raise FeatlearnError(
                f"{out}: not kept: it differs from the network by {apart:.1e} of its largest output"
            )
        staged.replace(out)
    print(f"{out}: pixels (N, 3, {side}, {side}), 0 to 255; differs by {apart:.1e} at most")
    return 0
