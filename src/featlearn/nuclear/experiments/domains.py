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
            # a weight that some arm has is not trained twice: best checkpoints by settings
            known: dict[tuple[float, str], dict[str, Any]] = {}
            for arm, settings in (*arms.items(), *sweep.items()):
                kept, same = {"domain": left_out, "replicate": trial}, _penalty(settings)
                if arm in arms:
                    own_rows = own.run(settings, job.device, True)
                    rows += [{"arm": arm, **kept, **row} for row in own_rows]
                    if same is not None:
                        known[same] = own_rows[0]
                else:
                    assert same is not None
                    row = known.get(same) or own.run(settings, job.device, False)[0]
                    swept.append({"weight": float(arm), **kept, **row})
                done += 1
                progress.report(done, lambda: {})
    return {"accuracies": pd.DataFrame(rows), "swept": pd.DataFrame(swept)}


def _penalty(arm: Any) -> tuple[float, str] | None:
    """Weight and scale of an arm that is ERM or ERM with the penalty alone; None for others."""
    if set(arm) - {"nu", "nu_scale"}:
        return None
    theta = float(arm.get("nu", 0.0))
    return theta, arm.get("nu_scale", "none") if theta else "none"


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

    def run(self, arm: Any, device: Any, swad_too: bool) -> list[dict[str, Any]]:
        with seeded(*self.name, "start"):
            encoder = build_encoder(self.config["encoder"], self.size)
            net = Net(encoder, encoder.width, self.classes).to(device)
        training = self.config["training"]
        done = train(net, self.learned, self.chosen, arm, training, (*self.name, "train"), device)
        rows = []
        for averaging, state in (("best", done.best), ("swad", done.swad))[: 1 + swad_too]:
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
