"""The dials of part-composed images, and which values contradict each other. No torch in here."""

from __future__ import annotations

import difflib
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Any, ClassVar

from featlearn.core.errors import ConfigError

#: Ways to give classes their parts, beside a list of part numbers for every class.
CLASS_PARTS = ("own", "mixed", "half_new", "new")
#: What tells the parts of a view apart, beside their shape.
PART_KINDS = ("both", "colour", "texture")
#: How the parts of an image are laid out.
PLACEMENTS = ("random", "cells", "fixed", "group")
#: What a background is made of.
BACKGROUNDS = ("gradient", "blobs", "waves")
#: How many parts can be told apart: 20 shapes, each in 10 colours or 7 textures.
MOST_PARTS = 140
#: Below this many pixels no shape can be told from another.
LEAST_PIXELS = 4


@dataclass(frozen=True)
class WorldDials:
    """Settings of a world of part-composed images; the paper's symbols are in brackets.

    Parameters
    ----------
    image_size
        Side of the images in pixels.
    classes [k], parts_per_class
        Sizes. The paper has two characteristic features a class.
    class_parts
        Which parts a class has. Part ``parts_per_class * i + l`` is view ``l`` of class ``i``.
        ``own``: class ``i`` has the parts of number ``i``. ``mixed``: view ``l`` of class ``i`` is
        that of class ``i + l``, so each class is made of parts of several old ones. ``half_new``:
        view 0 is that of the old class, the others are new. ``new``: all are new. Or a list of
        part numbers for every class. A part of one number is the same in every world that
        differs in its classes only.
    alphabet
        Seed of the look of the parts: which shape, texture and colours part 0, 1, ... has.
    part_size
        Diameter of a part: below 1 a share of the image's side, else pixels.
    part_kinds, part_scales, part_contrasts
        One value for every view, or one for all. Kind: parts differ in colour and texture
        (``both``), in colour only (``colour``), or are grey and differ in texture (``texture``);
        all differ in shape. Scale: factor on the diameter. Contrast: factor on the strength.
    single_view_share [mu]
        Probability that an image is single-view: one part of its class strong, the others weak.
    weak_strength [rho]
        Strength of the weak parts of a single-view image, as a share of a main one; 0: absent.
    main_strength, off_strength
        Ranges ``(low, high)`` of the strength of the own class's parts and of the distractors,
        uniform. A strength is an opacity: 1 hides the background, 0.1 lets 90 % of it through.
    sparsity [s]
        Each part of another class is a distractor of the image with probability ``s / k``.
    most_distractors
        More distractors than this are thinned out at random; None: as many as find room.
    placement
        ``random``: anywhere without overlap. ``cells``: in random cells of a grid. ``fixed``: view
        ``l`` always in the same cell. ``group``: the class's parts side by side, in the order of
        the views, as one group at a random place. Distractors go to other random cells.
    rotation, scaling, variants
        Jitter: rotation by up to ``rotation`` degrees, size by up to the share ``scaling``, in
        ``variants`` combinations a part, which are drawn beforehand.
    background, background_kinds
        Contrast of the background's structure (0: plain grey), and what it consists of.
    noise
        Standard deviation of the Gaussian noise of a pixel's channel; black to white is 1.
    """

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
    background_kinds: Sequence[str] = BACKGROUNDS
    noise: float = 0.03

    @classmethod
    def from_settings(cls, settings: Mapping[str, Any]) -> WorldDials:
        """The dials that ``settings`` sets; the others keep their defaults.

        Raises
        ------
        ConfigError
            Naming every key that is unknown, impossible or contradicts another.
        """
        found = list(world_faults(settings, cls.section))
        if found:
            raise ConfigError("\n".join(found))
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
    """Settings of scenes of several part-composed objects.

    Classes, looks of parts, strengths, background and noise are those of a world.

    Parameters
    ----------
    image_size
        Side of the images in pixels.
    objects
        Fewest and most objects of an image; every number in between is as likely. An object that
        finds no room beside the others is left out; the first one always does.
    object_size
        Length of the smallest and of the largest object: below 1 a share of the image's side,
        else pixels.
    single_view_share
        Probability that an object shows one of its parts at full strength, the others weakly.
    clutter
        Loose parts an image, at the strength of distractors. Objects may hide them.
    body
        Opacity of the plain body that an object's parts sit on; 0: none.
    """

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


