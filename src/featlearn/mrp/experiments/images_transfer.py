"""What an encoder brings to new classes that share parts with the old ones, and to detection."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

import pandas as pd

from featlearn.images.detection import pack_targets
from featlearn.images.encoders import Encoder
from featlearn.images.replicate import Weights
from featlearn.images.scenes import Scenes
from featlearn.mrp.images.detection import precision
from featlearn.mrp.images.downstream import encoder_of, tested
from featlearn.mrp.images.experiment import PictureExperiment, balanced, experiment_of

if TYPE_CHECKING:
    from featlearn.core.job import Job
    from featlearn.core.outputs import Results


#: What an encoder was trained on before, in the words of tables and figures: its weights.
Starts = Mapping[str, Weights | None]


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
    experiment: PictureExperiment,
    before: Starts,
    config: Mapping[str, Any],
    tell: Callable[[str], None] = lambda _: None,
) -> pd.DataFrame:
    """Accuracies on new classes, by what the encoder was trained on before.

    Parameters
    ----------
    before
        Weights of the encoder by the name of its training, None for its random start.
    config
        The ``images`` section; ``transfer`` gives the sets of new classes and their labels.

    Returns
    -------
    DataFrame
        Columns classes (which new ones), method, quantity, value, replicate.
    """
    count, frames = config["transfer"]["new_labels"], []
    for classes in config["transfer"]["classes"]:
        world = experiment.other_world(class_parts=classes)
        drawn = world.sample(4 * count, (*experiment.name, "transfer", classes))
        labelled, fresh = balanced(drawn).subset(slice(count)), experiment.tests_of(world)

        def adapted(encoder: Encoder) -> dict[str, float]:
            classifier, _ = experiment.classifier(
                encoder,
                labelled,  # noqa: B023, as it is called before the next turn
                config["comparison"]["finetuning"],
                ("transfer", classes),  # noqa: B023
            )
            return tested(experiment, classifier, fresh)  # noqa: B023

        frames.append(_each(experiment, before, config, adapted, tell).assign(classes=classes))
    return pd.concat(frames, ignore_index=True)


def detected(
    experiment: PictureExperiment,
    before: Starts,
    config: Mapping[str, Any],
    tell: Callable[[str], None] = lambda _: None,
) -> pd.DataFrame:
    """Average precision by what the encoder was trained on before.

    Parameters
    ----------
    before
        As for :func:`transferred`; the encoders saw single objects.
    config
        The ``images`` section; ``detection`` gives scenes, their numbers, detector and training.

    Returns
    -------
    DataFrame
        Columns method, quantity (``ap``, ``ap50``, ``ap75``), value, replicate.
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

    def found(encoder: Encoder) -> dict[str, float]:
        return precision(
            encoder,
            train,
            test,
            experiment.world.dials.classes,
            settings,
            experiment.plain,
            experiment.name,
            experiment.device,
        )

    return _each(experiment, before, config, found, tell)


def _each(
    experiment: PictureExperiment,
    before: Starts,
    config: Mapping[str, Any],
    adapt: Callable[[Encoder], Mapping[str, float]],
    tell: Callable[[str], None],
) -> pd.DataFrame:
    """What ``adapt`` gives of every start: columns method, quantity, value, replicate."""
    kind, rows = config["pretraining"]["simmim"]["encoder"], []
    for method, weights in before.items():
        tell(method)
        found = adapt(experiment.encoder(kind, weights))
        rows += [(method, name, value, experiment.replicate) for name, value in found.items()]
    return pd.DataFrame(rows, columns=["method", "quantity", "value", "replicate"])


def transfer(job: Job) -> Results:
    """Fine-tune encoders of the old classes to new ones that share parts."""
    return {"accuracies": transferred(experiment_of(job), starts(job), job.config, job.tell)}


def detection(job: Job) -> Results:
    """Train detectors on encoders of different origin."""
    return {"precisions": detected(experiment_of(job), starts(job), job.config, job.tell)}
