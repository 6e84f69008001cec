"""The ways to get a classifier for a downstream task, side by side."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from torch import Tensor

from featlearn.core.seeds import Streams
from featlearn.mrp.model import Activation, fixed_block_head, initial_kernels
from featlearn.mrp.train import (
    MaskedAutoencoder,
    Report,
    pretrain,
    train_classifier,
)
from featlearn.mrp.transfer import Task

#: A recipe's name, its encoder rate, kernels, head, and whether a class owns its kernels.
Outcome = tuple[str, float, Tensor, Tensor, bool]


def all_recipes(
    task: Task,
    pretrained: Tensor,
    streams: Streams,
    activation: Activation,
    network: Mapping[str, Any],
    theta: float,
    options: Mapping[str, Any],
    report: Callable[[str, int], Report],
) -> Iterator[Outcome]:
    """Probe, fine-tune at each encoder rate, pre-train further first, and train from scratch.

    Parameters
    ----------
    pretrained : (R, K, d)
    streams
        For the kernels of the network from scratch.
    network, options
        ``headline.network`` and ``transfer`` of the config.
    theta
        Probability that a patch is kept where pre-training continues.
    report
        Gives the progress line of a recipe, from its name and number of steps.
    """
    device, classes = task.features.device, task.case.classes
    tuning = options["finetuning"]
    zero = pretrained.new_zeros((pretrained.shape[0], classes, pretrained.shape[1]))

    def classifier(
        recipe: str, w: Tensor, u: Tensor, encoder_rate: float, head_rate: float, steps: int
    ) -> Outcome:
        done = train_classifier(
            task.train.x,
            task.train.y,
            w,
            u,
            activation,
            encoder_rate=encoder_rate,
            head_rate=head_rate,
            steps=steps,
            features=task.features,
            report=report(recipe, steps),
        )
        return recipe, encoder_rate, done.w, done.u, head_rate == 0

    def tuned(recipe: str, w: Tensor, encoder_rate: float) -> Outcome:
        head_rate = tuning["head_rate_per_class"] * classes
        return classifier(recipe, w, zero, encoder_rate, head_rate, tuning["steps"])

    yield tuned("probe", pretrained, 0.0)
    for rate in tuning["encoder_rates"]:
        yield tuned("finetuned", pretrained, rate)
    if task.case.new_classes:
        # mask reconstruction on the downstream samples, without their labels: not in the paper
        continued = pretrain(
            task.train.x,
            task.features,
            pretrained,
            MaskedAutoencoder(activation, theta),
            varrho=activation.varrho,
            **options["continued"],
            report=report("continued", options["continued"]["max_steps"]),
        )
        yield tuned("continued", continued.w, min(tuning["encoder_rates"]))
    count = classes * network["kernels_per_class"]
    scratch = options["supervised"]
    yield classifier(
        "supervised",
        initial_kernels(
            count, pretrained.shape[2], network["sigma_0"], streams("initial-kernels")
        ).to(device),
        fixed_block_head(classes, count, pretrained.shape[0]).to(device),
        scratch["learning_rate"],
        0.0,
        scratch["steps"],
    )