#: Least and greatest value of every dial that is a number.
_LIMITS: dict[str, tuple[float, float]] = {
    "image_size": (8, 4096),
    "classes": (2, 1000),
    "parts_per_class": (1, 16),
    "part_size": (1e-3, 4096),
    "single_view_share": (0, 1),
    "weak_strength": (0, 1),
    "sparsity": (0, 1000),
    "most_distractors": (0, 1000),
    "rotation": (0, 180),
    "scaling": (0, 0.5),
    "variants": (1, 256),
    "background": (0, 1),
    "noise": (0, 1),
}
_CHOICES = {
    "placement": PLACEMENTS,
    "part_kinds": PART_KINDS,
    "background_kinds": BACKGROUNDS,
}


def world_faults(settings: Mapping[str, Any], key: str) -> Iterator[str]:
    """One line for each dial of a world that is impossible or contradicts another.

    Parameters
    ----------
    settings
        Dials as in :class:`WorldDials`; absent ones have their defaults.
    key
        Where they stand in the config, for the messages.
    """
    unknown = list(_unknown_faults(settings, WorldDials, key))
    if unknown:
        yield from unknown
        return
    dials = WorldDials(**settings)
    single = [*_range_faults(dials, key), *_choice_faults(dials, key), *_view_faults(dials, key)]
    if not single:
        single = list(_class_part_faults(dials, key))
    yield from single
    if not single:
        yield from _fit_faults(dials, key)


def _unknown_faults(settings: Mapping[str, Any], dials: type, key: str) -> Iterator[str]:
    known = [field.name for field in fields(dials)]
    for name in settings:
        if name not in known:
            near = difflib.get_close_matches(str(name), known, n=1)
            hint = f"did you mean {near[0]!r}?" if near else f"expected one of {', '.join(known)}"
            yield f"{key}.{name}: unknown key; {hint}"


def _limit_faults(
    dials: object, limits: Mapping[str, tuple[float, float]], key: str
) -> Iterator[str]:
    for name, (low, high) in limits.items():
        value = getattr(dials, name)
        if value is not None and not low <= value <= high:
            yield f"{key}.{name}: {value}; expected {low:g} to {high:g}"


def _range_faults(dials: WorldDials, key: str) -> Iterator[str]:
    yield from _limit_faults(dials, _LIMITS, key)
    for name in ("main_strength", "off_strength"):
        low, high = getattr(dials, name)
        if not 0 <= low <= high <= 1:
            yield f"{key}.{name}: [{low}, {high}]; expected the lower end first, within 0 to 1"
    if dials.main_strength[0] <= 0:
        yield f"{key}.main_strength: {list(dials.main_strength)}; expected a lower end above 0"
    if dials.sparsity > dials.classes:
        yield (
            f"{key}.sparsity: {dials.sparsity}; expected at most classes ({dials.classes}): "
            "a part of another class appears with probability sparsity / classes"
        )


def _choice_faults(dials: WorldDials, key: str) -> Iterator[str]:
    for name, allowed in _CHOICES.items():
        value = getattr(dials, name)
        for one in [value] if isinstance(value, str) else value:
            if one not in allowed:
                yield f"{key}.{name}: {one!r}; expected one of {', '.join(allowed)}"


def _view_faults(dials: WorldDials, key: str) -> Iterator[str]:
    for name in ("part_kinds", "part_scales", "part_contrasts"):
        values = getattr(dials, name)
        if len(values) not in (1, dials.parts_per_class):
            yield (
                f"{key}.{name}: {list(values)}; expected one value, or one for each of the "
                f"{dials.parts_per_class} parts of a class"
            )
    for name in ("part_scales", "part_contrasts"):
        for value in getattr(dials, name):
            if not 0 < value <= 1:
                yield f"{key}.{name}: {value}; expected above 0 and at most 1"


