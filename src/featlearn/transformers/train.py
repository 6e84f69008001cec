"""AdamW on R networks at once: batches by stream, looks on the way, checkpoints, an end."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import partial
from typing import NamedTuple

import torch
from torch import Tensor, nn

from featlearn.core.errors import DivergedError
from featlearn.core.files import below
from featlearn.core.run.progress import Progress
from featlearn.core.training.loops import Loop, State
from featlearn.core.training.optimisers import build, load_state_tensors, set_rate, state_tensors
from featlearn.core.training.schedules import Part, Schedule
from featlearn.transformers.decoder import Weights


@dataclass(frozen=True)
class Recipe:
    """How networks are trained.

    ``schedule``: learning rate and number of steps. ``weight_decay``: Decoupled, on all weights.
    ``betas``: of AdamW. ``look_every``: steps between two looks; the start and the last step are
    looked at, too. ``clip``: largest norm of a network's gradient, if any.
    """

    schedule: Schedule | Part
    weight_decay: float = 0.0
    betas: tuple[float, float] = (0.9, 0.98)
    look_every: int = 100
    clip: float | None = None


class Look(NamedTuple):
    """What was seen of the networks after ``step`` steps."""

    step: int
    seen: dict[str, Tensor]  #: (R,) each


def train(
    label: str,
    start: Weights,
    loss: Callable[..., Tensor],
    recipe: Recipe,
    *,
    streams: Sequence[torch.Generator],
    see: Callable[..., dict[str, Tensor]],
    enough: Callable[[Sequence[Look]], Tensor] | None = None,
) -> tuple[dict[str, Tensor], list[Look]]:
    """Train until the recipe's last step, or each network until it is ``enough``.

    ``label``: what messages call the training. ``start``: weights on the device to train on, which
    stay as they are. ``loss``: losses (R,) of the networks on a batch that it draws itself, by
    their weights; with ``enough`` of those that are left, whose numbers (R',) it is given, too.
    ``streams``: what ``loss`` draws from, which a training that is killed goes on with. ``see``:
    called without gradients, as ``loss``; what it says of each replicate, (R,). ``enough``: asked
    after each look, of all looks so far: which networks leave for good, bool (R,). Returns weights,
    looks. Raises DivergedError if a weight overflows.
    """
    some = next(iter(start.values()))
    replicates, left = len(some), torch.arange(len(some), device=some.device)
    weights, optimiser = _held(start, {}, recipe)
    # read once: an attribute of a module costs more than a step of a small tensor
    current = dict(weights.items())
    # the weights that networks left with
    ended = {} if enough is None else {name: w.clone() for name, w in start.items()}
    steps, step, looks = recipe.schedule.steps, 0, list[Look]()
    progress = Progress(label, steps)

    def state() -> State:
        tensors = {f"weight/{name}": w.detach() for name, w in current.items()}
        tensors |= {f"adamw/{key}": v for key, v in state_tensors(optimiser, weights).items()}
        tensors |= {f"stream/{place}": one.get_state() for place, one in enumerate(streams)}
        tensors |= {f"ended/{name}": w for name, w in ended.items()}
        tensors |= {f"look/{at}/{what}": v for at, seen in looks for what, v in seen.items()}
        return tensors, {"looks": [[at, list(seen)] for at, seen in looks]}

    def keep(stay: Tensor) -> None:
        """Of the networks that are left these are trained on, bool (R')."""
        nonlocal left
        for name, w in current.items():
            ended[name][left] = w.detach()
        moments = state_tensors(optimiser, weights).items()
        hold({name: w[stay] for name, w in current.items()},
             {name: value[stay] if value.ndim else value for name, value in moments})  # fmt: skip
        left = left[stay]

    def hold(values: Weights, moments: Mapping[str, Tensor]) -> None:
        nonlocal weights, optimiser, current
        weights, optimiser = _held(values, moments, recipe)
        current = dict(weights.items())

    def look() -> None:
        if not all(bool(w.isfinite().all()) for w in current.values()):
            raise DivergedError(f"{label}, step {step}: overflow; lower the learning rate")
        with torch.no_grad():
            found = see(current, *more())
        if enough is not None:
            found = {what: value.new_full((replicates,), torch.nan).index_copy(
                0, left.to(value.device), value) for what, value in found.items()}  # fmt: skip
        looks.append(Look(step, found))
        if enough is not None and (gone := enough(looks).to(left.device)[left]).any():
            keep(~gone)

    def more() -> tuple[Tensor, ...]:
        return () if enough is None else (left,)

    with Loop(label, start, recipe=asdict(recipe)) as loop:
        if saved := loop.latest():
            step, tensors = saved.step, saved.tensors
            looks += [
                Look(at, {what: tensors[f"look/{at}/{what}"] for what in names})
                for at, names in saved.plain["looks"]
            ]
            if enough is not None:
                left = (~enough(looks)).nonzero().squeeze(1).to(left.device)
            hold(
                {name: tensors[f"weight/{name}"].to(w.device) for name, w in start.items()},
                below("adamw", tensors),
            )
            for place, one in enumerate(streams):
                one.set_state(tensors[f"stream/{place}"])
            for name, w in ended.items():
                w.copy_(tensors[f"ended/{name}"])
        else:
            look()
        while step < steps and len(left):
            set_rate(optimiser, recipe.schedule.rate(step))
            optimiser.zero_grad()
            losses = loss(current, *more())
            losses.sum().backward()  # type: ignore[no-untyped-call]
            if recipe.clip is not None:
                shorten(list(current.values()), recipe.clip)
            optimiser.step()
            step += 1
            progress.report(step, partial(_mean, losses.detach()))
            if step % recipe.look_every == 0 or step == steps:
                look()
            loop.after(step, state)
    if enough is None:
        return {name: w.detach() for name, w in current.items()}, looks
    keep(torch.zeros_like(left, dtype=torch.bool))
    return ended, looks


def _held(
    values: Weights, moments: Mapping[str, Tensor], recipe: Recipe
) -> tuple[nn.ParameterDict, torch.optim.Optimizer]:
    """Copies of these weights to train, and their optimiser in this state."""
    weights = nn.ParameterDict(
        {name: nn.Parameter(w.detach().clone()) for name, w in values.items()}
    )
    groups = [{"params": list(weights.values()), "weight_decay": recipe.weight_decay}]
    optimiser = build("adamw", groups, betas=recipe.betas)
    load_state_tensors(optimiser, weights, moments)
    return weights, optimiser


def shorten(weights: Sequence[Tensor], most: float) -> None:
    """Scale gradients of networks along the first axis: of each, its norm is at most ``most``."""
    grads = [w.grad for w in weights if w.grad is not None]
    norms = torch.stack([g.flatten(1).square().sum(1) for g in grads]).sum(0).sqrt()
    scale = (most / norms.clamp_min(1e-12)).clamp_max(1)
    for g in grads:
        g *= scale.view(-1, *[1] * (g.ndim - 1))


def _mean(losses: Tensor) -> dict[str, str]:
    return {"loss": f"{losses.mean().item():.4f}"}
