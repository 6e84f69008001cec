"""Vectors of the linear data model (section 7.2.2), with a label a task.

Latent features stand in blocks: s shared, q of each task, spurious ones. A sample of task t has
zeros in the blocks of other tasks; its view draws the spurious block anew. A network sees the
latent vector, turned by a random orthogonal matrix.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import torch
from torch import Tensor


class World(NamedTuple):
    """R independent worlds of the same sizes."""

    shared: int
    private: int
    spurious: int
    tasks: int
    turn: Tensor  #: (R, d, d) orthogonal (M)
    labels: Tensor  #: (R, tasks, classes, s + q): the class is the largest of these

    @property
    def width(self) -> int:
        return self.shared + self.private * self.tasks + self.spurious


def draw_world(
    sizes: tuple[int, int, int], tasks: int, classes: int, random: Sequence[torch.Generator]
) -> World:
    """Rotations and labels, a generator a replicate."""
    shared, private, spurious = sizes
    width = shared + private * tasks + spurious
    turns = [torch.linalg.qr(torch.randn(width, width, generator=own))[0] for own in random]
    labels = [torch.randn(tasks, classes, shared + private, generator=own) for own in random]
    return World(*sizes, tasks, torch.stack(turns), torch.stack(labels))


def draw_latent(
    world: World, tasks: Tensor, random: Sequence[torch.Generator]
) -> tuple[Tensor, Tensor]:
    """Shared features (R, n, s) and those of a sample's own task (R, n, q)."""
    shape = (tasks.shape[-1], world.shared + world.private)
    own = torch.stack([torch.randn(shape, generator=one) for one in random])
    return own[..., : world.shared], own[..., world.shared :]


def seen(world: World, latent: tuple[Tensor, Tensor], tasks: Tensor, noise: Tensor) -> Tensor:
    """A view (R, n, d) of samples of ``tasks`` (n,) or (R, n) with ``noise`` (R, n, spurious)."""
    shared, private = latent
    blocks = torch.nn.functional.one_hot(tasks, world.tasks).to(private.dtype)
    spread = (blocks[..., None] * private[..., None, :]).flatten(-2)
    return torch.cat([shared, spread, noise], -1) @ world.turn.mT


def noise_of(world: World, count: int, random: Sequence[torch.Generator]) -> Tensor:
    """Spurious features (R, n, spurious) of a view."""
    return torch.stack([torch.randn(count, world.spurious, generator=own) for own in random])


def classes_of(world: World, latent: tuple[Tensor, Tensor], task: int) -> Tensor:
    """Class of each sample of one task, int64 (R, n)."""
    return (torch.cat(latent, -1) @ world.labels[:, task].mT).argmax(-1)
