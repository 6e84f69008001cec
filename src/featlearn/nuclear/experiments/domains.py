"""Leave one domain out: every arm in every trial, and the penalty's weight turned up."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pandas as pd
import torch
from torch import Tensor

from featlearn.core.seeds import seeded
from featlearn.core.training.loops import Loop
from featlearn.images.augment import Augment
from featlearn.images.encoders import build_encoder
from featlearn.images.nuclear_norm import stable_ranks
from featlearn.images.rng import Draws
from featlearn.images.weights import load_weights
from featlearn.images.worlds.domains import Domains, Part, open_domains, training_parts
from featlearn.nuclear.opponents import opponents
from featlearn.nuclear.stacks import domains_of, setting_key, stacks, sweep_of, trainings, tried
from featlearn.nuclear.training import Net, Sight, Stack, Trained, Trial, train

if TYPE_CHECKING:
    from featlearn.core.run.job import Job
    from featlearn.core.run.outputs import Results

Settings = Mapping[str, Any]
Rows = list[dict[str, Any]]


def train_stack(job: Job) -> Results:
    """Train the networks of one stack: some algorithms, some domains left out in some trials."""
    config, place = job.config, int(job.wildcards["stack"])
    settings, count = trainings(config), domains_of(config)
    (trials, arms) = stacks(config)[place]
    chosen = [divmod(one, count) for one in trials]
    opened = {trial: _open(job, trial) for trial, _ in chosen}
    splits = {one: _Split(opened[one[0]], one[1], config["validation"], _name(job, one[0]))
              for one in chosen}  # fmt: skip
    own = [settings[key] for key in arms]
    job.tell(f"stack {place + 1} of {len(stacks(config))}: {len(splits) * len(own)} of "
             f"{config['trials'] * count * len(settings)} trainings")  # fmt: skip
    images = {
        f"{trial}/{domain}/{what}": value
        for number, (trial, found) in enumerate(opened.items())
        for domain, one in found.images.items()
        for what, value in one._asdict().items()
        # folders are the same in all trials, and may be larger than what is soon read twice
        if what == "labels" or not number or config["domains"]["made"] != "folders"
        if value is not None
    }
    where, sight = torch.device(job.device).type, _sight(config.get("augmentation"), job.device)
    # the state of the files tells other weights, too
    with Loop(job.rule, images, device=where, state=job.params.state) as loop:
        # of each trial and arm a network
        stack = Stack([one.start(config) for one in splits.values() for _ in own], job.device)
        streams = [Trial(one.learned, one.chosen, (*one.name, "train")) for one in splits.values()]
        done = train(stack, streams, own, config["training"], sight, loop)
        told = [_told(stack, done, slice(i * len(own), (i + 1) * len(own)), one, sight)
                for i, one in enumerate(splits.values())]  # fmt: skip
    return {"trained": pd.DataFrame([
        {"replicate": trial, "domain": split.left_out, "setting": key,
         "weight": float(settings[key].get("nu", 0.0)), **row}
        for ((trial, _), split), every in zip(splits.items(), told, strict=True)
        for key, rows in zip(arms, every, strict=True)
        for row in rows
    ])}  # fmt: skip


def measure(job: Job) -> Results:
    """Choose each arm's weight, read those of the sweep, and solve what learns no features."""
    config, by = job.config, ["replicate", "domain"]
    trained = job.frame("trained")
    first = trained[trained["averaging"] == "best"]
    found = [_chosen(trained[trained["setting"].isin([setting_key(one) for one in tried(arm)])])
             .assign(arm=name)
             for name, arm in config["arms"].items() if arm is not None]  # fmt: skip
    solved: Rows = []
    for trial in range(config["trials"]):
        opened = _open(job, trial)
        for place in range(domains_of(config)):
            own = _Split(opened, place, config["validation"], _name(job, trial))
            told = opponents(own.learned, own.chosen, own.unseen, own.classes, config["opponents"],
                             own.name)  # fmt: skip
            solved += [{"arm": arm, "replicate": trial, "domain": own.left_out, **row}
                       for arm, row in told.items()]  # fmt: skip
    accuracies = pd.concat([*found, pd.DataFrame(solved)], ignore_index=True)
    swept = pd.concat([first[first["setting"] == setting_key(one)] for one in sweep_of(config)])
    swept = swept.sort_values([*by, "weight"], ignore_index=True)
    return {name: frame.drop(columns="setting")
            for name, frame in (("accuracies", accuracies), ("swept", swept))}  # fmt: skip


