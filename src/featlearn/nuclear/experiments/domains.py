"""Leave one domain out: every arm, trial by trial, and the penalty's weight turned up."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pandas as pd
import torch

from featlearn.core.progress import Progress
from featlearn.core.seeds import seeded
from featlearn.images.datasets import Labelled
from featlearn.images.domains import Domains, open_domains, training_parts
from featlearn.images.encoders import build_encoder
from featlearn.images.nuclear_norm import stable_ranks
from featlearn.nuclear.opponents import opponents
from featlearn.nuclear.training import Net, evaluate, train

if TYPE_CHECKING:
    from featlearn.core.job import Job
    from featlearn.core.outputs import Results


def measure(job: Job) -> Results:
    """Accuracies of each arm on each left-out domain, and along the weights of the penalty."""
    config = job.config
    arms = {name: arm for name, arm in config["arms"].items() if arm is not None}
    sweep = {f"{theta:g}": {"nu": theta, "nu_scale": config["sweep"]["nu_scale"]}
             for theta in config["sweep"]["weights"]}  # fmt: skip
    rows: list[dict[str, Any]] = []
    swept: list[dict[str, Any]] = []
    done, total = 0, config["trials"] * 4 * (len(arms) + len(sweep))
    progress = Progress(job.rule, total)
    for trial in range(config["trials"]):
        name = (job.seed, "nuclear", "domains", trial)
        found = open_domains(
            config["domains"], job.results / job.params.cache, name, "nuclear.domains.domains"
        )
        for left_out in found.images:
            own = _Split(found, left_out, config, name)
            kept = {"domain": left_out, "replicate": trial}
            for arm, settings in arms.items():
                rows += [{"arm": arm, **kept, **row} for row in own.best(settings, job.device)]
                done += 1
                progress.report(done, lambda: {})
            for weight, settings in sweep.items():
                row = own.run(settings, job.device)[0]
                swept.append({"weight": float(weight), **kept, **row})
                done += 1
                progress.report(done, lambda: {})
            for arm, found_row in opponents(own.learned, own.chosen, own.unseen, own.classes,
                                            config["opponents"], own.name).items():  # fmt: skip
                rows.append({"arm": arm, **kept, **found_row})
    return {"accuracies": pd.DataFrame(rows), "swept": pd.DataFrame(swept)}


class _Split:
    """One left-out domain of one trial: all arms see the same images, start and batches."""

    def __init__(self, found: Domains, left_out: str, config: Any, name: tuple[object, ...]):
        self.config, self.name = config, (*name, left_out)
        self.classes, self.unseen = len(found.classes), found.images[left_out]
        parts = {
            domain: training_parts(own, config["validation"], (*name, "validation", domain))
            for domain, own in found.images.items()
            if domain != left_out
        }
        self.learned = [one[0] for one in parts.values()]
        held_out = [one[1] for one in parts.values()]
        self.chosen = Labelled(*(torch.cat([one[i] for one in held_out]) for i in (0, 1)))
        self.size = int(self.unseen.images.shape[-1])
        self.known: dict[str, list[dict[str, Any]]] = {}

    def best(self, arm: Any, device: Any) -> list[dict[str, Any]]:
        """An arm's rows; of several weights those that are best on held-out training images.

        The best checkpoint and the dense average choose each for itself, at ties the smaller.
        """
        weights = arm.get("nu", 0.0)
        if not isinstance(weights, list):
            return self.run(arm, device)
        tried = [self.run({**arm, "nu": weight}, device) for weight in sorted(weights)]
        return [max(rows, key=lambda row: row["validation"]) for rows in zip(*tried, strict=True)]

    def run(self, arm: Any, device: Any) -> list[dict[str, Any]]:
        """Of the best checkpoint and of the dense average; settings are trained once."""
        weight = float(arm.get("nu", 0.0))
        penalised = {"nu_scale": "none", **arm, "nu": weight} if weight else {}
        rest = {key: value for key, value in arm.items() if key not in ("nu", "nu_scale")}
        key = str(sorted((rest | penalised).items()))
        if key not in self.known:
            self.known[key] = [{"weight": weight, **row} for row in self._train(arm, device)]
        return self.known[key]

    def _train(self, arm: Any, device: Any) -> list[dict[str, Any]]:
        with seeded(*self.name, "start"):
            encoder = build_encoder(self.config["encoder"], self.size)
            frozen = self.config["training"]["frozen_norms"]
            net = Net(encoder, encoder.width, self.classes, frozen).to(device)
        training = self.config["training"]
        done = train(net, self.learned, self.chosen, arm, training, (*self.name, "train"), device)
        rows = []
        for averaging, state in (("best", done.best), ("swad", done.swad)):
            net.load_state_dict(state)
            unseen, _, features = evaluate(net, self.unseen, device)
            seen, _, _ = evaluate(net, self.chosen, device)
            training_accuracy = sum(evaluate(net, one, device)[0] for one in self.learned)
            rows.append({
                "averaging": averaging, "value": unseen, "validation": seen,
                "training": training_accuracy / len(self.learned),
                "segments": done.averaged if averaging == "swad" else 0,
                "checkpoint": done.checkpoint, **stable_ranks(features),
            })  # fmt: skip
        return rows
