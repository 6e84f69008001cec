"""What valid sections ``images`` and ``eigencam`` must also satisfy, beyond types and ranges.

Imports torch only where weights have names of a library, and only to say which file they are.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from featlearn.core.errors import ConfigError, FeatlearnError
from featlearn.core.run.checks import Checks, must
from featlearn.images.config import scene_faults, world_faults
from featlearn.images.config_data import augmentation_faults, find_weights
from featlearn.images.data.on_disk import is_file, listing_digest


def faults(images: Mapping[str, Any]) -> list[str]:
    """Values that contradict each other."""
    check = Checks("images", images)
    world = images["world"]
    check.faults += world_faults(world, "images.world")
    scenes = images["detection"]["scenes"]
    check.faults += scene_faults(scenes, "images.detection.scenes", world["parts_per_class"])
    for key in ("augmentation", "gain.augmentation"):
        check.faults += augmentation_faults(check.value(key), f"images.{key}")
    for name in images["pretraining"]:
        check.one_of(f"pretraining.{name}.encoder", "encoders")
    train, classes = images["samples"]["train"], world["classes"]
    wanted = f"from {2 * classes} (two a class) to {train}, the training pictures"
    for section in ("comparison", "gain"):
        labels = images[section]["labels"]
        for count in labels if isinstance(labels, list) else [labels]:
            check(f"{section}.labels", 2 * classes <= count <= train, wanted, count)
    return check.faults


def cam_faults(config: Mapping[str, Any]) -> list[str]:
    """The same of the section ``eigencam`` of the whole config."""
    check = Checks("eigencam", {**config["eigencam"], "images": config["images"]})
    check.most("pictures", "images.samples.test")
    check.most("shown.classes", "images.world.classes")
    named, known = config["eigencam"]["real"], config.get("real_images", {})
    right = len(named) in (0, 1, 3) and {*named} <= known.keys()
    check("real", right, f"none, one or three of {', '.join(known) or 'no data sets'}", named)
    return check.faults


def missing_files(photographs: Mapping[str, Any]) -> Iterator[str]:
    """Of the weights of the networks whose maps are drawn: which file is to be put where."""
    if photographs["folder"] is None:
        return
    folder = Path(photographs["weights_folder"])
    for number, model in enumerate(photographs["models"]):
        key, weights = f"eigencam.photographs.models.{number}.weights", str(model["weights"])
        if ":" not in weights:
            if not is_file(folder / weights):
                yield must(key, f"the name of a file in {folder}", weights)
            continue
        try:
            find_weights(weights, folder)
        except FeatlearnError as error:
            yield f"{key}: {error}"


def state(photographs: Mapping[str, Any]) -> str | None:
    """A digest of names, sizes and times of change of the photographs; None without a folder.

    Raises ConfigError if there is no such folder, or no image in it.
    """
    if photographs["folder"] is None:
        return None
    from featlearn.images.data.readers.folder import read_folder

    try:
        source = read_folder({"path": photographs["folder"]}, "all")
    except (FeatlearnError, OSError, ValueError) as error:  # a path may be none
        raise ConfigError(f"eigencam.photographs.folder: {error}") from error
    return listing_digest({"all": source}, {"path": photographs["folder"]})
