"""The dials of part-composed images, and which values contradict each other. No torch in here.

What a dial may be by itself is in the schema: ``picture_world``, ``picture_scenes``.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from featlearn.core.errors import ConfigError
from featlearn.core.run.checks import Checks

#: How many parts can be told apart: 20 shapes, each in 10 colours or 7 textures.
MOST_PARTS = 140
#: Below this many pixels no shape can be told from another.
LEAST_PIXELS = 4


@dataclass(frozen=True)
class WorldDials:
    """Dials of a world of part-composed images: ``picture_world`` of shared.schema.yaml."""

    section: ClassVar[str] = "world"

    image_size: int = 32
    classes: int = 10
    parts_per_class: int = 2
    class_parts: str | Sequence[Sequence[int]] = "own"
    alphabet: int = 0
    part_size: float = 10
    part_kinds: Sequence[str] = ("both",)
    part_scales: Sequence[float] = (1.0,)
    part_contrasts: Sequence[float] = (1.0,)
    single_view_share: float = 0.0
    weak_strength: float = 0.1
    main_strength: Sequence[float] = (0.8, 1.0)
    off_strength: Sequence[float] = (0.2, 0.4)
    sparsity: float = 1.0
    most_distractors: int | None = None
    placement: str = "random"
    rotation: float = 15.0
    scaling: float = 0.1
    variants: int = 16
    background: float = 0.5
    background_kinds: Sequence[str] = ("gradient", "blobs", "waves")
    noise: float = 0.03

    @classmethod
    def from_settings(cls, settings: Mapping[str, Any]) -> WorldDials:
        """The dials that ``settings`` sets, else defaults; ConfigError naming what contradicts."""
        if faults := world_faults(settings, cls.section):
            raise ConfigError("\n".join(faults))
        return cls(**settings)

    @property
    def pixels(self) -> float:
        """Diameter in pixels of a part of scale 1, before jitter."""
        return _pixels(self.part_size, self.image_size)

    @property
    def stamp(self) -> int:
        """Side in pixels of a square that holds any part at any jitter."""
        largest = self.pixels * max(self.part_scales) * (1 + self.scaling)
        return math.ceil(round(largest, 6))

    @property
    def grid(self) -> int:
        """Cells a side of the grid on which parts always find room."""
        return self.image_size // self.stamp

    def of_view(self, values: Sequence[Any], view: int) -> Any:
        """The value of ``view`` in a dial that has one for every view, or one for all."""
        return values[view if len(values) > 1 else 0]

    @property
    def parts_of_class(self) -> list[list[int]]:
        """Part numbers of every class, in the order of its views."""
        k, views = self.classes, range(self.parts_per_class)
        if not isinstance(self.class_parts, str):
            return [list(parts) for parts in self.class_parts]
        first_new = {"own": None, "mixed": None, "half_new": 1, "new": 0}[self.class_parts]
        step = 1 if self.class_parts == "mixed" else 0

        def home(i: int, view: int) -> int:
            if first_new is not None and view >= first_new:
                return k + i
            return (i + step * view) % k

        return [[home(i, view) * len(views) + view for view in views] for i in range(k)]

    @property
    def parts(self) -> int:
        """Number of parts of the alphabet that the classes need."""
        return 1 + max(max(parts) for parts in self.parts_of_class)


@dataclass(frozen=True)
class SceneDials:
    """Dials of scenes of part-composed objects: ``picture_scenes`` of images.schema.yaml."""

    image_size: int = 96
    objects: Sequence[int] = (1, 3)
    object_size: Sequence[float] = (0.3, 0.45)
    single_view_share: float = 0.0
    clutter: int = 3
    body: float = 0.85

    @property
    def lengths(self) -> tuple[float, float]:
        """Length in pixels of the smallest and of the largest object."""
        small, large = (_pixels(size, self.image_size) for size in self.object_size)
        return small, large

    def body_corner(self, parts: int) -> tuple[float, float]:
        """Half width and half height of a body, as shares of its half diagonal."""
        rows, columns = group_shape(parts)
        return columns / math.hypot(rows, columns), rows / math.hypot(rows, columns)

    def stamp(self, parts: int) -> int:
        """Side in pixels of a square that holds any object at any angle."""
        return math.ceil(round(self.lengths[1] / self.body_corner(parts)[0], 6))


#: Diameter of an object's part, as a share of the room that it has on the body.
PART_SHARE = 0.86


def group_shape(parts: int) -> tuple[int, int]:
    """Rows and columns in which ``parts`` parts stand side by side: as square as can be."""
    columns = math.ceil(math.sqrt(parts))
    return math.ceil(parts / columns), columns


def _pixels(size: float, image_size: int) -> float:
    return size * image_size if size < 1 else size


def world_faults(settings: Mapping[str, Any], path: str) -> list[str]:
    """A line for each contradiction of the dials of a world at ``path``: :class:`WorldDials`."""
    dials = WorldDials(**settings)
    check = Checks(path, vars(dials))
    for name in ("main_strength", "off_strength"):
        low, high = getattr(dials, name)
        check(name, low <= high, "a range, the lower end first")
    check("main_strength", dials.main_strength[0] > 0, "a range with a lower end above 0")
    why = "a part of another class appears with probability sparsity / classes"
    check.most("sparsity", "classes", why)
    parts = dials.parts_per_class
    for name in ("part_kinds", "part_scales", "part_contrasts"):
        wanted = f"one value, or one for each of the {parts} parts of a class"
        check(name, len(getattr(dials, name)) in (1, parts), wanted)
    if check.faults:
        return check.faults
    _check_class_parts(check, dials)
    return check.faults or _fit_faults(check, dials)


def _check_class_parts(check: Checks, dials: WorldDials) -> None:
    chosen, size = dials.class_parts, dials.parts_per_class
    if isinstance(chosen, str):
        wanted = f"with at least {size} classes for mixed: each part is from another class"
        check("classes", chosen != "mixed" or size <= dials.classes, wanted)
        wanted = f"so few that there are at most {MOST_PARTS} parts in all"
        check("classes", dials.parts <= MOST_PARTS, wanted, f"{dials.parts} parts")
        return
    right = len(chosen) == dials.classes
    check("class_parts", right, f"a list for each of the classes ({dials.classes})")
    for i, parts in enumerate(chosen):
        shown = list(parts)
        right = len(parts) == size and len(set(parts)) == size
        check(f"class_parts.{i}", right, f"{size} different part numbers", shown)
        twins = [j for j in range(i) if set(chosen[j]) == set(parts)]
        check(f"class_parts.{i}", not twins, f"unlike those of class {twins[:1]}", shown)


def _fit_faults(check: Checks, dials: WorldDials) -> list[str]:
    smallest = dials.pixels * min(dials.part_scales) * (1 - dials.scaling)
    wanted = f"so large that parts have {LEAST_PIXELS} pixels at the smallest scale and jitter"
    check("part_size", smallest >= LEAST_PIXELS, wanted, f"{dials.part_size}: {smallest:.1f}")
    views, grid = dials.parts_per_class, dials.grid
    wanted = (
        f"so small that {views} parts find room: an image of {dials.image_size} pixels has "
        f"{grid} x {grid} cells of {dials.stamp} pixels"
    )
    check("part_size", grid**2 >= views, wanted)
    return check.faults


def scene_faults(settings: Mapping[str, Any], path: str, parts_per_class: int) -> list[str]:
    """The same of :class:`SceneDials`, in scenes of objects with ``parts_per_class`` parts."""
    dials = SceneDials(**settings)
    check = Checks(path, vars(dials))
    fewest, most = dials.objects
    check("objects", fewest <= most, "a range, the lower end first")
    small, large = dials.object_size
    check("object_size", small <= large, "a range, the lower end first")
    if check.faults:
        return check.faults
    pixels = PART_SHARE * dials.lengths[0] / group_shape(parts_per_class)[1]
    wanted = f"so large that parts of the smallest object have {LEAST_PIXELS} pixels"
    check("object_size", pixels >= LEAST_PIXELS, wanted, f"{small}: {pixels:.1f}")
    diagonal = dials.stamp(parts_per_class)
    wanted = f"so small that the largest object fits in {dials.image_size} pixels at any angle"
    right = diagonal <= dials.image_size
    check("object_size", right, wanted, f"{large}, whose diagonal has {diagonal}")
    return check.faults