def _name(job: Job, trial: int) -> tuple[object, ...]:
    return (job.seed, "nuclear", "domains", trial)


def _open(job: Job, trial: int) -> Domains:
    cache = job.results / job.params.cache
    return open_domains(job.config["domains"], cache, _name(job, trial), "nuclear.domains.domains")


def _chosen(rows: pd.DataFrame) -> pd.DataFrame:
    """The weight that is best on held-out training images, for checkpoint and average apart."""
    ordered = rows.sort_values(["validation", "weight"], ascending=[False, True], kind="stable")
    return ordered.drop_duplicates(["replicate", "domain", "averaging"]).sort_index()


class _Split:
    """One left-out domain of one trial."""

    def __init__(self, found: Domains, place: int, share: float, name: tuple[object, ...]):
        self.left_out = left_out = list(found.images)[place]
        self.name = (*name, left_out)
        self.classes, self.unseen = len(found.classes), found.images[left_out]
        parts = {domain: training_parts(own, share, (*name, "validation", domain))
                 for domain, own in found.images.items() if domain != left_out}  # fmt: skip
        self.learned = [one[0] for one in parts.values()]
        held_out = [one[1] for one in parts.values()]
        self.chosen = Part.joined(held_out)

    def start(self, config: Settings) -> Net:
        """The network that all arms of the trial start from."""
        size = int(self.unseen.images.shape[-1])
        with seeded(*self.name, "start"):
            encoder = build_encoder(config["encoder"], size)
            net = Net(encoder, size, self.classes, config["features"],
                      config["training"]["frozen_norms"])  # fmt: skip
        if config.get("weights"):
            file = Path(config["weights"]).expanduser()
            load_weights(encoder, file, config.get("weights_folder"))
        return net


def _told(stack: Stack, done: Trained, rows: slice, own: _Split, sight: Sight) -> list[Rows]:
    """Of each network of a trial the rows of its best checkpoint and of its dense average."""

    def learned(state: dict[str, Tensor]) -> Tensor:
        every = [stack.evaluate(state, rows, one, sight)[0] for one in own.learned]
        return torch.stack(every).mean(0)

    last = learned(done.last)
    found: list[Rows] = [[] for _ in last]
    for averaging, state in (("best", done.best), ("swad", done.swad)):
        unseen, _, features = stack.evaluate(state, rows, own.unseen, sight)
        seen, training = stack.evaluate(state, rows, own.chosen, sight)[0], learned(state)
        for i, row in enumerate(found):
            at = rows.start + i
            row.append({
                "averaging": averaging, "value": float(unseen[i]), "validation": float(seen[i]),
                "training": float(training[i]), "trained": float(last[i]),
                "segments": done.averaged[at] if averaging == "swad" else 0,
                "checkpoint": int(done.checkpoint[at]), **stable_ranks(features[i]),
            })  # fmt: skip
    return found


def _sight(augmentation: Settings | None, device: Any) -> Sight:
    """From uint8 images to what networks see: values in [-1, 1], or an augmentation's."""
    if not augmentation:
        return lambda images, draws: images.to(device).float() / 127.5 - 1
    augment = Augment(augmentation)
    plain = augment.plain()

    def see(images: Tensor, draws: Draws | None) -> Tensor:
        still = draws or Draws(("evaluation",), 0, len(images))
        seen = (plain if draws is None else augment)(images.to(device), still)
        return seen.contiguous()  # group norm in a stack knows no channels last

    return see
