"""Several networks trained on the same views, each for itself."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import pandas as pd
from torch import Tensor, nn

from featlearn.images.draws import Draws
from featlearn.images.methods.two_view import TwoViewObjective
from featlearn.images.objective import Objective

#: Between the name of a network and that of its scalar.
BETWEEN = "/"


class Siblings(Objective):
    """Networks that share the views that they see, and nothing else.

    Each ends as if it were trained alone on the same streams; but the views, a quarter of a step of
    a small network, are made once for all. Only the graph of one network is in memory at a time.

    Parameters
    ----------
    members
        By name. The augmentation of the first makes the views of all.

    Raises
    ------
    ValueError
        If a member changes the views, as adversarial training does: it cannot share them.
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
        """Those of all networks."""
        return [
            group
            for _, member in self._named()
            for group in member.parameter_groups(weight_decay, layer_decay)
        ]

    def after_step(self, step: int, steps: int) -> None:
        """What each network does then."""
        for _, member in self._named():
            member.after_step(step, steps)

    def compile(self, *args: Any, **kwargs: Any) -> None:
        """Compile each network in place."""
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
