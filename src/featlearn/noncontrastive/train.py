"""Algorithm 1: SGD on fresh samples for several variants at once, which see the same samples."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Any

import torch
from torch import Tensor

from featlearn.core.errors import DivergedError
from featlearn.core.training.loops import Loop
from featlearn.core.training.loops import State as Kept
from featlearn.noncontrastive.data import PatchData, sample, views
from featlearn.noncontrastive.model import Normalisation, loss
from featlearn.noncontrastive.population import State, state_of


@dataclass(frozen=True)
class Variant:
    """One way of training."""

    learning_rate: float  #: ``eta``, for the loss as in :func:`featlearn.noncontrastive.model.loss`
    head_rate: float  #: ``eta_E``; 0 leaves the head at the identity (``TrainPredHead = False``)
    normalisation: Normalisation = "batch"  #: Of the outputs: ``batch``, ``l2`` or ``none``
    stop_gradient: bool = True  #: Whether the target is a constant, its statistics included
    #: Average of the loss over both orders of the views; the paper uses one order.
    symmetric: bool = False

    def objective(self, f: Tensor, g: Tensor, e: Tensor) -> Tensor:
        """The loss (...) of this variant."""
        one = loss(f, g, e, self.normalisation, stop_gradient=self.stop_gradient)
        if not self.symmetric:
            return one
        other = loss(g, f, e, self.normalisation, stop_gradient=self.stop_gradient)
        return (one + other) / 2


@dataclass(frozen=True)
class Snapshot:
    """Where a run stands: its step, the state (V, R, ...) and the loss (V, R) of the last batch."""

    step: int
    state: State
    loss: Tensor


def canonical_neurons(
    dimension: int, streams: Sequence[torch.Generator], dtype: torch.dtype
) -> Tensor:
    """(R, 2, d): ``B = [[2, 1], [1, 1]] / sqrt(d)``, norm one, orthogonal noise parts."""
    b = torch.tensor([[2.0, 1.0], [1.0, 1.0]], dtype=torch.float64) / dimension**0.5
    rest = []
    for stream in streams:
        drawn = torch.randn(dimension - 2, 2, generator=stream, dtype=torch.float64)
        rest.append(torch.linalg.qr(drawn).Q.T * (1 - b.square().sum(1, keepdim=True)).sqrt())
    w = torch.cat([b.expand(len(streams), 2, 2), torch.stack(rest)], -1)
    return w.to(dtype)


def gradients(
    variants: Sequence[Variant], x: Tensor, first: Tensor, w: Tensor, e: Tensor
) -> tuple[Tensor, Tensor, Tensor]:
    """Losses (V, R) and gradients by ``w`` (V, R, m, d) and ``e`` (V, R, m, m) on one batch.

    The gradients of w and E are both taken at the old (w, E). The loss is differentiated down to
    the outputs; the way on to the neurons, over all patches of all samples, is written by hand.
    """
    count, neurons = w.shape[0], w.shape[2]
    # all variants see the same samples: one product with the neurons of all of them
    flat = x.flatten(1, 2)
    products = torch.bmm(flat, w.transpose(0, 1).flatten(1, 2).mT).view(*x.shape[:3], -1)
    squares = products.square()
    cubes = squares * products
    # a masked patch is zero and adds nothing, so both views come from one set of products
    kept = first.unsqueeze(-2)
    one = (kept @ cubes).squeeze(-2)
    outputs = torch.stack([one, cubes.sum(-2) - one])  # (2, R, N, V * m)
    outputs = outputs.view(*outputs.shape[:-1], count, neurons).movedim(-2, 1)
    outputs, e = outputs.detach().requires_grad_(), e.detach().requires_grad_()
    f, g = outputs
    losses = torch.stack([v.objective(*parts) for v, *parts in zip(variants, f, g, e, strict=True)])
    by_outputs, by_e = torch.autograd.grad(losses.sum(), (outputs, e))
    by_one, by_other = by_outputs.movedim(1, -2).flatten(-2)  # (R, N, V * m)
    # by a product: 3 <w, X_p>**2 times the slope of the view that keeps the patch
    slope = torch.where(first.unsqueeze(-1) > 0, by_one.unsqueeze(-2), by_other.unsqueeze(-2))
    slope.mul_(squares).mul_(3)
    by_w = torch.bmm(slope.flatten(1, 2).mT, flat).view(len(x), count, neurons, -1)
    return losses.detach(), by_w.transpose(0, 1), by_e


def train(
    spec: PatchData,
    variants: Mapping[str, Variant],
    start: Tensor,
    streams: Callable[[str], Sequence[torch.Generator]],
    *,
    samples: int,
    steps: int,
    record_every: int,
    device: Any = "cpu",
) -> Iterator[Snapshot]:
    """Run Algorithm 1; yields the state every ``record_every`` steps, the start included.

    ``start``: (R, m, d) neurons, the same for every variant. ``streams``: gives a generator a
    replicate, by purpose; samples and views have their own. ``samples``: ``N`` fresh samples a step
    and replicate. Raises ``DivergedError`` if a variant overflows.
    """
    chosen = list(variants.values())
    count, neurons = len(chosen), start.shape[1]
    w = start.to(device).expand(count, *start.shape).clone()
    e = torch.zeros(count, start.shape[0], neurons, neurons, dtype=w.dtype, device=device)
    rate = torch.tensor([v.learning_rate for v in chosen], dtype=w.dtype, device=device)
    head_rate = torch.tensor([v.head_rate for v in chosen], dtype=w.dtype, device=device)
    off = 1 - torch.eye(neurons, dtype=w.dtype, device=device)
    data, masks = streams("samples"), streams("views")
    step, snapshots = 0, list[Snapshot]()
    with Loop("training", {"w": w}, variants=repr(variants), samples=samples) as loop:
        if saved := loop.latest():
            step, w, e = saved.step, saved.tensors["w"].to(device), saved.tensors["e"].to(device)
            for place, stream in enumerate((*data, *masks)):
                stream.set_state(saved.tensors[f"streams/{place}"])
            snapshots = [_snapshot(saved.tensors, at, device) for at in saved.plain["told"]]
            yield from snapshots

        def state() -> Kept:
            tensors = {"w": w, "e": e}
            for place, stream in enumerate((*data, *masks)):
                tensors[f"streams/{place}"] = stream.get_state()
            for snapshot in snapshots:
                tensors |= _named(snapshot)
            return tensors, {"told": [snapshot.step for snapshot in snapshots]}

        while True:
            x = sample(spec, samples, data, w.dtype).x.to(device)
            first = views(spec.patches, samples, masks, w.dtype).to(device)
            losses, by_w, by_e = gradients(chosen, x, first, w, e)
            if step % record_every == 0 or step == steps:
                if not bool(w.isfinite().all()):
                    raise DivergedError(
                        f"step {step}: a variant overflowed; lower its learning rate"
                    )
                snapshots.append(Snapshot(step, state_of(w.double(), e.double()), losses))
                yield snapshots[-1]
            if step == steps:
                return
            w = w - rate.view(-1, 1, 1, 1) * by_w
            e = e - head_rate.view(-1, 1, 1, 1) * by_e * off
            step += 1
            loop.after(step, state)


def _named(snapshot: Snapshot) -> dict[str, Tensor]:
    """The tensors of a snapshot, by names with its step."""
    seen = {part.name: getattr(snapshot.state, part.name) for part in fields(State)}
    return {f"{snapshot.step}/{name}": v for name, v in {**seen, "loss": snapshot.loss}.items()}


def _snapshot(tensors: Mapping[str, Tensor], step: int, device: Any) -> Snapshot:
    parts = {part.name: tensors[f"{step}/{part.name}"].to(device) for part in fields(State)}
    return Snapshot(step, State(**parts), tensors[f"{step}/loss"].to(device))
