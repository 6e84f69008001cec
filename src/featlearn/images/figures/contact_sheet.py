"""Contact sheets: part-composed images beside their masks, the alphabet of parts, scenes."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from matplotlib.lines import Line2D
from matplotlib.patches import Rectangle

from featlearn.core.plots import COLOURS, FILLS, canvas

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from torch import Tensor

    from featlearn.images.pictures import Pictures
    from featlearn.images.scenes import ScenePictures
    from featlearn.images.world import World

#: Outline of what a part is to its image.
OUTLINES = {
    "strong": ("part of the class", COLOURS["ink"]),
    "weak": ("part of the class, faint", COLOURS["blue"]),
    "distractor": ("part of another class", COLOURS["red"]),
}


def contact_sheet(pictures: Pictures, classes: int = 5, columns: int = 4) -> Figure:
    """Images of the first classes, one class a row, and below each the outlines of its parts.

    The last column shows a single-view image of the class where there is one.

    Parameters
    ----------
    pictures
        Enough images to hold ``columns`` of each class shown.
    classes, columns
        How many classes and images of each.
    """
    shown = min(classes, len(pictures.parts_of_class))
    drawn = canvas(8.2, 0.6 + shown * (6.9 / (2 * columns) + 0.2))
    axes = drawn.subplots(shown, 2 * columns, squeeze=False)
    seen: set[str] = set()
    for label in range(shown):
        numbers = _chosen(pictures, label, columns)
        for column, number in enumerate(numbers):
            picture, outline = axes[label, 2 * column], axes[label, 2 * column + 1]
            _picture(picture, pictures.images[number])
            seen |= _outlined(outline, pictures, number)
            if label == 0:
                picture.set_title("image", fontsize=8, weight="normal")
                outline.set_title("its parts", fontsize=8, weight="normal")
            if pictures.single_view[number]:
                picture.set_xlabel("single-view", fontsize=8, labelpad=2)
        for column in range(2 * len(numbers), 2 * columns):
            axes[label, column].set_axis_off()
        names = [pictures.part_names[part] for part in pictures.parts_of_class[label]]
        axes[label, 0].set_ylabel(
            "\n".join([f"class {label + 1}", *names]),
            fontsize=8,
            rotation=0,
            ha="right",
            va="center",
        )
    marks = [
        Line2D([], [], color=colour, label=name)
        for kind, (name, colour) in OUTLINES.items()
        if kind in seen
    ]
    drawn.legend(handles=marks, loc="outside lower center", ncols=len(marks), fontsize=8)
    return drawn


def _chosen(pictures: Pictures, label: int, columns: int) -> list[int]:
    """Numbers of the first multi-view images of a class, then of a single-view one."""
    own = (pictures.labels == label).nonzero().squeeze(1).tolist()
    single = [number for number in own if pictures.single_view[number]]
    multi = [number for number in own if not pictures.single_view[number]]
    last = single[:1]
    return (multi[: columns - len(last)] + last + single[1:])[:columns]


def _picture(ax: Axes, image: Tensor) -> None:
    """An image pixel by pixel, without ticks."""
    ax.imshow(image.permute(1, 2, 0).numpy(), interpolation="nearest")
    ax.set_xticks([])
    ax.set_yticks([])
    ax.grid(visible=False)
    for spine in ax.spines.values():
        spine.set_visible(False)


def _outlined(ax: Axes, pictures: Pictures, number: int) -> set[str]:
    """The masks of an image in its own colours on white, outlined by what each part is: the kinds."""
    kinds = set()
    masks = pictures.part_masks(slice(number, number + 1))[0]
    image = pictures.images[number].permute(1, 2, 0).numpy()
    anywhere = masks.any(0).numpy()
    _picture(ax, pictures.images[number])
    ax.images[0].set_data(np.where(anywhere[..., None], image, 255))
    strengths, mine = pictures.strengths[number], pictures.own[number]
    view = int(pictures.view[number])
    for part in strengths.nonzero().squeeze(1).tolist():
        kind = "strong" if mine[part] else "distractor"
        if mine[part] and view >= 0:
            strong = int(pictures.parts_of_class[pictures.labels[number], view])
            kind = "strong" if part == strong else "weak"
        kinds.add(kind)
        across, down = _outline(masks[part].numpy())
        ax.plot(across, down, color=OUTLINES[kind][1], linewidth=1)
    size = image.shape[0]
    ax.set(xlim=(-0.5, size - 0.5), ylim=(size - 0.5, -0.5))
    ax.add_patch(
        Rectangle((-0.5, -0.5), size, size, fill=False, edgecolor=FILLS["frame"], linewidth=0.8)
    )
    return kinds


def _outline(mask: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Border of a mask along the edges of its pixels: x and y of pieces, parted by NaN."""
    framed = np.pad(mask, 1).astype(np.int8)
    down, across = np.nonzero(np.diff(framed, axis=1)[1:-1])  # upright edges
    upright = np.stack([[across, across, across], [down, down + 1, down]], 0).astype(float) - 0.5
    below, right = np.nonzero(np.diff(framed, axis=0)[:, 1:-1])
    level = np.stack([[right, right + 1, right], [below, below, below]], 0).astype(float) - 0.5
    x, y = np.concatenate([upright, level], axis=2)
    x[2] = np.nan
    return x.T.ravel(), y.T.ravel()


