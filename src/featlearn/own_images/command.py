"""``featlearn images``: the pipeline on a folder of pictures, by a config that it writes."""

from __future__ import annotations

import argparse
import re
import shutil
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import yaml

from featlearn.core.errors import ConfigError, FeatlearnError
from featlearn.core.run.checks import some
from featlearn.core.run.config import load, merge, read_yaml
from featlearn.images.data.on_disk import Seen, hints, look
from featlearn.images.data.readers.common import shown
from featlearn.images.data.readers.folder import EXTENSIONS
from featlearn.images.train.plan import Plan, Training
from featlearn.own_images.config import FEW, PRETRAINED, TEST_SHARE, starts

if TYPE_CHECKING:
    from featlearn.images.augment import Augment
    from featlearn.images.train.objective import Objective

#: Names that the results of the workflow's own runs have.
SCALES = ("smoke", "tour", "desk", "real", "paper", "gpu", "published")
#: Steps that are timed, after one that is not.
TIMED = 4
#: Seconds of a job beside its training, and of a run beside its jobs; measured on one core.
A_JOB, A_RUN = 3.0, 12.0
#: Columns of a history that are no curves.
ABOUT = ["step", "epoch", "images", "fraction", "labels"]
ABOUT += ["data_set", "start", "method", "replicate"]


def fitting(folder: Path, images: int, size: int, replicates: int) -> dict[str, Any]:
    """The group of ``real_images`` for so many pictures: four steps an epoch at least."""
    train = max(1, round(images * (1 - TEST_SHARE)))
    batch = 64
    while batch > 4 and train < 4 * batch:
        batch //= 2
    small = images < 1000
    first = {"epochs": 30 if small else 50, "warmup": 2, "batch_size": batch}
    second = {"steps": 200 if small else 500, "warmup": 20 if small else 30, "batch_size": batch}
    return {
        "data": {"kind": "folder", "path": str(folder), "size": size},
        "replicates": replicates,
        "label_fractions": [1.0, 0.5 if small else 0.1],
        "pretraining": {"training": first},
        "finetuning": {"training": second},
    }


def write_config(options: argparse.Namespace, changes: Mapping[str, Any], root: Path) -> Path:
    """Say what is going to be done on a folder of pictures, and write the config of it."""
    folder = Path(options.folder)
    seen = _look(folder)
    name = options.name or re.sub(r"[^A-Za-z0-9_-]+", "-", folder.resolve().name).strip("-_")
    name = name[:56] or "own"
    if name in SCALES:  # the name of another run's results
        name += "-own"
    count = sum(one.pictures for one in seen)
    group = fitting(folder, count, options.size, options.replicates)
    # of no paper: the plan reads only what these pictures need
    config = merge({"run": name, "papers": [], "real_images": {name: group}}, changes)
    # what is refused leaves no file behind
    try:
        settings = load(config, root)["real_images"][name]
    except ConfigError as error:
        if not changes or "unknown key" not in str(error):
            raise
        raise ConfigError(
            f"{error}\n  Keys of these pictures begin with their name, as in "
            f"--set real_images.{name}.replicates=2; docs/configuration.md lists them."
        ) from error
    file = Path(f"{name}.yaml")
    text = yaml.safe_dump(config, sort_keys=False, allow_unicode=True)
    if file.exists() and file.read_bytes() != text.encode():
        raise FeatlearnError(
            f"{file}: is there already and says something else. Run it (featlearn run real_images "
            f"--configfile {file}), or give this run another --name."
        )
    file.write_text(text, encoding="utf-8")
    print(f"Config: {file}", flush=True)
    _announce(settings, seen, options)
    return file


def conclude(config: Path, tensorboard: bool) -> None:
    """Say where the results of a config lie, and show the table of accuracies."""
    run = read_yaml(config)["run"]
    made = Path("results") / run / "own_images"
    print((made / "tables" / "accuracy.md").read_text(encoding="utf-8"))
    if tensorboard:
        logs = made.parent / "tensorboard"
        write_curves(made, logs)
        print(f"Curves: tensorboard --logdir {logs}")
    print(f"Networks: {made}/weights/{config.stem}/\nReport: {made}/report.html")


def _look(folder: Path) -> list[Seen]:
    """What lies in the folder; one without pictures of two classes is refused."""
    if not folder.is_dir():
        what = "a file" if folder.exists() else "no such folder"
        raise FeatlearnError(f"{folder}: {what}; expected a folder with a folder a class in it")
    try:
        str(folder).encode()
    except UnicodeEncodeError as error:
        raise FeatlearnError(f"{shown(folder)}: its name is not UTF-8; rename it") from error
    seen = look({"kind": "folder", "path": str(folder), "shares": {"test": TEST_SHARE}})
    first = seen[0]
    place = folder if first.part == "all" else folder / first.part
    classes = [name for name, pictures in first.classes.items() if pictures]
    if len(classes) < 2:
        files = [one.name.lower() for one in place.iterdir() if one.is_file()]
        loose = sum(name.endswith(EXTENSIONS) for name in files)
        raise FeatlearnError(f"{shown(place)}: class folders with pictures: {some(classes) or 'none'}"
                             + f", and {loose} pictures outside of any" * (loose > 0)
                             + "; expected two or more, one a class, as in "
                             f"{shown(place)}/daisy/1.jpg and {shown(place)}/rose/1.jpg")  # fmt: skip
    if (count := sum(one.pictures for one in seen)) < 4:
        raise FeatlearnError(
            f"{folder}: {count} pictures; expected at least two of each class, in a folder a class"
        )
    return seen


