"""SimCLR: two views of an image, or of its siblings, against all other images."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import pandas as pd
import torch
from torch import Tensor, nn
from torch.nn import functional

from featlearn.images.augment import Augment
from featlearn.images.encoders.base import Encoder
from featlearn.images.methods.two_view import ProjectionHead, TwoViewObjective
from featlearn.images.rng import Draws
from featlearn.images.train.objective import Objective


def nt_xent(views: Sequence[Tensor], temperature: float) -> Tensor:
    """Normalised temperature-scaled cross-entropy (SimCLR, equation 1), for two or more views.

    With unit vectors ``z`` an anchor's loss is the mean over its positives ``j``, the same image in
    the other views, of ``-log(exp(z_i z_j / tau) / sum_k exp(z_i z_k / tau))``, where ``k`` runs
    over all views of all images but the anchor itself.

    ``views``: v tensors (B, D), row ``b`` of each from the same image, of any length.
    ``temperature``: ``tau``. Returns the mean over the anchors.
    """
    count, size = len(views), len(views[0])
    anchors = functional.normalize(torch.cat(list(views)).float(), dim=1)
    logits = anchors @ anchors.T / temperature
    itself = torch.arange(count * size, device=logits.device)
    # an anchor is no candidate for itself
    logits = logits.diagonal_scatter(logits.new_full((count * size,), float("-inf")))
    log_share = logits - logits.logsumexp(1, keepdim=True)
    shifts = torch.arange(1, count, device=logits.device) * size
    positives = (itself[:, None] + shifts) % (count * size)
    return -log_share.gather(1, positives).mean()


class SimCLR(TwoViewObjective):
    """NT-Xent between two views, on normalised projections.

    ``encoder``, ``augment``: see :class:`TwoViewObjective`. ``projection``: options of
    :class:`ProjectionHead`. ``temperature``: of NT-Xent. Parts of an accumulated batch, and those
    of several processes, do not see each other.
    """

    def __init__(
        self, encoder: Encoder, augment: Augment, projection: Mapping[str, Any] | None = None,
        temperature: float = 0.5,
    ):  # fmt: skip
        super().__init__(encoder, augment, ProjectionHead(encoder.width, **(projection or {})))
        self.temperature = temperature

    def features(self, first: Tensor, second: Tensor) -> tuple[Tensor, Tensor]:
        """What the encoder makes of both views at once: batch norms see them together."""
        both = self.encoder(torch.cat([first, second])).chunk(2)
        return both[0], both[1]

    def judged(
        self, features: tuple[Tensor, Tensor], views: tuple[Tensor, Tensor]
    ) -> dict[str, Tensor]:
        """``loss``, and ``retrieval``: the share of anchors whose positive is the nearest."""
        return self.compared(list(self.projection(torch.cat(features)).chunk(2)))

    def compared(self, projected: list[Tensor]) -> dict[str, Tensor]:
        """``loss`` and ``retrieval`` of projections (B, D), one a view."""
        loss = nt_xent(projected, self.temperature)
        with torch.no_grad():
            found = retrieval(projected[0], projected[1])
        return {"loss": loss, "retrieval": found}


def retrieval(anchors: Tensor, positives: Tensor) -> Tensor:
    """Share of rows whose positive is nearer than those of all other rows, by cosine; a scalar."""
    near = functional.normalize(anchors.float(), dim=1)
    far = functional.normalize(positives.float(), dim=1)
    similarity = near @ far.T
    return (similarity.diagonal() >= similarity.amax(1)).float().mean()


#: Between the name of a network and that of its scalar.
BETWEEN = "/"


class Siblings(Objective):
    """Networks that share the views that they see, and nothing else: each ends as if trained alone.

    ``members``: by name. The augmentation of the first makes the views of all. Only the graph of
    one network is in memory at a time. Raises ValueError if a member changes the views, as
    adversarial training does.
    """

    def __init__(self, members: Mapping[str, TwoViewObjective]):
        super().__init__()
        for name, member in members.items():
            if type(member).views is not TwoViewObjective.views:
                raise ValueError(f"{name}: {type(member).__name__} makes views of its own")
        self.members = nn.ModuleDict(dict(members))

    def parts(
        self, images: Tensor, labels: Tensor | None, draws: Draws
    ) -> Iterator[dict[str, Tensor]]:
        """What each network gives for two views of the images, uint8 (B, 3, S, S).

        Scalars are named ``<network>/<scalar>``; ``loss`` is there under both names.
        """
        views = next(iter(self._named()))[1].views(images, draws)
        for name, member in self._named():
            scalars = member.pair(*views)
            told = {f"{name}{BETWEEN}{key}": value for key, value in scalars.items()}
            yield {"loss": scalars["loss"]} | told

    def clipped(self) -> dict[str, nn.Module]:
        """Each network for itself."""
        return {f"{name}{BETWEEN}": member for name, member in self._named()}

    def parameter_groups(
        self, weight_decay: float, layer_decay: float | None = None
    ) -> list[dict[str, Any]]:
        return [group for _, member in self._named()
                for group in member.parameter_groups(weight_decay, layer_decay)]  # fmt: skip

    def after_step(self, step: int, steps: int) -> None:
        for _, member in self._named():
            member.after_step(step, steps)

    def compile(self, *args: Any, **kwargs: Any) -> None:
        for _, member in self._named():
            member.compile(*args, **kwargs)

    def _named(self) -> list[tuple[str, TwoViewObjective]]:
        return list(self.members.items())  # type: ignore[arg-type]


def history_of(name: str, together: pd.DataFrame) -> pd.DataFrame:
    """The history of one network, from that of a training of :class:`Siblings`."""
    prefix = f"{name}{BETWEEN}"
    others = [key for key in together.columns if key == "loss" or BETWEEN in key]
    own = {key: key.removeprefix(prefix) for key in together.columns if key.startswith(prefix)}
    return together.drop(columns=[key for key in others if key not in own]).rename(columns=own)
