"""Two drawings of what is trained: Figures 2 and 6, redrawn by us (section 3.2 and appendix H).

Both follow one example sample with one fixed mask; ``_activations`` computes the tints, so that masked patches, sums
and scales agree with the formulas. Positions are in inches from the lower left corner.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from matplotlib.axes import Axes
from matplotlib.colors import to_rgb
from matplotlib.figure import Figure
from matplotlib.patches import FancyArrowPatch, FancyBboxPatch, Patch, Rectangle
from matplotlib.path import Path as Polyline

from featlearn.core.drawing.plots import COLOURS, canvas
from featlearn.core.run.exhibits import figure

Colour = str | tuple[float, float, float]
Point = tuple[float, float]

WIDTH, HEIGHT = 7.0, 3.5
TEXT = 8.0
HEADING = 8.5
INK, GREY, RED = COLOURS["ink"], COLOURS["grey"], COLOURS["red"]

#: The example: what each patch holds (two patches a feature, C_p = 2), and which patches are kept.
SAMPLE = (
    *("own 1", "background", "other"),
    *("own 2", "own 1", "background"),
    *("other", "background", "own 2"),
)
KEPT = (True, False, True, True, False, False, False, True, True)
ALL = (True,) * len(SAMPLE)
#: Probability that a patch is kept, and the teacher's factor 1 + (1 - theta) / (C_p theta).
THETA = 0.5
TAU = 1 + (1 - THETA) / (2 * THETA)


def _tint(colour: str, share: float) -> tuple[float, float, float]:
    """``colour`` mixed with white: share 1 is the colour, 0 is white."""
    red, green, blue = (1 - share * (1 - channel) for channel in to_rgb(colour))
    return red, green, blue


class Kind(NamedTuple):
    """What a patch holds: how it is drawn, in words, and what each of six kernels answers to it.

    A patch is taken as proportional to the kernel; a trained one answers to one feature at most.
    """

    fill: Colour
    words: str
    answers: tuple[float, ...]


KINDS = {
    "own 1": Kind(COLOURS["blue"], r"feature 1 of the sample's class, $v_{y,1}$", (1, 0, 0, 0.6, 0, 0)),
    "own 2": Kind(COLOURS["orange"], r"feature 2 of the sample's class, $v_{y,2}$", (0, 0.9, 0, 0, 0, 0)),
    "other": Kind(COLOURS["green"], "a feature of another class", (0, 0, 0.35, 0, 0, 0.5)),
    "background": Kind(_tint(GREY, 0.3), "background", (0,) * 6),
}  # fmt: skip
#: One operation inside of a box, and the box of the loss.
CHIP: dict[str, Any] = {"rounding": 0.03, "edgecolor": GREY, "linewidth": 0.7}
LOSS: dict[str, Any] = {"size": HEADING, "facecolor": _tint(RED, 0.15), "edgecolor": RED}
ACTIVATION = COLOURS["purple"]
TRAINED = _tint(COLOURS["sky"], 0.2)


def _activations(kept: Sequence[bool]) -> np.ndarray:
    """Answers of the kernels to the example, (patches, kernels); a masked patch gives exactly 0."""
    return np.array([KINDS[kind].answers for kind in SAMPLE]) * np.array(kept)[:, None]


class Place:
    """A rectangle by its centre, with the points where arrows leave and arrive."""

    def __init__(self, x: float, y: float, width: float, height: float):
        self.x, self.y, self.width, self.height = x, y, width, height
        self.left, self.right = (x - width / 2, y), (x + width / 2, y)
        self.bottom, self.top = (x, y - height / 2), (x, y + height / 2)
        #: Lower left.
        self.corner = self.left[0], self.bottom[1]


def _canvas(title: str) -> tuple[Figure, Axes]:
    """An empty sheet whose coordinates are inches, under a title."""
    drawn = canvas(WIDTH, HEIGHT)
    # not canvas(layout="none"): its first savefig would bring the style's own layout back
    drawn.set_layout_engine("none")
    ax = drawn.add_axes((0, 0, 1, 1))
    ax.set(xlim=(0, WIDTH), ylim=(0, HEIGHT))
    ax.set_axis_off()
    _note(ax, 0.17, HEIGHT - 0.17, title, fontsize=10, weight="bold", ha="left")
    return drawn, ax


def _note(ax: Axes, x: float, y: float, text: str, **style: Any) -> None:
    """Text about a point, centred unless told otherwise."""
    look: dict[str, Any] = {"ha": "center", "va": "center", "color": INK, "fontsize": TEXT}
    ax.text(x, y, text, linespacing=1.25, **(look | style))


def _arrow(ax: Axes, *points: Point, colour: str = INK) -> None:
    """An arrow along straight pieces from the first point to the last."""
    ax.add_patch(FancyArrowPatch(
        path=Polyline(points), arrowstyle="-|>,head_length=4,head_width=2", linewidth=1.1,
        color=colour, capstyle="butt", joinstyle="miter",
    ))  # fmt: skip


def _box(
    ax: Axes, place: Place, text: str = "", size: float = TEXT, rounding: float = 0.06, **look: Any
) -> None:
    """A rounded box around its text, white in ink unless told otherwise."""
    plain: dict[str, Any] = {"facecolor": "white", "edgecolor": INK, "linewidth": 1.1}
    style = f"round,pad=0,rounding_size={rounding}"
    box = FancyBboxPatch(place.corner, place.width, place.height, boxstyle=style, **plain | look)
    ax.add_patch(box)
    _note(ax, place.x, place.y, text, fontsize=size)


def _part(ax: Axes, place: Place, name: str, *, trained: bool = True) -> None:
    """A box with its name inside the upper edge; its frame is dashed where nothing is trained."""
    look: dict[str, Any] = {"facecolor": TRAINED} if trained else {"linestyle": (0, (3.5, 2))}
    _box(ax, place, **look)
    _note(ax, place.x, place.top[1] - 0.13, name, weight="bold", fontsize=HEADING)


def _smoothed_relu(ax: Axes, place: Place) -> None:
    """The curve of the smoothed ReLU (q = 3), flat, then bent, then straight."""
    _box(ax, place, **CHIP)
    u = np.linspace(-1, 1, 81)
    bend, q = 0.6, 3
    curve = np.clip(u / bend, 0, 1) ** q * bend / q + np.clip(u - bend, 0, None)
    x = place.x + u * 0.4 * place.width
    y = place.y + (curve / curve[-1] - 0.5) * 0.6 * place.height
    ax.plot(x, y, color=RED, linewidth=1.4, solid_capstyle="round")


def _cell(ax: Axes, place: Place, fill: Colour | None) -> None:
    ax.add_patch(Rectangle(place.corner, place.width, place.height, **_cell_look(fill)))


def _cell_look(fill: Colour | None) -> dict[str, Any]:
    """How a cell is filled, in the drawing and in the legend; a masked one (None) is hatched."""
    look: dict[str, Any] = {"edgecolor": GREY, "linewidth": 0.6}
    if fill is None:
        return look | {"facecolor": _tint(GREY, 0.08), "hatch": "//////", "hatch_linewidth": 0.6}
    return look | {"facecolor": fill}


def _cells(place: Place, rows: int, columns: int, gap: float = 0.0) -> list[Place]:
    """The cells of a grid that fills ``place``, in reading order."""
    across, down = place.width / columns, place.height / rows
    left, top = place.left[0], place.top[1]
    return [
        Place(left + (column + 0.5) * across, top - (row + 0.5) * down, across - gap, down - gap)
        for row in range(rows)
        for column in range(columns)
    ]


def _patches(ax: Axes, cells: Sequence[Place], kept: Sequence[bool] = ALL) -> None:
    """The example sample, one patch a cell; patches that are not kept are hatched."""
    for cell, kind, visible in zip(cells, SAMPLE, kept, strict=True):
        _cell(ax, cell, KINDS[kind].fill if visible else None)


def _numbers(ax: Axes, place: Place, values: np.ndarray, largest: float) -> None:
    """A table of activations, (rows, columns): white is 0, the full colour is ``largest``."""
    for cell, value in zip(_cells(place, *values.shape), values.flat, strict=True):
        _cell(ax, cell, _tint(ACTIVATION, float(value) / largest))


def _legend(drawn: Figure, *, frames: bool) -> None:
    """What colours and frames mean, below the drawing."""
    looks = {kind.words: _cell_look(kind.fill) for kind in KINDS.values()}
    looks["masked patch"] = _cell_look(None)
    looks["activation (white: 0)"] = _cell_look(_tint(ACTIVATION, 0.8))
    if frames:
        frame: dict[str, Any] = {"facecolor": "white", "edgecolor": INK, "linewidth": 1.0}
        looks |= {"trained": frame, "not trained": frame | {"linestyle": (0, (2.5, 1.5))}}
    drawn.legend(
        handles=[Patch(label=words, **look) for words, look in looks.items()],
        loc="lower center", ncols=4 if frames else 3, fontsize=TEXT, handlelength=1.2,
        handleheight=1.0, columnspacing=1.3, handletextpad=0.5, labelspacing=0.35,
        borderaxespad=0.3,
    )  # fmt: skip


def _sample_encoder(ax: Axes, place: Place, name: str, kernel: str, *, trained: bool) -> None:
    """Encoder of a whole sample: kernels, smoothed ReLU, sum over the patches."""
    _part(ax, place, name, trained=trained)
    left, y = place.left[0], place.y + 0.07
    kernels, relu = Place(left + 0.50, y, 0.78, 0.3), Place(left + 1.26, y, 0.42, 0.3)
    total = Place(left + 1.88, y, 0.50, 0.3)
    _box(ax, kernels, kernel, **CHIP)
    _smoothed_relu(ax, relu)
    _box(ax, total, r"$\sum_p$", **CHIP)
    _arrow(ax, kernels.right, relu.left, colour=GREY)
    _arrow(ax, relu.right, total.left, colour=GREY)
    captions = ("kernels\n$r = 1, 2, \\ldots$", "smoothed\nReLU", "sum over\npatches")
    for chip, caption in zip((kernels, relu, total), captions, strict=True):
        _note(ax, chip.x, chip.bottom[1] - 0.05, caption, va="top")


@figure("fig-2")
def teacher_student() -> Figure:
    """Figure 2: teacher-student mask reconstruction

    *What to see:* from a masked sample the student must match an amplified copy of itself that sees the whole sample.

    A schematic, drawn by code. A fixed linear decoder follows the student; no gradient flows through the teacher.
    """
    drawn, ax = _canvas("Teacher-student: from some patches, predict what the teacher makes of all")
    upper, middle, lower = 2.42, 1.71, 1.0
    whole, masked = Place(0.50, middle, 0.66, 0.66), Place(1.50, upper, 0.66, 0.66)
    student, teacher = Place(3.24, upper, 2.24, 0.92), Place(3.24, lower, 2.24, 0.92)
    hidden, decoder = Place(4.66, upper, 0.13, 0.78), Place(5.31, upper, 0.74, 0.92)
    predicted, target = Place(6.16, upper, 0.13, 0.78), Place(6.16, lower, 0.13, 0.78)
    loss = Place(6.16, middle, 1.40, 0.36)

    _patches(ax, _cells(whole, 3, 3))
    _patches(ax, _cells(masked, 3, 3), KEPT)
    kernels = r"$\langle w_r,\, \epsilon_p x_p\rangle$", r"$\langle \hat w_r,\, x_p\rangle$"
    _sample_encoder(ax, student, "student encoder", kernels[0], trained=True)
    _part(ax, decoder, "decoder", trained=False)
    _box(ax, Place(decoder.x, decoder.y + 0.07, 0.5, 0.3), r"$\times\, b_r$", **CHIP)
    _sample_encoder(ax, teacher, "teacher encoder", kernels[1], trained=False)
    h = _activations(KEPT).sum(0)[:, None]
    h_hat = TAU * _activations(ALL).sum(0)[:, None]
    largest = float(max(h.max() / THETA, h_hat.max()))
    for place, values in ((hidden, h), (predicted, h / THETA), (target, h_hat)):
        _numbers(ax, place, values, largest)
    _box(ax, loss, r"loss  $\frac{1}{2}\,\sum_r\, (\hat h_r - h'_r)^2$", **LOSS)
    for points in (
        (whole.top, (whole.x, upper), masked.left), (whole.bottom, (whole.x, lower), teacher.left),
        (masked.right, student.left), (student.right, hidden.left), (hidden.right, decoder.left),
        (decoder.right, predicted.left), (student.bottom, teacher.top), (teacher.right, target.left),
        (predicted.bottom, loss.top), (target.top, loss.bottom),
    ):  # fmt: skip
        _arrow(ax, *points)
    for x, y, text, align in (
        (whole.right[0] + 0.1, middle, "sample $X$ of\n$P$ patches $x_p$", "left"),
        (whole.left[0], masked.top[1] + 0.24, "random mask: a patch is kept\n"
         r"($\epsilon_p = 1$) with probability $\theta$", "left"),
        ((whole.x + teacher.left[0]) / 2, lower + 0.11, "all patches", "center"),
        (hidden.x, hidden.top[1] + 0.12, "$h_r$", "center"),
        (hidden.x, hidden.bottom[1] - 0.19, "one cell\nper kernel", "center"),
        (teacher.x - 0.1, middle, "copied, amplified", "right"),
        (teacher.x + 0.1, middle, r"$\hat w_r = \tau w_r,\; \tau > 1$", "left"),
        ((teacher.right[0] + target.left[0]) / 2, lower + 0.11, "no gradient flows back", "center"),
    ):  # fmt: skip
        _note(ax, x, y, text, ha=align)
    _note(ax, decoder.x, decoder.y - 0.13, "linear\n$b_r = 1/\\theta$", va="top")
    for place, *words in ((predicted, "$h'_r$", "prediction"), (target, r"$\hat h_r$", "target")):
        for text, up in zip(words, (0.05, -0.11), strict=True):
            _note(ax, place.right[0] + 0.08, place.y + up, text, ha="left", va="baseline")
    _legend(drawn, frames=True)
    return drawn


@figure("fig-6")
def masked_autoencoder() -> Figure:
    """Figure 6: the masked autoencoder of the theory

    *What to see:* a masked patch is rebuilt as zero: the model learns from visible patches and predicts nothing from
    context.

    A schematic, drawn by code. The same kernels encode and rebuild each patch alone.
    """
    drawn, ax = _canvas("Masked autoencoder: every patch is encoded and rebuilt by itself")
    count, gap = len(SAMPLE), 0.03
    middle, height = 1.95, 1.71
    head = middle + height / 2 + 0.115
    whole, masked = Place(0.66, middle, 0.19, height), Place(1.43, middle, 0.19, height)
    encoder = Place(2.61, middle, 1.46, height + 0.08)
    table = Place(4.04, middle, 0.92, height)
    decoder = Place(5.47, middle, 1.46, height + 0.08)
    rebuilt = Place(6.61, middle, 0.19, height)
    loss = Place(table.x, 0.70, 3.0, 0.36)
    between = (whole.x + masked.x) / 2

    # encoder, and decoder with the same kernels
    _part(ax, encoder, "encoder")
    _part(ax, decoder, "decoder")
    first, second = ([Place(part.x, middle + up, 0.9, 0.3) for up in (0.40, -0.08)]
                     for part in (encoder, decoder))  # fmt: skip
    _box(ax, first[0], r"$\langle w_r,\, \epsilon_p x_p\rangle$", **CHIP)
    _smoothed_relu(ax, first[1])
    _box(ax, second[0], r"$\sum_r\, w_r\, a_{r,p}$", **CHIP)
    _box(ax, second[1], r"$\times\, b$", **CHIP)
    for upper, lower in (first, second):
        _arrow(ax, upper.bottom, lower.top, colour=GREY)

    # patch by patch: sample, mask, activations (a column a kernel), and what is rebuilt: 0 where no kernel answers
    values = _activations(KEPT)
    rows = _cells(whole, count, 1, gap)
    _patches(ax, rows)
    _patches(ax, _cells(masked, count, 1, gap), KEPT)
    for row, kind, kept, line in zip(rows, SAMPLE, KEPT, values, strict=True):
        y = row.y
        _note(ax, between, y, r"$\times\,1\, =$" if kept else r"$\times\,0\, =$")
        _numbers(ax, Place(table.x, y, table.width, row.height), line[None, :], float(values.max()))
        out = Place(rebuilt.x, y, row.width, row.height)
        _cell(ax, out, KINDS[kind].fill if line.any() else "white")
        if not line.any():
            _note(ax, out.x, y, "0")
        for start, end in ((masked.x + row.width / 2, encoder.left[0]), (encoder.right[0], table.left[0]),
                           (table.right[0], decoder.left[0]), (decoder.right[0], out.left[0])):  # fmt: skip
            _arrow(ax, (start, y), (end, y), colour=GREY)

    # tie and comparison
    tie = head + 0.215
    _arrow(ax, (table.x - 0.86, tie), (encoder.x, tie), encoder.top)
    _arrow(ax, (table.x + 0.86, tie), (decoder.x, tie), decoder.top)
    _arrow(ax, whole.bottom, (whole.x, loss.y), loss.left)
    _arrow(ax, rebuilt.bottom, (rebuilt.x, loss.y), loss.right)
    squares = r"\frac{1}{2}\,\sum_p\, \Vert x_p - x'_p \Vert^2"
    _box(ax, loss, f"loss  ${squares}$  over all patches", **LOSS)
    for x, symbol in (
        (whole.x, "$x_p$"), (between, r"$\epsilon_p$"), (masked.x, r"$\epsilon_p x_p$"),
        (table.x, "$a_{r,p}$, one column per kernel"), (rebuilt.x, "$x'_p$"),
    ):  # fmt: skip
        _note(ax, x, head, symbol, va="baseline")
    for x, y, text, align in (
        (rows[0].left[0] - 0.07, rows[0].y, "$p = 1$", "right"),
        (rows[-1].left[0] - 0.07, rows[-1].y, "$p = P$", "right"),
        (encoder.x, middle - 0.34, "smoothed ReLU", "center"),
        (encoder.x, middle - 0.65, "each patch alone:\nno sum over $p$", "center"),
        (decoder.x, middle - 0.34, r"$b = 1/\theta$, not trained", "center"),
        (decoder.x, middle - 0.65, "a masked patch\nis rebuilt as 0", "center"),
        (table.x, tie, "tied: the same kernels $w_r$", "center"),
        (whole.x + 0.08, loss.y + 0.2, "kept ($\\epsilon_p = 1$) with\nprobability $\\theta$", "left"),
    ):  # fmt: skip
        _note(ax, x, y, text, ha=align)
    _legend(drawn, frames=False)
    return drawn
