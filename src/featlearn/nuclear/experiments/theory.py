"""The linear model of section 6.4 and the toy problem of 6.3.1."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import pandas as pd
import torch

from featlearn.core.seeds import generator
from featlearn.nuclear import featuriser, model, toy

if TYPE_CHECKING:
    from featlearn.core.run.job import Job
    from featlearn.core.run.outputs import Results


def measure(job: Job) -> Results:
    """Compute optima of the linear model by the weight of the nuclear-norm penalty."""
    config, name = job.config, (job.seed, "nuclear", "theory")
    replicates = range(config["replicates"])
    optima: list[dict[str, Any]] = []
    sweep: list[dict[str, Any]] = []
    ranks: list[dict[str, Any]] = []
    penalised: list[dict[str, Any]] = []
    for replicate in replicates:
        for case in config["cases"]:
            r, gamma = case["r"], case["gamma"]
            d = math.ceil(r / gamma**2 + r) + 1
            stream = (*name, "sums", r, gamma, replicate)
            seen = model.sums(config["draws"], r, d, gamma, generator(*stream, "id"))
            fresh = model.sums(config["draws"], r, d, gamma, generator(*stream, "id-test"))
            ood = model.sums(config["draws"], r, d, -gamma, generator(*stream, "ood"))
            for penalty in config["penalties"]:
                alpha, beta = model.optimum(seen, r, d, penalty)
                optima.append({
                    "r": r, "gamma": gamma, "d": d, "penalty": penalty, "replicate": replicate,
                    "alpha": alpha, "beta": beta, "ratio": alpha / beta,
                    "id": model.accuracy(fresh, alpha, beta),
                    "ood": model.accuracy(ood, alpha, beta),
                })  # fmt: skip
        r, gamma = config["sweep"]["r"], config["sweep"]["gamma"]
        for share in config["sweep"]["shares"]:
            d = r + max(1, round(share * model.threshold(r, gamma)))
            along = (*name, "sweep", share, replicate)
            seen = model.sums(config["draws"], r, d, gamma, generator(*along, "id"))
            ood = model.sums(config["draws"], r, d, -gamma, generator(*along, "ood"))
            alpha, beta = model.optimum(seen, r, d, config["sweep"]["penalty"])
            for arm, ratio in (("l2", alpha / beta), ("whitened", model.whitened_ratio(gamma))):
                sweep.append({
                    "share": share, "arm": arm, "replicate": replicate,
                    "value": model.accuracy(ood, ratio, 1.0),
                    "predicted": model.gaussian_accuracy(ratio, r, d, -gamma),
                })  # fmt: skip
        small = config["rank"]
        g = generator(*name, "rank", replicate)
        invariant = torch.rand(small["samples"], small["r"], generator=g, dtype=torch.float64)
        rest = model.signed_uniform(small["samples"], small["d"] - small["r"], small["gamma"], g)
        found = model.best_supports(
            torch.cat([invariant, rest], 1), range(1, small["r"] + 1), small["penalty"]
        )
        count, others, gamma = small["samples"], small["d"] - small["r"], small["gamma"]
        unseen = [torch.rand(count, small["r"], generator=g, dtype=torch.float64),
                  model.signed_uniform(count, others, -gamma, g)]  # fmt: skip
        for budget, (support, w) in found.items():
            score = torch.cat(unseen, 1)[:, list(support)] @ w
            ranks.append({"budget": budget, "replicate": replicate, "support": str(support),
                          "value": float(max(support) < small["r"]),
                          "ood": float((score > 0).double().mean())})  # fmt: skip
        own = config["featuriser"]
        if replicate < own["replicates"]:
            penalised += _featuriser(own, (*name, "featuriser", replicate), replicate)
    return {
        "optima": pd.DataFrame(optima), "sweep": pd.DataFrame(sweep),
        "ranks": pd.DataFrame(ranks), "penalised": pd.DataFrame(penalised),
    }  # fmt: skip


def _featuriser(own: Any, name: tuple[object, ...], replicate: int) -> list[dict[str, Any]]:
    arms = [("none", 0.0), *(("l2", w) for w in own["l2"]),
            *(("nuclear", w) for w in own["nuclear"])]  # fmt: skip
    r, d, gamma = own["r"], own["d"], own["gamma"]
    w = featuriser.train(arms, r, d, gamma, own["features"], own["steps"], own["batch"],
                         own["rate"], name)  # fmt: skip
    exact, best = model.laws(r, d, gamma), {("none", 0.0): math.nan}
    for kind, weight in arms[1:]:
        alpha, beta = model.optimum(exact, r, d, weight, kind)
        best[kind, weight] = alpha / beta
    test = {}
    for place, sign in (("id", 1), ("ood", -1)):
        g = generator(*name, place)
        z = torch.rand(own["test"], r, generator=g, dtype=torch.float64)
        test[place] = torch.cat([z, model.signed_uniform(own["test"], d - r, sign * gamma, g)], 1)
    return [
        {"arm": kind, "penalty": weight, "replicate": replicate,
         "ratio": float(one[:r].mean() / one[r:].mean()),
         "whitened": model.whitened_ratio(gamma), "optimum": best[kind, weight],
         **{key: float((z @ one > 0).double().mean()) for key, z in test.items()}}
        for (kind, weight), one in zip(arms, w, strict=True)
    ]  # fmt: skip


def measure_toy(job: Job) -> Results:
    """Train on the toy problem, and sample its points."""
    config, name = job.config, (job.seed, "nuclear", "toy")
    g = [generator(*name, "points", r) for r in range(config["replicates"])]
    x, y = toy.draw(config["samples"], toy.ID, g)
    trained = []
    for arm, penalty, free in (
        ("erm", 0.0, True), ("erm, head fixed", 0.0, False),
        ("nuclear", config["penalty"], False), ("nuclear, head trained", config["penalty"], True),
    ):  # fmt: skip
        starts = [generator(*name, "start", r) for r in range(config["replicates"])]
        found = toy.train(x, y, penalty, config["steps"], config["rate"], starts, free)
        for step, weights in found.items():
            for r, w in enumerate(weights):
                trained.append({"arm": arm, "step": step, "replicate": r, **_told(w)})
    drawn = []
    for place, agrees in (("id", toy.ID), ("ood", toy.OOD)):
        points, labels = toy.draw(config["shown"], agrees, [generator(*name, "shown", place)])
        for (a, b), label in zip(points[0].tolist(), labels[0].tolist(), strict=True):
            drawn.append({"place": place, "x": a, "y": b, "label": int(label)})
    return {"trained": pd.DataFrame(trained), "points": pd.DataFrame(drawn)}


def _told(w: torch.Tensor) -> dict[str, Any]:
    first, second = float(w[0]), float(w[1])
    slope = second / first if first else math.copysign(math.inf, second)
    # a rule that points the wrong way along x_1 is right where the other one errs
    turned = first < 0
    own = {key: toy.accuracy(slope, agrees) for key, agrees in (("id", toy.ID), ("ood", toy.OOD))}
    return {"first": first, "second": second,
            **{key: 1 - value if turned else value for key, value in own.items()}}  # fmt: skip
