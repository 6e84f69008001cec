"""Students on pictures and injected inputs that a teacher labels (Figures 2.4, A.18 to A.21).

A student learns a mixture of which a share alpha is injected, all with the teacher's labels, and is
scored by these on new pictures and new injected inputs. Beside it learn, from the same start:
``alone``, from as many pictures as the mixture has inputs, with the teacher's labels; ``fewer``,
from the pictures that the mixture keeps; and ``direct``, from all pictures with their own labels,
scored by these. The thesis shows one of the first and the last; which, it does not say.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

import pandas as pd
import torch
from torch import Tensor

from featlearn.core.seeds import Streams
from featlearn.emergence.data import alpha_mixture
from featlearn.emergence.experiments.descent import trained_teacher
from featlearn.emergence.pictures import PARTS, Pictures, head_accuracies, of_job
from featlearn.emergence.teachers import Net, Training, injected, labels_of, loss_and_accuracy

if TYPE_CHECKING:
    from featlearn.core.job import Job
    from featlearn.core.outputs import Results

COLUMNS = ["cell", "arm", "part", "step", "replicate", "value"]


def measure(job: Job) -> Results:
    """Accuracies along the training of every cell and arm."""
    config = job.config
    pictures = of_job(job, "injected", "emergence.injected.pictures")
    streams = Streams(job.seed, "emergence", "students", range(config["replicates"]))
    curves = job.frame("curves")
    size = int(curves.loc[curves["quantity"] == "chosen", "size"].iloc[0])
    rows: list[tuple[Any, ...]] = []

    def add(cell: str, arm: str, part: str, step: int, values: Tensor) -> None:
        rows.extend((cell, arm, part, step, r, v) for r, v in enumerate(values.tolist()))

    for name, cell in config["cells"].items():
        _cell(name, cell, config, size, pictures, streams, add)
    return {"values": pd.DataFrame(rows, columns=COLUMNS)}


def _cell(
    name: str,
    cell: Mapping[str, Any],
    config: Mapping[str, Any],
    size: int,
    pictures: Pictures,
    streams: Streams,
    add: Callable[[str, str, str, int, Tensor], None],
) -> None:
    kind, alpha, classes = cell["injected"], cell["alpha"], len(pictures.classes)
    x = {part: pictures.flat(part) for part in PARTS}
    new = {
        part: injected(kind, x["train"], own.shape[1], streams(f"{kind}-{part}"))
        for part, own in x.items()
    }
    data = x["train"], pictures.y["train"]
    # the same teacher labels every mixture with inputs of this kind
    teacher = trained_teacher(config, size, data, new["train"], classes, streams)
    y_x, y_new = ({p: labels_of(teacher, one) for p, one in of.items()} for of in (x, new))
    mixed = {part: _mixture(x[part], new[part], alpha, streams(f"mixture-{part}-{alpha}"))
             for part in ("train", "validation")}  # fmt: skip
    y_mixed = {part: labels_of(teacher, own) for part, (own, _) in mixed.items()}
    tests = {"original": (x["test"], y_x["test"]), "injected": (new["test"], y_new["test"])}
    kept = x["train"].shape[1] - round(alpha * x["train"].shape[1])
    old = ~mixed["train"][1]
    arms = {
        "mixture": (mixed["train"][0], y_mixed["train"]),
        "alone": (x["train"], y_x["train"]),
        "fewer": (
            mixed["train"][0][old].reshape(len(old), kept, -1),
            y_mixed["train"][old].reshape(len(old), kept),
        ),
        "direct": data,
    }
    training = Training(config["steps"], config["rate"], config["batch_size"])
    for arm, own in arms.items():

        def see(step: int, net: Net, arm: str = arm, own: tuple[Tensor, Tensor] = own) -> None:
            if step % config["record_every"] and step != config["steps"]:
                return
            with torch.no_grad():
                if arm == "direct":
                    true = x["test"], pictures.y["test"]
                    add(name, arm, "original", step, loss_and_accuracy(net, *true)[1])
                    add(name, arm, "train", step, loss_and_accuracy(net, *own)[1])
                    return
                found = {part: loss_and_accuracy(net, *one)[1] for part, one in tests.items()}
                found["whole"] = (1 - alpha) * found["original"] + alpha * found["injected"]
                found["train"] = loss_and_accuracy(net, *own)[1]
            for part, values in found.items():
                add(name, arm, part, step, values)

        net = Net.start(cell["student"], x["train"].shape[-1], classes,
                        streams(f"student-{cell['student']}"))  # fmt: skip
        training.run(net.to(x["train"].device), *own, streams(f"batches-{arm}"), see=see)
    truth = loss_and_accuracy(teacher, x["test"], pictures.y["test"])[1]
    add(name, "teacher", "original", -1, truth)
    for part, labels in (("original", y_x), ("injected", y_new)):
        most = torch.mode(y_mixed["train"], 1)[0][:, None]
        add(name, "majority", part, -1, (labels["test"] == most).double().mean(1))
    features = {part: own for part, (own, _) in mixed.items()}
    features |= {part: own for part, (own, _) in tests.items()}
    labels = y_mixed | {part: own for part, (_, own) in tests.items()}
    frozen = Net.start(cell["student"], x["train"].shape[-1], classes,
                       streams(f"student-{cell['student']}")).to(x["train"].device)  # fmt: skip
    random = {part: (own @ frozen.w + frozen.b).square() for part, own in features.items()}
    for arm, seen in (("linear", features), ("random", random)):
        for part, values in head_accuracies(seen, labels, classes).items():
            add(name, arm, part, -1, values)


def _mixture(
    x: Tensor, new: Tensor, alpha: float, streams: list[torch.Generator]
) -> tuple[Tensor, Tensor]:
    """(R, n, d) and which are injected (R, n), a replicate each."""
    each = [
        alpha_mixture(labelled, unlabelled, alpha, stream)
        for labelled, unlabelled, stream in zip(x.cpu(), new.cpu(), streams, strict=True)
    ]
    mixed, is_new = (torch.stack(one).to(x.device) for one in zip(*each, strict=True))
    return mixed, is_new
