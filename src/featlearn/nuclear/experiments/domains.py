"""Leave one domain out: every arm in every trial, and the penalty's weight turned up."""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pandas as pd
import torch
from torch import Tensor

from featlearn.core.loops import Loop, Pieces
from featlearn.core.progress import Progress
from featlearn.core.seeds import seeded
from featlearn.images.augment import Augment
from featlearn.images.encoders import build_encoder
from featlearn.images.nuclear_norm import stable_ranks
from featlearn.images.rng import Draws
from featlearn.images.weights import load_weights
from featlearn.images.worlds.domains import Domains, Part, open_domains, training_parts
from featlearn.nuclear.opponents import opponents
from featlearn.nuclear.training import Net, Sight, Stack, Trained, Trial, train

if TYPE_CHECKING:
    from featlearn.core.job import Job
    from featlearn.core.outputs import Results

Settings = Mapping[str, Any]
Rows = list[dict[str, Any]]


def measure(job: Job) -> Results:
    """Train each arm with one domain left out, and along the weights of the penalty."""
    config = job.config
    arms = {name: _tried(arm) for name, arm in config["arms"].items() if arm is not None}
    sweep = [{"nu": w, "nu_scale": config["sweep"]["nu_scale"]} for w in config["sweep"]["weights"]]
    every = {_key(one): one for one in (*(one for own in arms.values() for one in own), *sweep)}
    names = [(job.seed, "nuclear", "domains", trial) for trial in range(config["trials"])]
    opened = [
        open_domains(
            config["domains"], job.results / job.params.cache, name, "nuclear.domains.domains"
        )
        for name in names
    ]
    images = {
        f"{trial}/{domain}/{what}": value
        for trial, found in enumerate(opened)
        for domain, own in found.images.items()
        for what, value in own._asdict().items()
        # folders are the same in all trials, and may be larger than what is soon read twice
        if what == "labels" or not trial or config["domains"]["made"] != "folders"
        if value is not None
    }
    accuracies: Rows = []
    swept: Rows = []
    progress = Progress(job.rule, len(opened[0].images))
    where = torch.device(job.device).type
    # the state of the files tells other weights, too
    with Loop(job.rule, images, device=where, state=job.params.state) as loop:
        pieces = Pieces(loop)
        for done, left_out in enumerate(opened[0].images, 1):
            splits = [
                _Split(found, left_out, config["validation"], name)
                for found, name in zip(opened, names, strict=True)
            ]
            trained = _train(splits, list(every.values()), config, job.device, pieces)
            for trial, own in enumerate(splits):
                kept = {"domain": left_out, "replicate": trial}
                for arm, settings in arms.items():
                    rows = _chosen([trained[trial, _key(one)] for one in settings])
                    accuracies += [{"arm": arm, **kept, **row} for row in rows]
                swept += [{**kept, **trained[trial, _key(one)][0]} for one in sweep]
                solved = partial(opponents, own.learned, own.chosen, own.unseen, own.classes,
                                 config["opponents"], own.name)  # fmt: skip
                for arm, row in pieces.once(f"opponents, {left_out}, {trial}", solved).items():
                    accuracies.append({"arm": arm, **kept, **row})
            progress.report(done, lambda: {})
    return {"accuracies": pd.DataFrame(accuracies), "swept": pd.DataFrame(swept)}


def _tried(arm: Settings) -> list[Settings]:
    """The settings that an arm stands for: one for each weight, from the smallest."""
    weights = arm.get("nu", 0.0)
    return [{**arm, "nu": w} for w in sorted(weights)] if isinstance(weights, list) else [arm]


def _key(settings: Settings) -> str:
    """The same for settings that train alike."""
    weight = float(settings.get("nu", 0.0))
    own = {"nu_scale": "none", "nu_start_step": 0, "norm": "nuclear", **settings, "nu": weight}
    if not weight:
        own = {key: value for key, value in own.items() if key in ("mixup", "coral")}
    return json.dumps(own, sort_keys=True)


def _chosen(tried: list[Rows]) -> Rows:
    """The weight that is best on held-out training images, the smallest at ties; checkpoint and
    average choose apart.
    """
    return [max(rows, key=lambda row: row["validation"]) for rows in zip(*tried, strict=True)]


class _Split:
    """One left-out domain of one trial."""

    def __init__(self, found: Domains, left_out: str, share: float, name: tuple[object, ...]):
        self.name = (*name, left_out)
        self.classes, self.unseen = len(found.classes), found.images[left_out]
        parts = {
            domain: training_parts(own, share, (*name, "validation", domain))
            for domain, own in found.images.items()
            if domain != left_out
        }
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


def _train(
    splits: list[_Split], settings: list[Settings], config: Settings, device: Any, pieces: Pieces
) -> dict[tuple[int, str], Rows]:  # fmt: skip
    """Rows of all settings in all trials; as many networks at once as the config says."""
    found: dict[tuple[int, str], Rows] = {}
    most, left_out = config["training"]["at_once"], splits[0].name[-1]
    few = max(1, most // len(settings))
    for first in range(0, len(splits), few):
        trials = splits[first : first + few]
        for start in range(0, len(settings), most):
            arms = settings[start : start + most]
            told = pieces.once(
                f"{left_out}, trials from {first}, algorithms from {start}",
                partial(_train_stack, trials, arms, config, device, pieces),
            )
            for i, own in enumerate(told):
                for arm, rows in zip(arms, own, strict=True):
                    weight = float(arm.get("nu", 0.0))
                    found[first + i, _key(arm)] = [{"weight": weight, **row} for row in rows]
    return found


def _train_stack(
    trials: list[_Split], arms: list[Settings], config: Settings, device: Any, pieces: Pieces
) -> list[list[Rows]]:
    """Of each trial and arm its rows, of networks that were trained together."""
    sight = _sight(config.get("augmentation"), device)
    stack = Stack([one.start(config) for one in trials for _ in arms], device)
    streams = [Trial(one.learned, one.chosen, (*one.name, "train")) for one in trials]
    done = train(stack, streams, arms, config["training"], sight, pieces)
    rows = [slice(i * len(arms), (i + 1) * len(arms)) for i in range(len(trials))]
    return [_told(stack, done, own, one, sight) for own, one in zip(rows, trials, strict=True)]


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
        return (plain if draws is None else augment)(images.to(device), still)

    return see
