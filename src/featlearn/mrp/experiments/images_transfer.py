"""What an encoder brings to new classes that share parts with the old ones, and to detection."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import partial
from typing import TYPE_CHECKING, Any

import pandas as pd

from featlearn.images.detection import pack_targets, precision
from featlearn.images.encoders import Encoder
from featlearn.images.train.replicate import Weights
from featlearn.images.worlds.scenes import Scenes
from featlearn.mrp.images.downstream import encoder_of, long, tested
from featlearn.mrp.images.experiment import PictureExperiment, balanced, experiment_of

if TYPE_CHECKING:
    from featlearn.core.run.job import Job
    from featlearn.core.run.outputs import Results

#: Weights by what an encoder was trained on before, in the words of figures; None: random start.
Starts = Mapping[str, Weights | None]
Tell = Callable[[str], None]
#: Gives fresh encoders at every start, with their names.
Encoders = Callable[[], Iterator[tuple[str, Encoder]]]


def starts(job: Job) -> Starts:
    """Encoders of the old classes: with all labels, without, and with both one after the other."""
    labels = job.params.supervised_labels
    return {
        "from scratch": None,
        "supervised": encoder_of(job.tensors("supervised"), labels),
        "SimMIM": job.tensors("pretrained"),
        "SimMIM, then labels": encoder_of(job.tensors("finetuned"), labels),
    }


def transferred(
    experiment: PictureExperiment, config: Mapping[str, Any], encoders: Encoders
) -> pd.DataFrame:
    """Accuracies on new classes, by what the encoder was trained on before.

    ``config``: the ``images`` section; ``transfer`` gives the sets of new classes and their labels.
    Returns a DataFrame: columns method, quantity, value, replicate, classes (which new ones).
    """
    count, frames = config["transfer"]["new_labels"], []
    for classes in config["transfer"]["classes"]:
        world = experiment.other_world(class_parts=classes)
        drawn = world.sample(4 * count, (*experiment.name, "transfer", classes))
        labelled, fresh = balanced(drawn).subset(slice(count)), experiment.tests_of(world)
        where = {"replicate": experiment.replicate, "classes": classes}
        for method, encoder in encoders():
            settings, stream = config["comparison"]["finetuning"], ("transfer", classes)
            classifier, _ = experiment.classifier(encoder, labelled, settings, stream)
            values = tested(experiment, classifier, fresh)
            frames.append(long(values, method=method).assign(**where))
    return pd.concat(frames, ignore_index=True)


def detected(
    experiment: PictureExperiment, config: Mapping[str, Any], encoders: Encoders
) -> pd.DataFrame:
    """Average precision in scenes: columns method, quantity (``ap``, ``ap50``, ``ap75``), value,
    replicate. The encoders saw single objects.
    """
    settings = config["detection"]
    scenes = Scenes(experiment.world, settings["scenes"])
    train, test = (
        (drawn.images, pack_targets(drawn.boxes, drawn.labels))
        for drawn in (
            scenes.sample(settings[f"{part}_scenes"], (*experiment.name, "scenes", part))
            for part in ("train", "test")
        )
    )
    classes = experiment.world.dials.classes
    options = (classes, settings, experiment.plain, experiment.name, experiment.device)
    frames = [
        long(precision(encoder, train, test, *options), method=method)
        for method, encoder in encoders()
    ]
    return pd.concat(frames, ignore_index=True).assign(replicate=experiment.replicate)


def started(
    experiment: PictureExperiment, config: Mapping[str, Any], before: Starts, tell: Tell
) -> Iterator[tuple[str, Encoder]]:
    """An encoder at every start, with its name."""
    for method, weights in before.items():
        tell(method)
        yield method, experiment.encoder(config["pretraining"]["simmim"]["encoder"], weights)


def _given(job: Job) -> tuple[PictureExperiment, Mapping[str, Any], Encoders]:
    experiment = experiment_of(job)
    return experiment, job.config, partial(started, experiment, job.config, starts(job), job.tell)


def transfer(job: Job) -> Results:
    """Fine-tune encoders of the old classes to new ones that share parts."""
    return {"accuracies": transferred(*_given(job))}


def detection(job: Job) -> Results:
    """Train detectors on encoders of different origin."""
    return {"precisions": detected(*_given(job))}
