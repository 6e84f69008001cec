"""Commands that start the workflow: everything lands in the folder that they are called in."""

from __future__ import annotations

import argparse
import contextlib
import hashlib
import os
import re
import signal
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import yaml

from featlearn.core.config import load, merge
from featlearn.core.errors import ConfigError, FeatlearnError
from featlearn.images.look import Seen, hints, look, some
from featlearn.images.readers.common import shown
from featlearn.images.readers.folder import EXTENSIONS

PACKAGE = Path(__file__).resolve().parents[1]
#: Below so many test images an accuracy says little.
FEW = 100
#: Share of the images that is kept for the test, where the folder has no split of its own.
TEST_SHARE = 0.2
#: Names that the results of the workflow's own runs have.
SCALES = ("smoke", "tour", "desk", "paper", "gpu", "published")
#: Exit code of what Ctrl-C ended.
STOPPED = 130


def workflow() -> Path:
    """Folder of the workflow: inside of the package that is installed, or the clone."""
    installed = PACKAGE / "_workflow"
    root = installed if installed.is_dir() else PACKAGE.parents[1]
    if not (root / "Snakefile").is_file():
        raise FeatlearnError(
            f"{root}: holds no Snakefile; expected the repository, or an installed featlearn"
        )
    return root


def settings_of(pairs: Sequence[str]) -> dict[str, Any]:
    """``a.b=1`` as ``{"a": {"b": 1}}``, values read as YAML."""
    found: dict[str, Any] = {}
    for pair in pairs:
        key, sign, text = pair.partition("=")
        if not sign or not all(key.split(".")):
            raise ConfigError(f"--set {pair}: expected KEY=VALUE")
        try:
            value = yaml.safe_load(text)
        except (yaml.YAMLError, ValueError, RecursionError) as error:
            raise ConfigError(f"--set {key}: {text!r} is no value of YAML") from error
        for part in reversed(key.split(".")):
            value = {part: value}
        found = merge(found, value)
    return found


def snakemake(
    targets: Sequence[str],
    options: argparse.Namespace,
    files: Sequence[str],
    settings: Mapping[str, Any],
) -> int:
    """Run Snakemake in this folder. ``settings`` win over the config files ``files``."""
    root = workflow()
    given = list(files)
    if settings:
        text = yaml.safe_dump(dict(settings), allow_unicode=True)
        name = hashlib.sha256(text.encode()).hexdigest()[:12]
        own = Path(".snakemake") / f"featlearn-set-{name}.yaml"
        own.parent.mkdir(exist_ok=True)
        own.write_text(text, encoding="utf-8")
        given.append(str(own))
    command = [
        *(sys.executable, "-P", "-m", "snakemake", "--snakefile", str(root / "Snakefile")),
        *("--workflow-profile", str(root / "profiles" / "default")),
        *("--cores", options.cores),
        *(["--dry-run"] if options.dry_run else []),
        *targets,
        *options.rest,
        *(["--configfile", *given] if given else []),
    ]
    code = followed(command)
    return code if code in (0, STOPPED) else 1


def followed(command: Sequence[str]) -> int:
    """The exit code of a command that ends in its own way, whatever this process is told.

    A terminal tells both of Ctrl-C: the command keeps the state of its trainings and ends, and
    killing it meanwhile would take that from it. SIGTERM reaches this process alone: it is handed
    on. No module is imported from the working folder, which may be a stranger's.
    """
    process = subprocess.Popen(command, env=os.environ | {"PYTHONSAFEPATH": "1"})

    def hand_on(number: int, _: object) -> None:
        with contextlib.suppress(ProcessLookupError):
            process.send_signal(number)

    told = False
    before = signal.signal(signal.SIGTERM, hand_on)
    try:
        while True:
            try:
                code = process.wait()
                break
            except KeyboardInterrupt:
                told = True
    finally:
        signal.signal(signal.SIGTERM, before)
    return STOPPED if told and code else code


def run(options: argparse.Namespace) -> int:
    """What ``snakemake`` makes, here."""
    settings = settings_of(options.set)
    if options.scale:
        settings["scale"] = options.scale
    files = [options.configfile] if options.configfile else []
    if files and not Path(files[0]).is_file():
        raise FeatlearnError(f"{files[0]}: no such config file")
    code = snakemake(options.targets, options, files, settings)
    if code == 0 and not options.dry_run and not options.targets and not files:
        name = settings.get("run") or settings.get("scale", "tour")
        print(f"Open results/{name}/report.html")
    return code


# --------------------------------------------------------------------------- own pictures


def fitting(folder: Path, images: int, size: int, replicates: int) -> dict[str, Any]:
    """The group of ``real_images`` for a folder with so many pictures.

    An epoch has at least four steps, and the trainings are as long as a small set can use: a set
    of hundreds gets 200 steps of fine-tuning, one of thousands the workflow's own 500.
    """
    train = max(1, round(images * (1 - TEST_SHARE)))
    batch = 64
    while batch > 4 and train < 4 * batch:
        batch //= 2
    small = images < 1000
    return {
        "data": {"kind": "folder", "path": str(folder), "size": size},
        "replicates": replicates,
        "label_fractions": [1.0, 0.5] if small else [1.0, 0.1],
        "pretraining": {
            "training": {"epochs": 30 if small else 50, "warmup": 2, "batch_size": batch}
        },
        "finetuning": {
            "training": {
                "steps": 200 if small else 500,
                "warmup": 20 if small else 30,
                "batch_size": batch,
            }
        },
    }


