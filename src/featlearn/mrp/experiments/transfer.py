"""Transfer: downstream classes made of features that pre-training saw, or did not (section 2.4).

Features are those of pre-training in another mixture (case 1), some of them or more (2), or overlap
with them (3). All are a choice of classes from a pool: the ``k`` old ones, then new ones whose
features are orthonormal to theirs and to each other.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

import pandas as pd
import torch
from torch import Tensor

from featlearn.core.run.progress import Progress
from featlearn.core.seeds import Streams
from featlearn.mrp.data import Problem
from featlearn.mrp.measure import encoder, joined, new_heads, predicted, rows, share
from featlearn.mrp.model import class_scores
from featlearn.mrp.train import Report, finetune, pretrain, supervise

if TYPE_CHECKING:
    from featlearn.core.run.job import Job
    from featlearn.core.run.outputs import Results


def transfer(job: Job) -> Results:
    """Use the pre-trained encoder on other classes: frozen, fine-tuned, or pre-trained again."""
    clean, options = job.config["clean"], job.config["transfer"]
    pretrained = job.tensors("pretrained")["w"]
    cases = {name: Case(**case) for name, case in options["cases"].items()}
    pool = extend_features(
        Problem("clean", clean, job.seed, job.device).features,
        max(case.new_classes for case in cases.values()),
        Streams(job.seed, "mrp", "transfer", range(clean["replicates"]))("new-features"),
    )
    frames = []
    for name, case in cases.items():
        # a case has streams of its own: another one more or less does not move its numbers
        problem = Problem(
            f"transfer-{name}", case.section(clean, options["samples"]), job.seed, job.device,
            features=case.features(pool, clean["data"]["classes"]),
        )  # fmt: skip
        theta = clean["pretraining"]["theta"]
        for outcome in all_recipes(case, problem, pretrained, theta, options, f"{job.rule} {name}"):
            frames.append(measured(case, problem, outcome).assign(case=name))
    columns = ["case", "recipe", "encoder_rate", "classes", "replicate", "quantity", "value"]
    return {"accuracy": joined(*frames)[columns]}


def extend_features(
    features: Tensor, new_classes: int, streams: Sequence[torch.Generator]
) -> Tensor:
    """Put new classes behind the old ones.

    ``features`` (R, k, L, d): the old, orthonormal ones. ``streams``: one generator a replicate.
    Returns a Tensor ``(R, k + new_classes, L, d)``: the old ones unchanged, then Gaussian vectors
    made orthogonal to what is there. Raises ValueError if the patches have too few dimensions.
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


@dataclass(frozen=True)
class Case:
    """Whole classes, the first old; ``single_view_share`` of labelled samples: the paper's mu."""

    old_classes: int
    new_classes: int
    single_view_share: float

    @property
    def classes(self) -> int:
        """``k'``."""
        return self.old_classes + self.new_classes

    def features(self, pool: Tensor, pretrained_classes: int) -> Tensor:
        """(R, k', L, d): its features, where the pool begins with the pre-trained classes."""
        new = range(pretrained_classes, pretrained_classes + self.new_classes)
        return pool[:, [*range(self.old_classes), *new]]

    def section(self, clean: Mapping[str, Any], samples: Mapping[str, int]) -> dict[str, Any]:
        """The clean data's section, with ``s / k`` and the spare patches kept."""
        data = clean["data"]
        room = data["features_per_class"] * data["patches_per_feature"]
        changed = {
            "classes": self.classes,
            "patches": data["patches"] + (self.classes - data["classes"]) * room,
            "sparsity": data["sparsity"] * self.classes / data["classes"],
            "single_view_share": self.single_view_share,
        }
        return {**clean, "data": {**data, **changed, **samples}}


class Outcome(NamedTuple):
    """What a recipe made: kernels (R, K, d), and a head (R, k', K) or None for a converged one."""

    recipe: str
    encoder_rate: float
    w: Tensor
    u: Tensor | None = None


def all_recipes(
    case: Case,
    problem: Problem,
    pretrained: Tensor,
    theta: float,
    options: Mapping[str, Any],
    label: str,
) -> Iterator[Outcome]:
    """The encoder as it is, fine-tuned at each rate, pre-trained further; random; and from scratch.

    ``pretrained`` (R, K, d). ``theta``: probability that a patch is kept where pre-training
    continues. ``options``: ``transfer`` of the config. ``label``: of the progress lines.
    """
    tuning, scratch = options["finetuning"], options["supervised"]

    def report(recipe: str, steps: int) -> Report:
        return Progress(f"{label} {recipe}", steps).report

    yield Outcome("probe", 0.0, pretrained)
    for rate in tuning["encoder_rates"]:
        done = finetune(
            problem, pretrained, encoder_rate=rate, report=report("finetuned", tuning["steps"]),
            head_rate=tuning["head_rate_per_class"] * case.classes, steps=tuning["steps"],
        )  # fmt: skip
        yield Outcome("finetuned", rate, done.w)
    if case.new_classes:
        # mask reconstruction on the downstream samples, without their labels: not in the paper
        continued = pretrain(
            problem.train.x, problem.features, pretrained, problem.activation, theta=theta,
            **options["continued"], report=report("continued", options["continued"]["max_steps"]),
        )  # fmt: skip
        yield Outcome("continued", 0.0, continued.w)
    start = problem.kernels()
    yield Outcome("random", 0.0, start)
    rate = scratch["learning_rate"]
    done = supervise(problem, start, **scratch, report=report("supervised", scratch["steps"]))
    yield Outcome("supervised", rate, done.w, done.u)
    yield Outcome("supervised_head", rate, done.w)


def measured(case: Case, problem: Problem, outcome: Outcome) -> pd.DataFrame:
    """Accuracies of one classifier; ``classes`` is all, old or new."""
    old, w, u = case.old_classes, outcome.w, outcome.u
    encoded = encoder(w, problem.activation)
    score: Callable[[Tensor], Tensor]
    if u is None:
        score = new_heads(encoded, problem.train, problem.validation, case.classes).heads.scores
    else:
        score = partial(class_scores, u=u)
    predictions = predicted(problem.tests, lambda one: score(encoded(one)))
    groups = {"all": slice(None), "old": slice(0, old)}
    if case.new_classes:
        groups["new"] = slice(old, None)
    frames = []
    for classes, part in groups.items():
        member = torch.zeros(case.classes, dtype=torch.bool, device=w.device)
        member[part] = True
        quantities = {f"accuracy_{kind}": share(one.right(), member[one.y])
                      for kind, one in predictions.items()}  # fmt: skip
        labels = {"recipe": outcome.recipe, "encoder_rate": float(outcome.encoder_rate)}
        frames.append(rows(quantities, **labels, classes=classes))
    return joined(*frames)
