"""Labels on top of kernels: fine-tune, and train from scratch."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from torch import Tensor

from featlearn.mrp.data import Samples
from featlearn.mrp.experiment import Experiment
from featlearn.mrp.model import Activation, fixed_block_head
from featlearn.mrp.train import Classifier, Report, silent, train_classifier

if TYPE_CHECKING:
    from featlearn.mrp.sweep import Batch


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
    def of(cls, experiment: Experiment | Batch) -> Task:
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
