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


def starts(pretrained: Weights, supervised: Weights) -> dict[str, Weights | None]:
    """What the encoder was trained on before, in the words of tables and figures."""
    return {"from scratch": None, "supervised": supervised, "SimMIM": pretrained}


def transferred(
    experiment: PictureExperiment,
    pretrained: Weights,
    supervised: Weights,
    config: Mapping[str, Any],
    tell: Callable[[str], None] = lambda _: None,
) -> pd.DataFrame:
    """Accuracies on new classes, by what the encoder was trained on before.

    Parameters
    ----------
    pretrained
        Weights of the encoder after SimMIM on the old classes' pictures, without labels.
    supervised
        The same after supervised training on all of them, with labels.
    config
        The ``images`` section; ``transfer`` gives the sets of new classes and their labels.

    Returns
    -------
    DataFrame
        Columns classes (which new ones), method, quantity, value, replicate.
    """
    settings, finetuning = config["transfer"], config["comparison"]["finetuning"]
    kind = config["pretraining"]["simmim"]["encoder"]
    frames = []
    for classes in settings["classes"]:
        for method, weights in starts(pretrained, supervised).items():
            tell(f"{method} to {classes} classes")
            values = _adapted(
                experiment, experiment.encoder(kind, weights), classes, settings, finetuning
            )
            long = {"quantity": list(values), "value": list(values.values())}
            frames.append(pd.DataFrame({"classes": classes, "method": method, **long}))
    return pd.concat(frames, ignore_index=True).assign(replicate=experiment.replicate)


def _adapted(
    experiment: PictureExperiment,
    encoder: Encoder,
    classes: str,
    settings: Mapping[str, Any],
    finetuning: Mapping[str, Any],
) -> dict[str, float]:
    """Accuracies after fine-tuning to new classes."""
    world = experiment.other_world(class_parts=classes)
    name = (*experiment.name, "transfer", classes)
    labelled = balanced(world.sample(4 * settings["new_labels"], name))
    classifier, _ = experiment.classifier(
        encoder,
        labelled.subset(slice(settings["new_labels"])),
        finetuning,
        ("transfer", classes),
    )
    return tested(experiment, classifier, experiment.tests_of(world))


def detected(
    experiment: PictureExperiment,
    pretrained: Weights,
    supervised: Weights,
    config: Mapping[str, Any],
    tell: Callable[[str], None] = lambda _: None,
) -> pd.DataFrame:
    """Average precision by what the encoder was trained on before.

    Parameters
    ----------
    pretrained, supervised
        Weights of the encoder after SimMIM, and after supervised training, on single objects.
    config
        The ``images`` section; ``detection`` gives scenes, their numbers, detector and training.

    Returns
    -------
    DataFrame
        Columns method, quantity (``ap``, ``ap50``, ``ap75``), value, replicate.
    """
    kind, settings = config["pretraining"]["simmim"]["encoder"], config["detection"]
    scenes = Scenes(experiment.world, settings["scenes"])
    train, test = (
        scenes.sample(settings[f"{part}_scenes"], (*experiment.name, "scenes", part))
        for part in ("train", "test")
    )
    rows = []
    for method, weights in starts(pretrained, supervised).items():
        tell(method)
        found = precision(
            experiment.encoder(kind, weights),
            (train.images, pack_targets(train.boxes, train.labels)),
            (test.images, pack_targets(test.boxes, test.labels)),
            experiment.world.dials.classes,
            settings,
            experiment.plain,
            experiment.name,
            experiment.device,
        )
        rows += [(method, name, value, experiment.replicate) for name, value in found.items()]
    return pd.DataFrame(rows, columns=["method", "quantity", "value", "replicate"])


def transfer(job: Job) -> Results:
    """Fine-tune encoders of the old classes to new ones that share parts."""
    found = transferred(experiment_of(job), *_trained(job), job.config, job.tell)
    return {"accuracies": found}


def detection(job: Job) -> Results:
    """Train detectors on encoders of different origin."""
    found = detected(experiment_of(job), *_trained(job), job.config, job.tell)
    return {"precisions": found}


def _trained(job: Job) -> tuple[Weights, Weights]:
    """The encoder after SimMIM, and after supervised training with the most labels."""
    supervised = encoder_of(job.tensors("supervised"), job.params.supervised_labels)
    return job.tensors("pretrained"), supervised
