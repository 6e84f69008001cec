"""Labels on top of kernels: fine-tune, train from scratch, and measure on fresh samples."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

from featlearn.core.heads import PENALTIES, Chosen, choose
from featlearn.mrp.data import Samples
from featlearn.mrp.experiment import Experiment
from featlearn.mrp.gradients import encode_in_blocks
from featlearn.mrp.measure import (
    EvaluationRow,
    Prediction,
    predict,
    prediction_rows,
    replicate_rows,
)
from featlearn.mrp.model import Activation, fixed_block_head
from featlearn.mrp.train import Classifier, Report, silent, train_classifier

#: Relative distance of a head to its optimum; see :mod:`featlearn.core.heads`.
HEAD_TOLERANCE = 1e-8

#: What a head is put on: (R, N, width) of samples.
Encode = Callable[[Samples], Tensor]


def raw(samples: Samples) -> Tensor:
    """What a linear classifier sees of the input: the sum of the patches (R, N, d)."""
    return samples.x.sum(2)


def new_heads(encode: Encode, train: Samples, validation: Samples, classes: int) -> Chosen:
    """Converged linear heads on what ``encode`` makes of the samples, one a replicate."""
    training, chosen_on = ((encode(one), one.y) for one in (train, validation))
    return choose(training, chosen_on, classes, PENALTIES[::2], tolerance=HEAD_TOLERANCE)


@dataclass(frozen=True)
class Task:
    """Labelled samples to train on, to choose penalties on and, of both kinds, to test on."""

    train: Samples
    validation: Samples
    multi_view: Samples
    single_view: Samples
    features: Tensor
    activation: Activation

    @classmethod
    def of(cls, experiment: Experiment) -> Task:
        """The task of an experiment: the training set that pre-training saw, now with labels."""
        return cls(
            experiment.train_samples(),
            experiment.validation_samples(),
            experiment.test_samples(single_view=False),
            experiment.test_samples(single_view=True),
            experiment.features,
            experiment.activation,
        )

    @property
    def classes(self) -> int:
        return self.features.shape[1]

    def finetune(
        self, w: Tensor, options: Mapping[str, Any], report: Report = silent
    ) -> Classifier:
        """A new linear head from zero and the encoder ``w`` (R, K, d), trained together."""
        head = w.new_zeros((w.shape[0], self.classes, w.shape[1]))
        return self._train(w, head, options["encoder_rate"], options["head_rate"], options, report)

    def supervise(
        self,
        w: Tensor,
        options: Mapping[str, Any],
        report: Report = silent,
        *,
        head_too: bool = False,
    ) -> Classifier:
        """The network of Lemma 1, kernels trained from their start ``w`` under fixed blocks.

        With ``head_too`` the head starts at the blocks and is trained as well, at the same rate.
        (From zero it would not leave the start: neither has a gradient without the other.)
        """
        head = fixed_block_head(self.classes, w.shape[1], w.shape[0]).to(w.device)
        rate = options["learning_rate"]
        return self._train(w, head, rate, rate if head_too else 0.0, options, report)

    def _train(
        self,
        w: Tensor,
        u: Tensor,
        encoder_rate: float,
        head_rate: float,
        options: Mapping[str, Any],
        report: Report,
    ) -> Classifier:
        return train_classifier(
            self.train.x,
            self.train.y,
            w,
            u,
            self.activation,
            encoder_rate=encoder_rate,
            head_rate=head_rate,
            steps=options["steps"],
            record_every=options["record_every"],
            features=self.features,
            report=report,
        )

    def kernels(self, w: Tensor) -> Encode:
        """The encoder with kernels ``w`` (R, K, d)."""
        return lambda samples: encode_in_blocks(samples.x, w, self.activation)

    def rows(self, model: str, w: Tensor, u: Tensor) -> Iterator[EvaluationRow]:
        """Accuracies and margins of a network as it was trained, on training and fresh samples."""
        right = predict(self.train, w, u, self.activation).accuracy()
        yield from replicate_rows(model, {"train_accuracy": right})
        yield from self._fresh(model, lambda one: predict(one, w, u, self.activation))

    def head_rows(self, model: str, encode: Encode) -> Iterator[EvaluationRow]:
        """The same of a new head, trained to its optimum, with how that went."""
        found = new_heads(encode, self.train, self.validation, self.classes)
        yield from replicate_rows(
            model,
            {
                "train_accuracy": found.train_accuracy,
                "validation_accuracy": found.validation_accuracy,
                "penalty": found.heads.penalty,
                "gradient": found.heads.gradient,
            },
        )
        yield from self._fresh(
            model, lambda one: Prediction(found.heads.scores(encode(one)), one.y, one.strong)
        )

    def majority_rows(self) -> Iterator[EvaluationRow]:
        """Always the class that is most frequent among the training labels."""
        counts = torch.nn.functional.one_hot(self.train.y, self.classes).sum(1).double()
        yield from replicate_rows("majority", {"train_accuracy": counts.amax(1) / counts.sum(1)})
        yield from self._fresh(
            "majority",
            lambda one: Prediction(counts[:, None].expand(*one.y.shape, -1), one.y, one.strong),
        )

    def _fresh(
        self, model: str, predicted: Callable[[Samples], Prediction]
    ) -> Iterator[EvaluationRow]:
        tests = {"multi_view": self.multi_view, "single_view": self.single_view}
        return prediction_rows(model, {kind: predicted(one) for kind, one in tests.items()})