def _announce(
    settings: Mapping[str, Any], seen: Sequence[Seen], options: argparse.Namespace
) -> None:
    """What is going to be done, how long that takes, and how much so few images can say."""
    count, times = sum(one.pictures for one in seen), settings["replicates"]
    if len(seen) > 1:  # parts of its own
        train, test = (one.pictures for one in seen)
        print(f"{train} pictures to train on, {test} for the test, in the set's own folders.")
    else:
        train = max(1, round(count * (1 - settings["data"]["shares"]["test"])))
        test = count - train
        print(f"{count} pictures, about {test} of them kept for the test.")
    classes = [f"{name} ({number})" for name, number in seen[0].classes.items()]
    print(f"{len(classes)} classes: {some(classes)}.")
    if options.dry_run:
        from featlearn.core.run.progress import clock

        first, second = steps_of(settings, train)
        cores = int(options.cores) if options.cores.isdigit() else 1
        print(f"{times} replicates, each {first} steps of pre-training and, with and without it, "
              f"{second} steps of training with labels. Timed here and now: about "
              f"{clock(estimate(settings, train, cores))} on {cores} cores.")  # fmt: skip
    for hint in hints(seen):
        print(f"Warning: {hint}")
    if test < FEW:
        print(f"Warning: {test} test images say little. One more right or wrong moves an accuracy by "
              f"{100 / max(test, 1):.0f} points; in the report each stands with its interval.")  # fmt: skip


def steps_of(settings: Mapping[str, Any], train: int) -> tuple[int, int]:
    """Steps of one pre-training, and of all trainings with labels of one start."""
    tuning = Training.of(settings["finetuning"]["training"])
    counts = [max(1, round(share * train)) for share in settings["label_fractions"]]
    first = Plan(Training.of(settings["pretraining"]["training"]), train).steps
    return first, sum(Plan(tuning, count).steps for count in counts)


def estimate(settings: Mapping[str, Any], train: int, cores: int) -> float:
    """Seconds of a run with ``train`` images: a few steps of each training are timed now."""
    from featlearn.core.seeds import seeded
    from featlearn.images.augment import Augment
    from featlearn.images.encoders import build_encoder
    from featlearn.images.methods import build_method
    from featlearn.images.train.classifier import Classifier

    side = settings["data"]["size"]
    size = settings["augmentation"].get("size") or side
    augment = Augment(dict(settings["augmentation"]))
    pretraining, finetuning = settings["pretraining"], settings["finetuning"]
    with seeded("duration"):
        method = build_method(pretraining["objective"], build_encoder(settings["encoder"], size))
        encoder = build_encoder(settings["encoder"], size)
        classifier = Classifier(encoder, 2, **finetuning["objective"])
    first, second = steps_of(settings, train)
    kinds = starts(settings)
    trained, replicates = PRETRAINED in kinds, settings["replicates"]
    one = first * _seconds(method, pretraining["training"], augment, side, labelled=False)
    other = second * _seconds(classifier, finetuning["training"], augment, side, labelled=True)
    jobs = replicates * (len(kinds) + trained) + 6
    work = replicates * (one * trained + len(kinds) * other)
    return A_RUN + (work + jobs * A_JOB) / max(1, cores)


def _seconds(
    objective: Objective, training: Mapping[str, Any], augment: Augment, side: int, *,
    labelled: bool,
) -> float:  # fmt: skip
    import torch

    from featlearn.images.train.loop import fit

    batch = training["batch_size"]
    images = torch.zeros(batch, 3, side, side, dtype=torch.uint8)
    labels = torch.arange(batch) % 2 if labelled else None
    length = ("epochs", "steps", "warmup", "checkpoint_every")
    short = {key: value for key, value in training.items() if key not in length}
    times: list[float] = []
    fit(objective, images, labels, augment, short | {"steps": 1 + TIMED, "warmup": 0},
        ("duration",), report=lambda *_: times.append(time.perf_counter()))  # fmt: skip
    return (times[-1] - times[0]) / (len(times) - 1)


def write_curves(made: Path, logs: Path) -> list[str]:
    """Write curves of every training below ``made`` to ``logs``, for TensorBoard; their names."""
    from featlearn.core.files import read_parquet

    try:
        from torch.utils.tensorboard import SummaryWriter
    except ImportError as error:
        lacks = "TensorBoard is not installed: pip install 'featlearn[tensorboard]'"
        raise FeatlearnError(lacks) from error
    files = [file for kind in ("pretraining", "finetuning")
             for file in sorted(made.glob(f"measurements/*/{kind}-*.parquet"))]  # fmt: skip
    if not files:
        raise FeatlearnError(f"{made}: no histories of trainings; expected a run that ended well")
    if logs.exists():  # one that stays would give every curve twice
        shutil.rmtree(logs)
    names = []
    for file in files:
        history = read_parquet(file)
        parts = history.groupby("labels", sort=False) if "labels" in history else [("", history)]
        for labels, rows in parts:
            names.append(f"{file.parent.name}/{file.stem}" + f"-{labels}-labels" * bool(labels))
            with SummaryWriter(str(logs / names[-1])) as writer:
                for column in rows.columns.difference(ABOUT, sort=False):
                    for step, value in zip(rows["step"], rows[column], strict=True):
                        writer.add_scalar(column, float(value), int(step))
    return names