def _class_part_faults(dials: WorldDials, key: str) -> Iterator[str]:
    chosen = dials.class_parts
    if isinstance(chosen, str):
        if chosen not in CLASS_PARTS:
            yield (
                f"{key}.class_parts: {chosen!r}; expected one of {', '.join(CLASS_PARTS)}, "
                "or a list of part numbers for every class"
            )
            return
        if chosen == "mixed" and dials.parts_per_class > dials.classes:
            yield (
                f"{key}.class_parts: mixed; expected at least parts_per_class "
                f"({dials.parts_per_class}) classes: each part comes from another class"
            )
    else:
        yield from _listed_faults(dials, chosen, key)
        return
    if dials.parts > MOST_PARTS:
        yield f"{key}.classes: {dials.parts} parts in all; expected at most {MOST_PARTS}"


def _listed_faults(dials: WorldDials, chosen: Sequence[Sequence[int]], key: str) -> Iterator[str]:
    if len(chosen) != dials.classes:
        yield f"{key}.class_parts: {len(chosen)} lists; expected classes ({dials.classes})"
    for i, parts in enumerate(chosen):
        at = f"{key}.class_parts.{i}: {list(parts)}"
        if len(parts) != dials.parts_per_class or len(set(parts)) != len(parts):
            yield f"{at}; expected {dials.parts_per_class} different part numbers"
        if any(not 0 <= part < MOST_PARTS for part in parts):
            yield f"{at}; expected part numbers from 0 to {MOST_PARTS - 1}"
    for i, parts in enumerate(chosen):
        twins = [j for j in range(i) if set(chosen[j]) == set(parts)]
        if twins:
            yield f"{key}.class_parts.{i}: {list(parts)}; expected unlike class {twins[0]}"


def _fit_faults(dials: WorldDials, key: str) -> Iterator[str]:
    smallest = dials.pixels * min(dials.part_scales) * (1 - dials.scaling)
    if smallest < LEAST_PIXELS:
        yield (
            f"{key}.part_size: {dials.part_size}; expected parts of at least {LEAST_PIXELS} pixels "
            f"at the smallest scale and jitter; they have {smallest:.1f}"
        )
    views, grid = dials.parts_per_class, dials.grid
    if grid**2 < views:
        yield (
            f"{key}.part_size: {dials.part_size}; expected room for {views} parts a class: an "
            f"image of {dials.image_size} pixels has {grid} x {grid} cells of {dials.stamp} pixels"
        )


_SCENE_LIMITS: dict[str, tuple[float, float]] = {
    "image_size": (16, 4096),
    "single_view_share": (0, 1),
    "clutter": (0, 100),
    "body": (0, 1),
}


def scene_faults(settings: Mapping[str, Any], key: str, parts_per_class: int) -> Iterator[str]:
    """One line for each dial of scenes that is impossible or contradicts another.

    Parameters
    ----------
    settings
        Dials as in :class:`SceneDials`; absent ones have their defaults.
    key
        Where they stand in the config, for the messages.
    parts_per_class
        Of the world that the objects are from.
    """
    unknown = list(_unknown_faults(settings, SceneDials, key))
    if unknown:
        yield from unknown
        return
    dials = SceneDials(**settings)
    wrong = [*_limit_faults(dials, _SCENE_LIMITS, key), *_object_faults(dials, key)]
    yield from wrong or _scene_fit_faults(dials, key, parts_per_class)


def _object_faults(dials: SceneDials, key: str) -> Iterator[str]:
    fewest, most = dials.objects
    if not 1 <= fewest <= most:
        yield f"{key}.objects: [{fewest}, {most}]; expected at least 1, the lower end first"
    small, large = dials.object_size
    if not 0 < small <= large:
        yield f"{key}.object_size: [{small}, {large}]; expected above 0, the lower end first"


def _scene_fit_faults(dials: SceneDials, key: str, parts_per_class: int) -> Iterator[str]:
    columns = group_shape(parts_per_class)[1]
    pixels = PART_SHARE * dials.lengths[0] / columns
    if pixels < LEAST_PIXELS:
        yield (
            f"{key}.object_size: {list(dials.object_size)}; expected parts of at least "
            f"{LEAST_PIXELS} pixels on the smallest object; they have {pixels:.1f}"
        )
    if dials.stamp(parts_per_class) > dials.image_size:
        yield (
            f"{key}.object_size: {list(dials.object_size)}; expected the largest object to fit at "
            f"any angle: its diagonal is {dials.stamp(parts_per_class)} pixels, the image's side "
            f"{dials.image_size}"
        )
