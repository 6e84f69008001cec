"""Transfer: encoders of one set of classes, fine-tuned to classes that share parts with them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import pandas as pd

from featlearn.images.encoders import Encoder
from featlearn.mrp.images.downstream import tested
from featlearn.mrp.images.experiment import PictureExperiment, Weights, balanced


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
