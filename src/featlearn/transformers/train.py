"""AdamW on R networks at once: batches by stream, looks on the way, checkpoints, an end."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from functools import partial
from typing import NamedTuple

import torch
from torch import Tensor, nn

from featlearn.core.errors import DivergedError
from featlearn.core.loops import Loop, State
from featlearn.core.optimisers import build, load_state_tensors, set_rate, state_tensors
from featlearn.core.progress import Progress
from featlearn.core.schedules import Part, Schedule
from featlearn.transformers.decoder import Weights


@dataclass(frozen=True)
class Recipe:
    """How networks are trained.

    Parameters
    ----------
    schedule
        Learning rate and number of steps.
    weight_decay
        Decoupled, on all weights.
    betas
        Of AdamW.
    look_every
        Steps between two looks; the start and the last step are looked at, too.
    clip
        Largest norm of a network's gradient; a longer one is shortened to it. None: of any length.
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
    loss: Callable[[Weights], Tensor],
    recipe: Recipe,
    *,
    streams: Sequence[torch.Generator],
    see: Callable[[Weights], dict[str, Tensor]],
    enough: Callable[[Sequence[Look]], bool] = lambda _: False,
) -> tuple[dict[str, Tensor], list[Look]]:
    """Train until the recipe's last step, or until it is ``enough``.

    Parameters
    ----------
    label
        What messages call the training.
    start
        Weights to start from, on the device to train on; they are left as they are.
    loss
        Losses (R,) of the networks on a batch that it draws itself.
    streams
        What ``loss`` draws from; a training that is killed and started again goes on with them.
    see
        Called without gradients; what it says of each replicate, (R,).
    enough
        Asked after each look, of all looks so far.

    Returns
    -------
    weights, looks

    Raises
    ------
    DivergedError
        If a weight overflows.
    """
    weights = nn.ParameterDict({name: nn.Parameter(w.clone()) for name, w in start.items()})
    # read once: an attribute of a module costs more than a step of a small tensor
    current = dict(weights.items())
    groups = [{"params": list(current.values()), "weight_decay": recipe.weight_decay}]
    optimiser = build("adamw", groups, betas=recipe.betas)
    steps, step, looks = recipe.schedule.steps, 0, list[Look]()
    progress = Progress(label, steps)

    def state() -> State:
        tensors = {f"weight/{name}": w.detach() for name, w in current.items()}
        tensors |= {f"adamw/{key}": v for key, v in state_tensors(optimiser, weights).items()}
        tensors |= {f"stream/{place}": one.get_state() for place, one in enumerate(streams)}
        tensors |= {f"look/{at}/{what}": v for at, seen in looks for what, v in seen.items()}
        return tensors, {"looks": [[at, list(seen)] for at, seen in looks]}

    def look() -> bool:
        if not all(bool(w.isfinite().all()) for w in current.values()):
            raise DivergedError(f"{label}, step {step}: overflow; lower the learning rate")
        with torch.no_grad():
            looks.append(Look(step, see(current)))
        return enough(looks)

    with Loop(label, start, recipe=asdict(recipe)) as loop:
        if saved := loop.latest():
            step, tensors = saved.step, saved.tensors
            with torch.no_grad():
                for name, w in current.items():
                    w.copy_(tensors[f"weight/{name}"])
            own = {k.removeprefix("adamw/"): v for k, v in tensors.items() if k[:6] == "adamw/"}
            load_state_tensors(optimiser, weights, own)
            for place, one in enumerate(streams):
                one.set_state(tensors[f"stream/{place}"])
            looks += [
                Look(at, {what: tensors[f"look/{at}/{what}"] for what in names})
                for at, names in saved.plain["looks"]
            ]
        done = enough(looks) if looks else look()
        while step < steps and not done:
            set_rate(optimiser, recipe.schedule.rate(step))
            optimiser.zero_grad()
            losses = loss(current)
            losses.sum().backward()  # type: ignore[no-untyped-call]
            if recipe.clip is not None:
                shorten(list(current.values()), recipe.clip)
            optimiser.step()
            step += 1
            progress.report(step, partial(_mean, losses.detach()))
            if step % recipe.look_every == 0 or step == steps:
                done = look()
            loop.after(step, state)
    return {name: w.detach() for name, w in current.items()}, looks


def shorten(weights: Sequence[Tensor], most: float) -> None:
    """Scale gradients of networks along the first axis: of each, its norm is at most ``most``."""
    grads = [w.grad for w in weights if w.grad is not None]
    norms = torch.stack([g.flatten(1).square().sum(1) for g in grads]).sum(0).sqrt()
    scale = (most / norms.clamp_min(1e-12)).clamp_max(1)
    for g in grads:
        g *= scale.view(-1, *[1] * (g.ndim - 1))


def _mean(losses: Tensor) -> dict[str, str]:
    return {"loss": f"{losses.mean().item():.4f}"}