def part_alphabet(world: World, classes: int | None = None) -> Figure:
    """The parts of each class, one class a column, with their names."""
    shown = min(classes or world.dials.classes, world.dials.classes)
    views = world.dials.parts_per_class
    drawn = canvas(max(4.0, 0.82 * shown), 0.2 + 1.12 * views)
    axes = drawn.subplots(views, shown, squeeze=False)
    for label in range(shown):
        for view in range(views):
            ax = axes[view, label]
            part = int(world.parts_of_class[label, view])
            _part(ax, world, part)
            ax.set_xlabel(world.names[part].replace(" ", "\n"), fontsize=8, labelpad=2)
            if view == 0:
                ax.set_title(f"class {label + 1}", fontsize=8)
    for view in range(views):
        axes[view, 0].set_ylabel(f"part {view + 1}", fontsize=8)
    return drawn


def _part(ax: Axes, world: World, part: int) -> None:
    """A part on grey, in the middle of its axes."""
    middle = world.stamps.pixels.shape[1] // 2
    stamp = world.stamps.pixels[part, middle].permute(2, 0, 1)
    _picture(ax, (stamp[:3] + 0.5 * (1 - stamp[3:])).clamp(0, 1))
    height, width = (world.stamps.size[part, middle] - 1).tolist()
    half = len(stamp[0]) / 2 + 0.5
    ax.set_facecolor((0.5, 0.5, 0.5))
    ax.set(xlim=(width / 2 - half, width / 2 + half), ylim=(height / 2 + half, height / 2 - half))


def scene_sheet(scenes: ScenePictures, rows: int = 2, columns: int = 4) -> Figure:
    """Scenes with a box and the class around each object."""
    drawn = canvas(8.2, 0.1 + rows * 8.2 / columns)
    axes = drawn.subplots(rows, columns, squeeze=False)
    for number, ax in enumerate(axes.flat):
        if number >= len(scenes):
            ax.set_axis_off()
            continue
        _picture(ax, scenes.images[number])
        for box, label in zip(
            scenes.boxes[number].tolist(), scenes.labels[number].tolist(), strict=True
        ):
            if label >= 0:
                _boxed(ax, box, f"class {label + 1}")
    return drawn


def _boxed(ax: Axes, box: list[float], text: str) -> None:
    x0, y0, x1, y1 = (edge - 0.5 for edge in box)  # pixel 0 reaches from -0.5 to 0.5
    ax.add_patch(
        Rectangle((x0, y0), x1 - x0, y1 - y0, fill=False, edgecolor="white", linewidth=1.4)
    )
    ax.text(
        x0, y0, text, fontsize=8, color="white", va="bottom", ha="left",
        bbox={"facecolor": COLOURS["ink"], "edgecolor": "none", "pad": 0.8, "alpha": 0.8},
    )  # fmt: skip
