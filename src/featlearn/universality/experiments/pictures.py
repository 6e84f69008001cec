"""Pre-training on growing mixtures of sets of pictures, and what it is worth to one of them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

import pandas as pd
import torch
from torch import Tensor

from featlearn.core.progress import Progress
from featlearn.images.augment import Augment, channel_statistics
from featlearn.images.methods.two_view import TwoViewObjective
from featlearn.universality.sets import Sets, patterns
from featlearn.universality.tuning import Bench, probe

if TYPE_CHECKING:
    from featlearn.core.job import Job
    from featlearn.core.outputs import Results

COLUMNS = ["method", "model", "arm", "set", "labels", "quantity", "replicate", "value"]
Row = tuple[Any, ...]


def opened(job: Job, replicate: int) -> tuple[Sets, Bench]:
    """Sets and networks of a replicate."""
    config, name = job.config, (job.seed, "universality", "pictures", replicate)
    cache = job.results / job.params.cache
    sets = Sets(config["sets"], config["size"], cache, name, "universality.pictures.sets")
    # as published: one normalisation for all sets, the target's
    seen = channel_statistics(sets.train[config["ladder"][0]].images)
    augment = Augment({"steps": config["augmentation"], **seen})
    return sets, Bench(config, augment, name, job.device)


def models(config: Mapping[str, Any], method: str) -> list[str]:
    """What a method is trained on: ``rung-1`` ...; of the first method also further mixtures."""
    rungs = [f"rung-{number + 1}" for number in range(len(config["ladder"]))]
    if method != next(iter(config["methods"])):
        return [rungs[0], rungs[-1]]
    return [*rungs, "other", "tenth", *(f"classes-{count}" for count in config["classes"])]


def mixture(model: str, sets: Sets, config: Mapping[str, Any]) -> Tensor:
    """Pictures that a model is trained on."""
    kind, _, number = model.partition("-")
    ladder = config["ladder"]
    if kind == "rung":
        return sets.union(ladder[: int(number)])
    if kind == "other":
        return sets.union([config["other"]])
    if kind == "tenth":
        return sets.union(ladder, 0.1)
    # the same number of pictures of so many classes, beside the target's
    count = len(sets.train[ladder[0]].labels)
    new = patterns(int(number), count, config["size"], 77, (*sets.name, "classes"))
    return torch.cat([sets.union([ladder[0]]), new.images])


def pretrained(job: Job) -> Results:
    """Accuracies of probes on frozen features, by model, set and number of labels; all weights."""
    config, method = job.config, job.wildcards["method"]
    names = models(config, method)
    progress = Progress(job.rule, config["replicates"] * len(names))
    rows: list[Row] = []
    weights: dict[str, Tensor] = {}
    for replicate in range(config["replicates"]):
        sets, bench = opened(job, replicate)
        start = bench.method(config["methods"][method])
        if method == next(iter(config["methods"])):
            rows += [("none", "none", "raw", *own) for own in _pixels(sets, config, replicate)]
            rows += [("none", "none", "random", *own)
                     for own in _probes(start, bench, sets, config, replicate, True)]  # fmt: skip
        for place, model in enumerate(names):
            own = bench.method(config["methods"][method])
            bench.pretrain(own, mixture(model, sets, config), method, model)
            full = not model.startswith("classes")
            rows += [(method, model, "probe", *one)
                     for one in _probes(own, bench, sets, config, replicate, full)]  # fmt: skip
            weights |= {f"{model}/{replicate}/{key}": value.cpu()
                        for key, value in own.state_dict().items()}  # fmt: skip
            progress.report(replicate * len(names) + place + 1, lambda: {})
    return {"values": pd.DataFrame(rows, columns=COLUMNS), "weights": weights}


def _sizes(own: str, sets: Sets, config: Mapping[str, Any]) -> list[int]:
    """Numbers of labels: several of the two targets, all of the others."""
    whole = len(sets.train[own].labels)
    if own not in (config["ladder"][0], config["other"]):
        return [whole]
    return [*(count for count in config["labels"] if count < whole), whole]


def _probes(
    method: TwoViewObjective, bench: Bench, sets: Sets, config: Mapping[str, Any],
    replicate: int, full: bool,
) -> Iterator[Row]:  # fmt: skip
    """Set, labels, quantity, replicate, value; only of the target unless ``full``."""
    for own in config["ladder"] if full else config["ladder"][:1]:
        tested = bench.features(method, sets.test[own].images)
        for count in _sizes(own, sets, config):
            few = sets.labelled(own, count)
            seen = bench.features(method, few.images), tested
            found = probe(seen, (few.labels, sets.test[own].labels), sets.classes[own])
            yield own, count, "train", replicate, found[0]
            yield own, count, "test", replicate, found[1]


def _pixels(sets: Sets, config: Mapping[str, Any], replicate: int) -> Iterator[Row]:
    """The same of a head on the pixels, which learns no features."""
    for own in config["ladder"]:
        for count in _sizes(own, sets, config):
            few, test = sets.labelled(own, count), sets.test[own]
            pixels = (few.images.flatten(1) / 255.0, test.images.flatten(1) / 255.0)
            found = probe(pixels, (few.labels, test.labels), sets.classes[own])
            yield own, count, "train", replicate, found[0]
            yield own, count, "test", replicate, found[1]


# --------------------------------------------------------------------------- with labels


def tuned(job: Job) -> Results:
    """Fine-tuning with and without regulariser along the ladder; regularised, then probed; a map."""  # noqa: E501
    config, method = job.config, next(iter(job.config["methods"]))
    weights = job.tensors("weights")
    target, own = config["ladder"][0], config["finetuning"]
    rungs = [f"rung-{number + 1}" for number in range(len(config["ladder"]))]
    progress = Progress(job.rule, config["replicates"] * len(rungs))
    rows: list[Row] = []
    maps: list[Row] = []
    for replicate in range(config["replicates"]):
        sets, bench = opened(job, replicate)
        for place, model in enumerate(rungs):
            start = loaded(bench, config["methods"][method], weights, model, replicate)
            for share in own["shares"]:
                few = sets.labelled(target, round(share * len(sets.train[target].labels)))
                for arm, weight in (("finetuned", 0.0), ("ours", own["weight"])):
                    made = bench.finetune(
                        start, few, sets.classes[target], weight, "tuned", model, str(share)
                    )
                    for part, data in (("train", few), ("test", sets.test[target])):
                        value = bench.accuracy(made, data)
                        rows.append(
                            (method, model, arm, target, len(few.labels), part, replicate, value)
                        )
                    if replicate == 0 and model == rungs[-1] and share == own["mapped"]:
                        maps += _map(arm, bench, made.method, sets, target, own)
                found = _probed(bench, start, few, sets, target)
                rows += [(method, model, "probe", target, len(few.labels), part, replicate, value)
                         for part, value in found]  # fmt: skip
            if replicate == 0 and model == rungs[-1]:
                maps += _map("probe", bench, start, sets, target, own)
            rows += _continued(bench, start, sets, config, (method, model), replicate)
            progress.report(replicate * len(rungs) + place + 1, lambda: {})
    return {
        "values": pd.DataFrame(rows, columns=COLUMNS),
        "maps": pd.DataFrame(maps, columns=["arm", "label", "x", "y"]),
    }


def loaded(
    bench: Bench,
    settings: Mapping[str, Any],
    weights: Mapping[str, Tensor],
    model: str,
    replicate: int,
) -> TwoViewObjective:
    """A method with the weights that :func:`pretrained` wrote."""
    made = bench.method(settings)
    prefix = f"{model}/{replicate}/"
    made.load_state_dict(
        {key.removeprefix(prefix): own for key, own in weights.items() if key.startswith(prefix)}
    )
    return made


def _probed(
    bench: Bench, method: TwoViewObjective, few: Any, sets: Sets, target: str
) -> list[tuple[str, float]]:
    features = bench.features(method, few.images), bench.features(method, sets.test[target].images)
    labels = few.labels, sets.test[target].labels
    return list(zip(("train", "test"), probe(features, labels, sets.classes[target]), strict=True))


def _continued(
    bench: Bench, start: TwoViewObjective, sets: Sets, config: Mapping[str, Any],
    name: tuple[str, str], replicate: int,
) -> Iterator[Row]:  # fmt: skip
    """Contrastive training on a target without labels, then probes: the ladder's and the other."""
    last = name[1] == f"rung-{len(config['ladder'])}"
    for target in [config["ladder"][0], *([config["other"]] if last else [])]:
        made = bench.method(config["methods"][name[0]])
        made.load_state_dict(start.state_dict())
        bench.regularise(made, sets.union([target]), "continued", name[1], target)
        for count in _sizes(target, sets, config):
            few = sets.labelled(target, count)
            for part, value in _probed(bench, made, few, sets, target):
                yield *name, "continued", target, count, part, replicate, value


def _map(
    arm: str,
    bench: Bench,
    method: TwoViewObjective,
    sets: Sets,
    target: str,
    own: Mapping[str, Any],
) -> list[Row]:
    """t-SNE of unit features of training pictures."""
    from sklearn.manifold import TSNE

    chosen = sets.labelled(target, own["points"])
    features = torch.nn.functional.normalize(bench.features(method, chosen.images), dim=1).numpy()
    found = TSNE(perplexity=min(20, len(features) // 4), init="pca", random_state=0).fit_transform(
        features
    )
    return [(arm, int(label), float(x), float(y))
            for label, (x, y) in zip(chosen.labels, found, strict=True)]  # fmt: skip
