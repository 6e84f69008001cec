"""Students on pictures and injected inputs that a teacher labels (Figures 2.4, A.18 to A.21).

A student learns a mixture of which a share alpha is injected, all with the teacher's labels, and is
scored by these on new pictures and new injected inputs. Beside it learn, from the same start:
``alone``, from as many pictures as the mixture has inputs, with the teacher's labels; ``fewer``,
from the pictures that the mixture keeps; and ``direct``, from all pictures with their own labels,
scored by these. The thesis shows one of the first and the last; which, it does not say.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import pandas as pd
import torch
from torch import Tensor

from featlearn.core.errors import FeatlearnError
from featlearn.core.evidence.frames import rows
from featlearn.core.run.progress import Progress
from featlearn.core.seeds import Streams
from featlearn.emergence.data import alpha_mixture
from featlearn.emergence.pictures import Pictures, head_accuracies, of_job
from featlearn.emergence.teachers import (
    Network,
    Training,
    injected,
    labels_of,
    loss_and_accuracy,
    started,
    trained_teacher,
)

if TYPE_CHECKING:
    from featlearn.core.run.job import Job
    from featlearn.core.run.outputs import Results

Pair = tuple[Tensor, Tensor]
#: Accuracies (R,) by part and step.
History = dict[tuple[str, int], Tensor]


def measure(job: Job) -> Results:
    """Train students on injected inputs that a teacher labels: accuracies along the training."""
    config, name = job.config, job.wildcards["pictured"]
    pictures = of_job(job, "injected", f"emergence.injected.{name}.pictures")
    streams = Streams(job.seed, "emergence", "students", range(config["replicates"]))
    curves = job.frame("curves")
    size = int(curves.loc[curves["quantity"] == "chosen", "size"].iloc[0])
    others = None
    if config.get("others") is not None:
        key = f"emergence.injected.{name}.others"
        other = {**config, "pictures": config["others"]}
        others = alike(of_job(job, "injected-others", key, other), pictures, key)
    world = World(config, size, pictures, streams, others)
    cells = config["students"]["cells"]
    progress = Progress(job.rule, len(cells))
    told: list[dict[str, Any]] = []
    for number, (cell, settings) in enumerate(cells.items(), 1):
        for arm, part, step, values in _accuracies(settings, world):
            told += rows({"value": values}, pictures=name, cell=cell, arm=arm, part=part, step=step)
        progress.report(number, lambda: {})
    return {"values": pd.DataFrame(told)}


def alike(others: Pictures, pictures: Pictures, key: str) -> Pictures:
    """Pictures of another set, as many and of this shape. Raises ``FeatlearnError`` otherwise."""
    for part, own in pictures.x.items():
        result = others.x[part]
        if result.shape[2:] != own.shape[2:] or result.shape[1] < own.shape[1]:
            raise FeatlearnError(
                f"{key}: {result.shape[1]} pictures of {tuple(result.shape[2:])} for {part}; "
                f"expected {own.shape[1]} or more of {tuple(own.shape[2:])}"
            )
    x = {part: own[:, : pictures.x[part].shape[1]] for part, own in others.x.items()}
    return replace(others, x=x)


@dataclass
class World:
    """What the cells share: pictures, injected inputs, teachers, and students."""

    config: Mapping[str, Any]
    teacher_size: int
    pictures: Pictures
    streams: Streams
    others: Pictures | None = None
    kinds: dict[str, tuple[Mapping[str, Tensor], Network]] = field(default_factory=dict)
    shared: dict[tuple[int, str, str], History] = field(default_factory=dict)

    def kind(self, name: str) -> tuple[Mapping[str, Tensor], Network]:
        """Injected inputs of this kind by part, and the teacher that labels them."""
        if name not in self.kinds:
            x = self.pictures.x
            new: Mapping[str, Tensor]
            if name == "pictures":
                assert self.others is not None  # a fault of the config else
                new = self.others.x
            else:
                new = {
                    part: injected(name, x["train"], own.shape[1], self.streams(f"{name}-{part}"))
                    for part, own in x.items()
                }
            teacher = trained_teacher(
                self.config, self.teacher_size, self.pictures, new["train"], self.streams
            )
            self.kinds[name] = new, teacher
        return self.kinds[name]

    def start(self, size: int) -> Network:
        return started(self.config, size, self.pictures, self.streams(f"student-{size}"))

    def history(
        self, size: int, arm: str, data: Pair, tests: Mapping[str, Pair], same: str | None
    ) -> History:
        """Of one student; those with the ``same`` data and tests, told by a name, train once."""
        if same is not None and (size, arm, same) in self.shared:
            return self.shared[size, arm, same]
        settings, result = self.config["students"], History()
        net = self.start(size)

        def see(step: int) -> None:
            if step % settings["record_every"] == 0 or step == settings["steps"]:
                for part, own in {**tests, "train": data}.items():
                    result[part, step] = loss_and_accuracy(net, *own)[1]

        training = Training(settings["steps"], settings["rate"], settings["batch_size"])
        training.run(net, *data, self.streams(f"batches-{arm}"), see=see)
        if same is not None:
            self.shared[size, arm, same] = result
        return result


def _accuracies(cell: Mapping[str, Any], world: World) -> Iterator[tuple[str, str, int, Tensor]]:
    """Arm, part, step and accuracies (R,) of one cell; step -1 is of what is not trained here."""
    kind, alpha, size = cell["injected"], cell["alpha"], cell["student"]
    x, y = world.pictures.x, world.pictures.y
    new, teacher = world.kind(kind)
    mixed = {part: _mixture(x[part], new[part], alpha, world.streams(f"mixture-{part}-{alpha}"))
             for part in ("train", "validation")}  # fmt: skip
    learned = {part: (own, labels_of(teacher, own)) for part, (own, _) in mixed.items()}
    tests = {part: (own, labels_of(teacher, own))
             for part, own in (("original", x["test"]), ("injected", new["test"]))}  # fmt: skip
    old = ~mixed["train"][1]
    kept = int(old[0].sum())
    fewer = [own[old].reshape(len(old), kept, *own.shape[2:]) for own in learned["train"]]
    alone = (x["train"], labels_of(teacher, x["train"]))
    true = {"original": (x["test"], y["test"])}
    arms = {
        # what it learns, what it is tested on, and what else has the same of both
        "mixture": (learned["train"], tests, None),
        "alone": (alone, tests, kind),
        "fewer": ((fewer[0], fewer[1]), tests, None),
        "direct": ((x["train"], y["train"]), true, "all"),
    }
    for arm, (data, tested, same) in arms.items():
        result = world.history(size, arm, data, tested, same)
        for (part, step), values in result.items():
            yield arm, part, step, values
            if part == "injected":
                whole = (1 - alpha) * result["original", step] + alpha * values
                yield arm, "whole", step, whole
    yield "teacher", "original", -1, loss_and_accuracy(teacher, *true["original"])[1]
    most = torch.mode(learned["train"][1], 1)[0][:, None]
    for part, (_, own) in tests.items():
        yield "majority", part, -1, (own == most).double().mean(1)
    both = learned | tests
    labels = {part: own for part, (_, own) in both.items()}
    flat = {part: own.flatten(2) for part, (own, _) in both.items()}
    random = {part: world.start(size).hidden(own) for part, (own, _) in both.items()}
    for arm, seen in (("linear", flat), ("random", random)):
        for part, values in head_accuracies(seen, labels, len(world.pictures.classes)).items():
            yield arm, part, -1, values


def _mixture(
    x: Tensor, new: Tensor, alpha: float, streams: list[torch.Generator]
) -> tuple[Tensor, Tensor]:
    """(R, n, ...) and which are injected (R, n), a replicate each."""
    each = [
        alpha_mixture(labelled, unlabelled, alpha, stream)
        for labelled, unlabelled, stream in zip(x.cpu(), new.cpu(), streams, strict=True)
    ]
    mixed, is_new = (torch.stack(one).to(x.device) for one in zip(*each, strict=True))
    return mixed, is_new