def images(options: argparse.Namespace) -> int:
    """Everything on a folder of pictures, by a config that is written beside the results."""
    folder = Path(options.folder)
    if not folder.is_dir():
        what = "a file" if folder.exists() else "no such folder"
        raise FeatlearnError(f"{folder}: {what}; expected a folder with a folder a class in it")
    try:
        str(folder).encode()
    except UnicodeEncodeError as error:
        raise FeatlearnError(f"{shown(folder)}: its name is not UTF-8; rename it") from error
    found = look({"kind": "folder", "path": str(folder), "shares": {"test": TEST_SHARE}})
    _refuse_one_class(folder, found[0])
    count = sum(seen.pictures for seen in found)
    if count < 4:
        raise FeatlearnError(
            f"{folder}: {count} pictures; expected at least two of each class, in a folder a class"
        )
    name = options.name or re.sub(r"[^A-Za-z0-9_-]+", "-", folder.resolve().name).strip("-_")
    name = name[:56] or "own"
    if name in SCALES:  # the name of another run's results
        name += "-own"
    config = {
        "run": name,
        # the plan reads no more of the workflow than that
        "papers": ["mrp"],
        "real_images": {name: fitting(folder, count, options.size, options.replicates)},
    }
    config = merge(config, settings_of(options.set))
    # what is refused leaves no file behind
    try:
        settings = load(config, workflow())["real_images"][name]
    except ConfigError as error:
        if not options.set or "unknown key" not in str(error):
            raise
        raise ConfigError(
            f"{error}\n  Keys of these pictures begin with their name, as in "
            f"--set real_images.{name}.replicates=2; docs/your-own-images.md lists them."
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
    _tell(settings, found, options)
    if options.dry_run:  # how many jobs of which kind is enough
        options.rest = ["--quiet", "rules", *options.rest]
    code = snakemake(["real_images"], options, [str(file)], {})
    if code == 0 and not options.dry_run:
        made = Path("results") / config["run"] / "own"
        print((made / "tables" / "accuracy.md").read_text(encoding="utf-8"))
        if options.tensorboard:
            from featlearn.own.tensorboard import write

            logs = made.parent / "tensorboard"
            write(made, logs)
            print(f"Curves: tensorboard --logdir {logs}")
        print(f"Networks: {made}/weights/{name}/")
        print(f"Report: {made}/report.html")
    return code


def _refuse_one_class(folder: Path, seen: Seen) -> None:
    place = folder if seen.part == "all" else folder / seen.part
    classes = [name for name, pictures in seen.classes.items() if pictures]
    if len(classes) > 1:
        return
    loose = sum(one.name.lower().endswith(EXTENSIONS) for one in place.iterdir() if one.is_file())
    raise FeatlearnError(
        f"{shown(place)}: class folders with pictures: {some(classes) or 'none'}"
        + f", and {loose} pictures outside of any" * (loose > 0)
        + "; expected two or more, one a class, as in "
        f"{shown(place)}/daisy/1.jpg and {shown(place)}/rose/1.jpg"
    )


def _tell(settings: Mapping[str, Any], found: Sequence[Seen], options: argparse.Namespace) -> None:
    """What is going to be done, how long that takes, and how much so few images can say."""
    count, times = sum(seen.pictures for seen in found), settings["replicates"]
    if len(found) > 1:  # parts of its own
        train, test = (seen.pictures for seen in found)
        print(f"{train} pictures to train on, {test} for the test, in the set's own folders.")
    else:
        train = max(1, round(count * (1 - settings["data"]["shares"]["test"])))
        test = count - train
        print(f"{count} pictures, about {test} of them kept for the test.")
    classes = [f"{name} ({number})" for name, number in found[0].classes.items()]
    print(f"{len(classes)} classes: {some(classes)}.")
    if options.dry_run:
        from featlearn.core.progress import clock
        from featlearn.own.duration import estimate, steps_of

        first, second = steps_of(settings, train)
        cores = int(options.cores) if options.cores.isdigit() else 1
        print(
            f"{times} replicates, each {first} steps of pre-training and, with and without it, "
            f"{second} steps of training with labels. Timed here and now: about "
            f"{clock(estimate(settings, train, cores))} on {cores} cores."
        )
    for hint in hints(found):
        print(f"Warning: {hint}")
    if test < FEW:
        print(
            f"Warning: {test} test images say little. One more right or wrong moves an accuracy by "
            f"{100 / max(test, 1):.0f} points; in the report each stands with its interval."
        )


# --------------------------------------------------------------------------- two runs


def verify(options: argparse.Namespace) -> int:
    """See ``scripts/verify.py``."""
    here = ["--here"] if options.here else []
    return _script("verify.py", "--scale", options.scale, "--cores", options.cores, *here)


def compare(options: argparse.Namespace) -> int:
    """See ``scripts/compare.py``."""
    files = ["--files"] if options.files else []
    return _script("compare.py", options.first, options.second, *files)


def _script(name: str, *words: str) -> int:
    command = [sys.executable, str(workflow() / "scripts" / name), *words]
    return followed(command)
