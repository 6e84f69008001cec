"""SWAD: a dense average of weights in the valley of the validation loss (Cha et al. 2021)."""

from __future__ import annotations

import copy
import math
from collections import deque
from collections.abc import Mapping, Sequence
from typing import Any

from torch import Tensor

from featlearn.core.files import below

State = dict[str, Tensor]


def under(prefix: str, state: Mapping[str, Tensor]) -> State:
    """The same tensors as ``prefix/name``: :func:`featlearn.core.files.below` undoes it."""
    return {f"{prefix}/{name}": value for name, value in state.items()}


class Average:
    """A running mean of weights; ``loss`` is the validation loss at the end of a segment."""

    def __init__(self) -> None:
        self.state: State = {}
        self.count, self.loss = 0, math.inf

    @classmethod
    def of(cls, state: State, count: int, loss: float = math.inf) -> Average:
        """The mean ``state`` of ``count`` weights."""
        made = cls()
        made.state, made.count, made.loss = state, count, loss
        return made

    def add(self, state: State, count: int = 1) -> None:
        """Take ``count`` times ``state`` into the mean."""
        self.count += count
        share = count / self.count
        for key, value in state.items():
            if key not in self.state:
                self.state[key] = value.clone()
            elif value.is_floating_point():
                self.state[key].lerp_(value, share)


class Swad:
    """Dense averaging in the valley of the validation loss (Cha et al. 2021, Algorithm 1).

    ``converge``: segments of which the first must be the lowest for the valley to begin (N_s).
    ``tolerance``: segments that must all lie above the threshold for it to end (N_e). ``ratio``:
    the threshold is the mean loss of the ``converge`` segments times 1 + ratio.
    """

    def __init__(self, converge: int, tolerance: int, ratio: float):
        self.ratio = ratio
        self.start: deque[Average] = deque(maxlen=converge)
        self.smooth: deque[Average] = deque(maxlen=tolerance)
        self.threshold: float | None = None
        self.dead = False
        self.mean, self.segments = Average(), 0

    def add(self, segment: Average, loss: float) -> None:
        """A segment's mean weights, and the validation loss at its end."""
        if self.dead:
            return
        one = copy.copy(segment)
        one.loss = loss
        self.start.append(one)
        self.smooth.append(one)
        if self.threshold is None:
            full = len(self.start) == self.start.maxlen
            if not full or min(own.loss for own in self.start) < self.start[0].loss:
                return
            self.threshold = (
                sum(own.loss for own in self.start) / len(self.start) * (1 + self.ratio)
            )
            # of what came before, back to the first that lies above the threshold
            before = list(self.smooth)[: -len(self.start)]
            kept: list[Average] = []
            for own in reversed(before):
                if own.loss > self.threshold:
                    break
                kept.insert(0, own)
            self._take([*kept, self.start[0]])
            self.smooth = deque(list(self.start)[1:], maxlen=self.smooth.maxlen)
        elif len(self.smooth) == self.smooth.maxlen:
            self._drop_or_die()

    def _drop_or_die(self) -> None:
        assert self.threshold is not None
        if min(own.loss for own in self.smooth) > self.threshold:
            self.dead = True
        else:
            self._take([self.smooth.popleft()])

    def _take(self, segments: Sequence[Average]) -> None:
        for own in segments:
            self.mean.add(own.state, own.count)
            self.segments += 1

    def finish(self) -> tuple[State, int]:
        """The dense average and how many segments it holds; the last segment if none converged."""
        if self.threshold is None:
            return self.start[-1].state, 0
        while not self.dead and self.smooth:
            self._drop_or_die()
        return self.mean.state, self.segments

    def kept(self) -> tuple[State, dict[str, Any]]:
        """What the rest depends on, to go on from: tensors by name, and plain values."""
        # most segments lie in both queues
        every = {id(one): one for one in (*self.start, *self.smooth)}
        place = {key: str(number) for number, key in enumerate(every)}
        tensors = under("mean", self.mean.state)
        for key, one in every.items():
            tensors |= under(place[key], one.state)
        return tensors, {
            "every": {place[key]: [one.count, one.loss] for key, one in every.items()},
            "start": [place[id(one)] for one in self.start],
            "smooth": [place[id(one)] for one in self.smooth],
            "threshold": self.threshold,
            "dead": self.dead,
            "mean": self.mean.count,
            "segments": self.segments,
        }

    def go_on(self, tensors: Mapping[str, Tensor], plain: Mapping[str, Any]) -> None:
        """Undo :meth:`kept`, right after the start."""
        every = {place: Average.of(below(place, tensors), count, loss)
                 for place, (count, loss) in plain["every"].items()}  # fmt: skip
        self.start.extend(every[place] for place in plain["start"])
        self.smooth.extend(every[place] for place in plain["smooth"])
        self.threshold, self.dead = plain["threshold"], plain["dead"]
        self.mean = Average.of(below("mean", tensors), plain["mean"])
        self.segments = plain["segments"]
