"""Where pre-training helps on pictures, and where there is nothing to gain or nothing to predict.

Dials are looked at on validation replicates, whose streams have another name than those reported.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

import pandas as pd

from featlearn.core.config import merge
from featlearn.mrp.images.cams import erasures, measured
from featlearn.mrp.images.downstream import fine_tuned, long
from featlearn.mrp.images.experiment import PictureExperiment

if TYPE_CHECKING:
    from featlearn.core.job import Job
    from featlearn.core.outputs import Results

#: Name of the streams of all validation replicates.
VALIDATION = "images-validation"

#: What is counted about the maps; see :func:`featlearn.mrp.images.cams.measured`.
PART_USE = ("hits", "entropy", "flipped", "matched")

SUPERVISED, PRETRAINED = "supervised", "SimMIM, fine-tuned"


def turned(dial: str, position: float) -> dict[str, Any]:
    """What a dial at ``position`` changes in the ``images`` section.

    ``mask_size``: side of a mask cell in pixels. ``second_contrast``: of the second part of each
    class, against the first. ``epochs``: length of the pre-training. All others are dials of the
    world by their names.
    """
    if dial == "mask_size":
        objective = {"simmim": {"mask_size": int(position)}}
        return {"pretraining": {"simmim": {"objective": objective}}}
    if dial == "epochs":
        return {"pretraining": {"simmim": {"training": {"epochs": int(position)}}}}
    if dial == "second_contrast":
        return {"world": {"part_contrasts": [1.0, position]}}
    return {"world": {dial: int(position) if dial == "classes" else position}}


def cell(
    config: Mapping[str, Any],
    change: Mapping[str, Any],
    seed: int,
    replicate: int,
    device: Any,
    tell: Callable[[str], None] = lambda _: None,
) -> pd.DataFrame:
    """Both ways to train at one setting of the dials, by number of labels.

    ``config`` is the ``images`` section, ``change`` what this cell changes in it. Columns method,
    labels, quantity (accuracies, and :data:`PART_USE` on multi-view pictures), value, replicate.
    """
    config = merge(config, change)
    experiment = PictureExperiment(VALIDATION, config, seed, replicate, device)
    settings = config["pretraining"]["simmim"]
    tell("pre-training")
    pretrained, _ = experiment.pretrain("simmim", settings)
    starts = {SUPERVISED: None, PRETRAINED: pretrained.state_dict()}
    pictures = experiment.test[0].subset(slice(config["phase_diagram"]["map_pictures"]))
    erased = erasures("multi_view", pictures)
    frames = []
    for count in config["phase_diagram"]["labels"]:
        for method, weights in starts.items():
            tell(f"{method}, {count} labels")
            encoder = experiment.encoder(settings["encoder"], weights)
            finetuning = config["comparison"]["finetuning"]
            values, classifier = fine_tuned(experiment, encoder, count, finetuning)
            used = measured(experiment, classifier, [erased])[0].set_index("quantity")["value"]
            values |= {name: float(used[name]) for name in PART_USE if name in used}
            frames.append(long(values, method=method, labels=count))
    return pd.concat(frames, ignore_index=True).assign(replicate=replicate)


def dial(job: Job) -> Results:
    """Train both ways at every position of one dial, on a validation replicate."""
    name, replicate = job.wildcards.dial, int(job.wildcards.replicate)
    frames = []
    for position in job.config["phase_diagram"]["dials"][name]:
        job.tell(f"{name} at {position}")
        change = turned(name, position)
        found = cell(job.config, change, job.seed, replicate, job.device, job.tell)
        frames.append(found.assign(dial=name, position=float(position)))
    return {"gains": pd.concat(frames, ignore_index=True)}
