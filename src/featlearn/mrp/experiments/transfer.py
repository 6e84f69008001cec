"""Transfer: downstream classes made of features that pre-training saw, or did not (section 2.4).

The paper's cases, with V the features of pre-training and V' those of the downstream task: (1)
V' = V in another mixture, (2) one inside the other, (3) an overlap. All are a choice of classes
from a pool: the ``k`` old classes of pre-training, then new ones whose features are orthonormal to
theirs and to each other.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, NamedTuple

import pandas as pd
import torch
from torch import Tensor

from featlearn.core.progress import Progress
from featlearn.core.seeds import Streams
from featlearn.mrp.data import MultiView, Samples, sample
from featlearn.mrp.experiment import Experiment
from featlearn.mrp.heads import encoder, new_heads
from featlearn.mrp.measure import Prediction, capture, predict
from featlearn.mrp.model import Activation, fixed_block_head, initial_kernels
from featlearn.mrp.train import Classifier, MaskedAutoencoder, Report, pretrain, train_classifier

if TYPE_CHECKING:
    from featlearn.core.job import Job
    from featlearn.core.outputs import Results

#: Columns of ``transfer/accuracy.parquet``; ``classes`` is old, new or all.
TRANSFER_COLUMNS = (
    "case", "recipe", "encoder_rate", "classes", "replicate", "quantity", "value",
)  # fmt: skip


def transfer(job: Job) -> Results:
    """Use the pre-trained encoder on other classes: frozen, fine-tuned, pre-trained on; or anew."""
    clean, options = job.config["clean"], job.config["transfer"]
    experiment = Experiment("clean", clean, job.seed, job.device)
    pretrained = job.tensors("pretrained")["w"]
    replicates = range(clean["replicates"])
    cases = {name: Case(**case) for name, case in options["cases"].items()}
    pool = extend_features(
        experiment.features,
        max(case.new_classes for case in cases.values()),
        Streams(job.seed, "mrp", "transfer", replicates)("new-features"),
    )
    rows: list[TransferRow] = []
    for name, case in cases.items():
        # a case has streams of its own: another one more or less does not move its numbers
        streams = Streams(job.seed, "mrp", f"transfer-{name}", replicates)
        task = draw_task(case, experiment.spec, pool, streams, **options["samples"]).to(job.device)

        def report(recipe: str, steps: int, name: str = name) -> Report:
            return Progress(f"{job.rule} {name} {recipe}", steps).report

        for outcome in all_recipes(
            task,
            pretrained,
            streams,
            experiment.activation,
            clean["network"],
            clean["pretraining"]["theta"],
            options,
            report,
        ):
            rows += transfer_rows(name, outcome, task, experiment.activation)
    return {"accuracy": pd.DataFrame(rows, columns=TRANSFER_COLUMNS)}


# --------------------------------------------------------------------------- the tasks


def extend_features(
    features: Tensor, new_classes: int, streams: Sequence[torch.Generator]
) -> Tensor:
    """Put new classes behind the old ones.

    Parameters
    ----------
    features : (R, k, L, d)
        The old, orthonormal features.
    new_classes
        How many classes of L features each are added.
    streams
        One generator a replicate.

    Returns
    -------
    Tensor
        ``(R, k + new_classes, L, d)`` of the old dtype, all orthonormal: Gaussian vectors made
        orthogonal to what is there. The old ones come back unchanged.

    Raises
    ------
    ValueError
        If the patches have too few dimensions.
    """
    _, classes, views, dimension = features.shape
    if (classes + new_classes) * views > dimension:
        raise ValueError(
            f"new_classes: {new_classes}; {classes + new_classes} classes of {views} orthonormal "
            f"features do not fit into {dimension} dimensions"
        )
    pools = []
    for old, stream in zip(features, streams, strict=True):
        drawn = torch.randn((dimension, new_classes * views), generator=stream, dtype=torch.float64)
        basis = old.cpu().double().reshape(-1, dimension).T
        q, _ = torch.linalg.qr(torch.cat([basis, drawn], dim=1))
        fresh = q[:, classes * views :].T.reshape(new_classes, views, dimension)
        pools.append(torch.cat([old, fresh.to(old)]))
    return torch.stack(pools)


def choose_features(pool: Tensor, table: Sequence[Sequence[int]]) -> Tensor:
    """Give each downstream class its features from a pool.

    Parameters
    ----------
    pool : (R, c, L, d)
    table
        One row a downstream class: flat indices ``L * class + view`` into the pool. A class may
        mix the features of several.

    Returns
    -------
    Tensor
        (R, k', L', d).
    """
    flat = pool.flatten(1, 2)
    chosen = torch.as_tensor(table, device=pool.device)
    return flat[:, chosen]


@dataclass(frozen=True)
class Case:
    """A downstream task of whole classes: the first old ones, then new ones.

    Parameters
    ----------
    old_classes, new_classes
        How many; labels count the old ones first.
    single_view_share
        Of the labelled downstream samples (the paper's ``mu``).
    """

    old_classes: int
    new_classes: int
    single_view_share: float

    @property
    def classes(self) -> int:
        """Number of downstream classes, ``k'``."""
        return self.old_classes + self.new_classes

    def features(self, pool: Tensor, pretrained_classes: int) -> Tensor:
        """(R, k', L, d): its features, where the pool begins with the pre-trained classes."""
        views = pool.shape[2]
        new = range(pretrained_classes, pretrained_classes + self.new_classes)
        classes = [*range(self.old_classes), *new]
        return choose_features(pool, [[views * i + v for v in range(views)] for i in classes])

    def spec(self, pretraining: MultiView) -> MultiView:
        """The distribution: as in pre-training, with ``s / k`` and the spare patches kept."""
        room = pretraining.features_per_class * pretraining.patches_per_feature
        return replace(
            pretraining,
            classes=self.classes,
            patches=pretraining.patches + (self.classes - pretraining.classes) * room,
            sparsity=pretraining.sparsity * self.classes / pretraining.classes,
            single_view_share=self.single_view_share,
        )


@dataclass(frozen=True)
class Task:
    """A downstream task, drawn: its features (R, k', L, d) and four sets of samples."""

    case: Case
    features: Tensor
    train: Samples
    validation: Samples
    multi_view: Samples
    single_view: Samples

    def to(self, device: torch.device | str) -> Task:
        """The same task elsewhere."""
        sets = (self.train, self.validation, self.multi_view, self.single_view)
        return Task(self.case, self.features.to(device), *(part.to(device) for part in sets))


def draw_task(
    case: Case,
    pretraining: MultiView,
    pool: Tensor,
    streams: Streams,
    *,
    train_samples: int,
    test_samples: int,
) -> Task:
    """Draw the samples of a downstream task; ``pool`` from :func:`extend_features`."""
    features = case.features(pool, pretraining.classes).cpu()
    spec = case.spec(pretraining)
    return Task(
        case,
        features,
        sample(spec, features, train_samples, streams("train-data")),
        sample(spec, features, train_samples, streams("validation-data")),
        sample(spec, features, test_samples, streams("test-multi-view"), single_view=False),
        sample(spec, features, test_samples, streams("test-single-view"), single_view=True),
    )


# --------------------------------------------------------------------------- the recipes


class Outcome(NamedTuple):
    """What a recipe made: kernels (R, K, d), and a head (R, k', K) or None for a converged one."""

    recipe: str
    encoder_rate: float
    w: Tensor
    u: Tensor | None = None


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
    """The encoder as it is, fine-tuned at each rate, pre-trained further; random; and from scratch.

    Parameters
    ----------
    pretrained : (R, K, d)
    streams
        For the kernels of the network from scratch, which are the random ones.
    network, options
        ``clean.network`` and ``transfer`` of the config.
    theta
        Probability that a patch is kept where pre-training continues.
    report
        Gives the progress line of a recipe, from its name and number of steps.
    """
    device, classes = task.features.device, task.case.classes
    tuning, scratch = options["finetuning"], options["supervised"]

    def classifier(
        recipe: str, w: Tensor, u: Tensor, encoder_rate: float, head_rate: float, steps: int
    ) -> Classifier:
        return train_classifier(
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

    yield Outcome("probe", 0.0, pretrained)
    zero = pretrained.new_zeros((pretrained.shape[0], classes, pretrained.shape[1]))
    for rate in tuning["encoder_rates"]:
        head_rate = tuning["head_rate_per_class"] * classes
        done = classifier("finetuned", pretrained, zero, rate, head_rate, tuning["steps"])
        yield Outcome("finetuned", rate, done.w)
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
        yield Outcome("continued", 0.0, continued.w)
    count = classes * network["kernels_per_class"]
    start = initial_kernels(
        count, pretrained.shape[2], network["sigma_0"], streams("initial-kernels")
    ).to(device)
    yield Outcome("random", 0.0, start)
    blocks = fixed_block_head(classes, count, pretrained.shape[0]).to(device)
    rate = scratch["learning_rate"]
    done = classifier("supervised", start, blocks, rate, 0.0, scratch["steps"])
    yield Outcome("supervised", rate, done.w, done.u)
    yield Outcome("supervised_head", rate, done.w)


# --------------------------------------------------------------------------- what is measured

TransferRow = tuple[str, str, float, str, int, str, float]


def transfer_rows(
    name: str, outcome: Outcome, task: Task, activation: Activation
) -> Iterator[TransferRow]:
    """Accuracies and captured features of one classifier, old and new classes apart.

    ``blamed_on_new`` is the share of the single-view samples of old classes that are taken for a
    new class. Under the fixed blocks of a network as trained a class counts its own kernels only.
    """
    old, w, u = task.case.old_classes, outcome.w, outcome.u
    sets = {
        "train_accuracy": task.train,
        "accuracy_multi_view": task.multi_view,
        "accuracy_single_view": task.single_view,
    }
    if u is not None:
        seen = {key: predict(one, w, u, activation) for key, one in sets.items()}
    else:
        encoded = encoder(w, activation)
        heads = new_heads(encoded, task.train, task.validation, task.case.classes).heads
        seen = {
            key: Prediction(heads.scores(encoded(one)), one.y, one.strong)
            for key, one in sets.items()
        }
    held = capture(w, task.features, activation, by_class=u is not None)
    captured = held.captured().double()
    groups = {"all": slice(None), "old": slice(0, old)}
    if task.case.new_classes:
        groups["new"] = slice(old, None)
    for classes, part in groups.items():
        member = torch.zeros(task.case.classes, dtype=torch.bool, device=w.device)
        member[part] = True
        quantities = {key: _accuracy(found, member) for key, found in seen.items()}
        quantities["captured"] = captured[:, part].flatten(1).mean(1)
        if classes == "old" and task.case.new_classes:
            quantities["blamed_on_new"] = _blamed(seen["accuracy_single_view"], old)
        for quantity, values in quantities.items():
            for replicate, value in enumerate(values.tolist()):
                yield name, *outcome[:2], classes, replicate, quantity, value


def _accuracy(seen: Prediction, member: Tensor) -> Tensor:
    """(R,) accuracy on the samples of some classes, ``member`` (k',) bool."""
    chosen = member[seen.y]
    right = (seen.scores.argmax(-1) == seen.y) & chosen
    return right.double().sum(-1) / chosen.double().sum(-1)


def _blamed(seen: Prediction, old: int) -> Tensor:
    chosen = seen.y < old
    blamed = (seen.scores.argmax(-1) >= old) & chosen
    return blamed.double().sum(-1) / chosen.double().sum(-1)
