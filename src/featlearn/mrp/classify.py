"""Labels on top of kernels: fine-tune, train from scratch, and measure on fresh samples."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from torch import Tensor

from featlearn.mrp.data import Samples
from featlearn.mrp.experiment import Experiment
from featlearn.mrp.measure import EvaluationRow, predict, prediction_rows
from featlearn.mrp.model import Activation, fixed_block_head
from featlearn.mrp.train import Classifier, train_classifier


@dataclass(frozen=True)
class Task:
    """Labelled training samples, fresh test samples of both kinds, and the features they hold."""

    train: Samples
    multi_view: Samples
    single_view: Samples
    features: Tensor
    activation: Activation

    @classmethod
    def of(cls, experiment: Experiment) -> Task:
        """The task of an experiment: the training set that pre-training saw, now with labels."""
        return cls(
            experiment.train_samples(),
            experiment.test_samples(single_view=False),
            experiment.test_samples(single_view=True),
            experiment.features,
            experiment.activation,
        )

    def finetune(self, w: Tensor, options: Mapping[str, Any]) -> Classifier:
        """A new linear head from zero and the encoder ``w`` (R, K, d), trained together."""
        head = w.new_zeros((w.shape[0], self.features.shape[1], w.shape[1]))
        return self._train(w, head, options["encoder_rate"], options["head_rate"], options)

    def supervise(self, w: Tensor, options: Mapping[str, Any]) -> Classifier:
        """The network of Lemma 1: fixed blocks, kernels trained from their start ``w``."""
        head = fixed_block_head(self.features.shape[1], w.shape[1], w.shape[0])
        return self._train(w, head.to(w.device), options["learning_rate"], 0.0, options)

    def _train(
        self,
        w: Tensor,
        u: Tensor,
        encoder_rate: float,
        head_rate: float,
        options: Mapping[str, Any],
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
        )

    def rows(self, model: str, trained: Classifier) -> Iterator[EvaluationRow]:
        """Accuracies and margins of a classifier on both kinds of fresh samples."""
        seen = {
            "multi_view": predict(self.multi_view, trained.w, trained.u, self.activation),
            "single_view": predict(self.single_view, trained.w, trained.u, self.activation),
        }
        return prediction_rows(model, seen)
