"""Two drawings of what is trained: Figures 2 and 6 of Pan, Zhou & Yan, redrawn by us.

"Towards Understanding Why Mask Reconstruction Pretraining Helps in Downstream Tasks", section 3.2 and appendix H.
Nothing is measured here. Both follow one example sample with one fixed mask; ``_activations`` computes the tints, so
that masked patches, sums and scales agree with the formulas. Positions are in inches from the lower left corner.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from matplotlib.colors import to_rgb
from matplotlib.patches import FancyArrowPatch, FancyBboxPatch, Patch, Rectangle
from matplotlib.path import Path as Polyline

from featlearn.core.plots import COLOURS, canvas
from featlearn.core.publish import figure

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from numpy.typing import NDArray

    Colour = str | tuple[float, float, float]
    Point = tuple[float, float]

WIDTH, HEIGHT = 7.0, 3.5
TEXT = 8.0
HEADING = 8.5
INK, GREY = COLOURS["ink"], COLOURS["grey"]

#: The example: what each patch holds (two patches a feature, C_p = 2), and which patches are kept.
SAMPLE = (
    *("own 1", "background", "other"),
    *("own 2", "own 1", "background"),
    *("other", "background", "own 2"),
)
KEPT = (True, False, True, True, False, False, False, True, True)
#: Probability that a patch is kept, and the teacher's factor 1 + (1 - theta) / (C_p theta).
THETA = 0.5
TAU = 1 + (1 - THETA) / (2 * THETA)

#: What each of six kernels answers to a patch (taken as proportional to the kernel);
#: a trained kernel answers to one feature at most.
RESPONSE = {
    "own 1": (1.0, 0.0, 0.0, 0.6, 0.0, 0.0),
    "own 2": (0.0, 0.9, 0.0, 0.0, 0.0, 0.0),
    "other": (0.0, 0.0, 0.35, 0.0, 0.0, 0.5),
    "background": (0.0, 0.0, 0.0, 0.0, 0.0, 0.0),
}


def _tint(colour: str, share: float) -> tuple[float, float, float]:
    """``colour`` mixed with white: share 1 is the colour, 0 is white."""
    red, green, blue = (1 - share * (1 - channel) for channel in to_rgb(colour))
    return red, green, blue


FILL: dict[str, Colour] = {
    "own 1": COLOURS["blue"],
    "own 2": COLOURS["orange"],
    "other": COLOURS["green"],
    "background": _tint(GREY, 0.3),
}
MEANING = {
    "own 1": r"feature 1 of the sample's class, $v_{y,1}$",
    "own 2": r"feature 2 of the sample's class, $v_{y,2}$",
    "other": "a feature of another class",
    "background": "background",
}
ACTIVATION = COLOURS["purple"]
TRAINED = _tint(COLOURS["sky"], 0.2)


def _activations(kept: Sequence[bool]) -> NDArray[np.float64]:
    """Answers of the kernels to the example, (patches, kernels); a masked patch gives exactly 0."""
    return np.array([RESPONSE[kind] for kind in SAMPLE]) * np.array(kept)[:, None]


@dataclass(frozen=True)
class Place:
    """A rectangle by its centre, with the points where arrows leave and arrive."""

    x: float
    y: float
    width: float
    height: float

    @property
    def left(self) -> Point:
        return self.x - self.width / 2, self.y

    @property
    def right(self) -> Point:
        return self.x + self.width / 2, self.y

    @property
    def top(self) -> Point:
        return self.x, self.y + self.height / 2

    @property
    def bottom(self) -> Point:
        return self.x, self.y - self.height / 2

    @property
    def corner(self) -> Point:
        """Lower left."""
        return self.x - self.width / 2, self.y - self.height / 2


def _canvas(title: str) -> tuple[Figure, Axes]:
    """An empty sheet whose coordinates are inches, under a title."""
    drawn = canvas(WIDTH, HEIGHT)
    # not canvas(layout="none"): its first savefig would bring the style's own layout back
    drawn.set_layout_engine("none")
    ax = drawn.add_axes((0, 0, 1, 1))
    ax.set(xlim=(0, WIDTH), ylim=(0, HEIGHT))
    ax.set_axis_off()
    ax.text(0.17, HEIGHT - 0.17, title, fontsize=10, weight="bold", va="center", color=INK)
    return drawn, ax


def _note(ax: Axes, x: float, y: float, text: str, **style: Any) -> None:
    """Text about a point, centred unless told otherwise."""
    look: dict[str, Any] = {"ha": "center", "va": "center", "color": INK, "fontsize": TEXT}
    ax.text(x, y, text, linespacing=1.25, **(look | style))


def _arrow(ax: Axes, *points: Point, colour: str = INK) -> None:
    """An arrow along straight pieces from the first point to the last."""
    ax.add_patch(
        FancyArrowPatch(
            path=Polyline(points),
            arrowstyle="-|>,head_length=4,head_width=2",
            linewidth=1.1,
            color=colour,
            capstyle="butt",
            joinstyle="miter",
        )
    )


def _box(
    ax: Axes, place: Place, *, fill: Colour = "white", trained: bool = True, edge: str = INK
) -> None:
    """A rounded box; its frame is dashed where nothing is trained."""
    ax.add_patch(
        FancyBboxPatch(
            place.corner,
            place.width,
            place.height,
            boxstyle="round,pad=0,rounding_size=0.06",
            facecolor=fill,
            edgecolor=edge,
            linewidth=1.1,
            linestyle="-" if trained else (0, (3.5, 2)),
        )
    )


def _chip(ax: Axes, place: Place, text: str = "") -> None:
    """One operation inside a box."""
    ax.add_patch(
        FancyBboxPatch(
            place.corner,
            place.width,
            place.height,
            boxstyle="round,pad=0,rounding_size=0.03",
            facecolor="white",
            edgecolor=GREY,
            linewidth=0.7,
        )
    )
    _note(ax, place.x, place.y, text)


def _smoothed_relu(ax: Axes, place: Place) -> None:
    """A chip with the curve of the smoothed ReLU (q = 3), flat, then bent, then straight."""
    _chip(ax, place)
    u = np.linspace(-1, 1, 81)
    bend, q = 0.6, 3
    curve = np.clip(u / bend, 0, 1) ** q * bend / q + np.clip(u - bend, 0, None)
    x = place.x + u * 0.4 * place.width
    y = place.y + (curve / curve[-1] - 0.5) * 0.6 * place.height
    ax.plot(x, y, color=COLOURS["red"], linewidth=1.4, solid_capstyle="round")


def _loss(ax: Axes, place: Place, text: str) -> None:
    """The box of the loss."""
    _box(ax, place, fill=_tint(COLOURS["red"], 0.15), edge=COLOURS["red"])
    _note(ax, place.x, place.y, text, fontsize=HEADING)


def _cell(ax: Axes, place: Place, fill: Colour, *, masked: bool = False) -> None:
    """One patch or one activation."""
    ax.add_patch(Rectangle(place.corner, place.width, place.height, **_cell_look(fill, masked)))


def _cell_look(fill: Colour, masked: bool) -> dict[str, Any]:
    """How a cell is filled, in the drawing and in the legend."""
    if masked:
        return {
            "facecolor": _tint(GREY, 0.08),
            "edgecolor": GREY,
            "hatch": "//////",
            "hatch_linewidth": 0.6,
            "linewidth": 0.6,
        }
    return {"facecolor": fill, "edgecolor": GREY, "linewidth": 0.6}


def _cells(place: Place, rows: int, columns: int, gap: float = 0.0) -> list[Place]:
    """The cells of a grid that fills ``place``, in reading order."""
    pitch_x, pitch_y = place.width / columns, place.height / rows
    left, top = place.left[0], place.top[1]
    return [
        Place(
            left + (column + 0.5) * pitch_x,
            top - (row + 0.5) * pitch_y,
            pitch_x - gap,
            pitch_y - gap,
        )
        for row in range(rows)
        for column in range(columns)
    ]


def _patches(ax: Axes, cells: Sequence[Place], kept: Sequence[bool] | None = None) -> None:
    """The example sample, one patch a cell; patches that are not kept are hatched."""
    shown = kept if kept is not None else [True] * len(SAMPLE)
    for cell, kind, visible in zip(cells, SAMPLE, shown, strict=True):
        _cell(ax, cell, FILL[kind], masked=not visible)


def _numbers(ax: Axes, place: Place, values: NDArray[np.float64], largest: float) -> None:
    """A table of activations, (rows, columns): white is 0, the full colour is ``largest``."""
    rows, columns = values.shape
    for cell, value in zip(_cells(place, rows, columns), values.flat, strict=True):
        _cell(ax, cell, _tint(ACTIVATION, float(value) / largest))


def _legend(drawn: Figure, *, frames: bool) -> None:
    """What colours and frames mean, below the drawing."""
    handles = [Patch(label=MEANING[kind], **_cell_look(FILL[kind], False)) for kind in FILL]
    handles.append(Patch(label="masked patch", **_cell_look("white", True)))
    handles.append(
        Patch(label="activation (white: 0)", **_cell_look(_tint(ACTIVATION, 0.8), False))
    )
    if frames:
        frame: dict[str, Any] = {"facecolor": "white", "edgecolor": INK, "linewidth": 1.0}
        handles.append(Patch(label="trained", **frame))
        handles.append(Patch(label="not trained", linestyle=(0, (2.5, 1.5)), **frame))
    drawn.legend(
        handles=handles,
        loc="lower center",
        ncols=4 if frames else 3,
        fontsize=TEXT,
        handlelength=1.2,
        handleheight=1.0,
        columnspacing=1.3,
        handletextpad=0.5,
        labelspacing=0.35,
        borderaxespad=0.3,
    )


def _head(ax: Axes, place: Place, text: str) -> None:
    """The name of a box, inside its upper edge."""
    _note(ax, place.x, place.top[1] - 0.13, text, weight="bold", fontsize=HEADING)


def _sample_encoder(ax: Axes, place: Place, name: str, kernel: str, *, trained: bool) -> None:
    """Encoder of a whole sample: kernels, smoothed ReLU, sum over the patches."""
    _box(ax, place, fill=TRAINED if trained else "white", trained=trained)
    _head(ax, place, name)
    left, y = place.left[0], place.y + 0.07
    kernels = Place(left + 0.50, y, 0.78, 0.3)
    relu = Place(left + 1.26, y, 0.42, 0.3)
    total = Place(left + 1.88, y, 0.50, 0.3)
    _chip(ax, kernels, kernel)
    _smoothed_relu(ax, relu)
    _chip(ax, total, r"$\sum_p$")
    _arrow(ax, kernels.right, relu.left, colour=GREY)
    _arrow(ax, relu.right, total.left, colour=GREY)
    for chip, caption in (
        (kernels, "kernels\n$r = 1, 2, \\ldots$"),
        (relu, "smoothed\nReLU"),
        (total, "sum over\npatches"),
    ):
        _note(ax, chip.x, chip.bottom[1] - 0.05, caption, va="top")


@figure("fig-2")
def teacher_student() -> Figure:
    """Figure 2: teacher-student mask reconstruction

    *What to see:* from a masked sample the student must match an amplified copy of itself that sees the whole sample.

    A schematic, drawn by code. A fixed linear decoder follows the student; no gradient flows through the teacher.
    """
    drawn, ax = _canvas("Teacher-student: from some patches, predict what the teacher makes of all")
    upper, middle, lower = 2.42, 1.71, 1.0

    whole = Place(0.50, middle, 0.66, 0.66)
    masked = Place(1.50, upper, 0.66, 0.66)
    student = Place(3.24, upper, 2.24, 0.92)
    teacher = Place(3.24, lower, 2.24, 0.92)
    hidden = Place(4.66, upper, 0.13, 0.78)
    decoder = Place(5.31, upper, 0.74, 0.92)
    predicted = Place(6.16, upper, 0.13, 0.78)
    target = Place(6.16, lower, 0.13, 0.78)
    loss = Place(6.16, middle, 1.40, 0.36)

    # what goes in
    _patches(ax, _cells(whole, 3, 3))
    _note(ax, whole.right[0] + 0.1, middle, "sample $X$ of\n$P$ patches $x_p$", ha="left")
    _arrow(ax, whole.top, (whole.x, upper), masked.left)
    _note(
        ax,
        whole.left[0],
        masked.top[1] + 0.24,
        "random mask: a patch is kept\n($\\epsilon_p = 1$) with probability $\\theta$",
        ha="left",
    )
    _patches(ax, _cells(masked, 3, 3), KEPT)
    _arrow(ax, whole.bottom, (whole.x, lower), teacher.left)
    _note(ax, (whole.x + teacher.left[0]) / 2, lower + 0.11, "all patches")

    # student and decoder
    _arrow(ax, masked.right, student.left)
    _sample_encoder(
        ax, student, "student encoder", r"$\langle w_r,\, \epsilon_p x_p\rangle$", trained=True
    )
    _arrow(ax, student.right, hidden.left)
    _note(ax, hidden.x, hidden.top[1] + 0.12, "$h_r$")
    _note(ax, hidden.x, hidden.bottom[1] - 0.19, "one cell\nper kernel")
    _arrow(ax, hidden.right, decoder.left)
    _box(ax, decoder, trained=False)
    _head(ax, decoder, "decoder")
    _chip(ax, Place(decoder.x, decoder.y + 0.07, 0.5, 0.3), r"$\times\, b_r$")
    _note(ax, decoder.x, decoder.y - 0.13, "linear\n$b_r = 1/\\theta$", va="top")
    _arrow(ax, decoder.right, predicted.left)

    # teacher
    _arrow(ax, student.bottom, teacher.top)
    _note(ax, teacher.x - 0.1, middle, "copied, amplified", ha="right")
    _note(ax, teacher.x + 0.1, middle, r"$\hat w_r = \tau w_r,\; \tau > 1$", ha="left")
    _sample_encoder(
        ax, teacher, "teacher encoder", r"$\langle \hat w_r,\, x_p\rangle$", trained=False
    )
    _arrow(ax, teacher.right, target.left)
    _note(ax, (teacher.right[0] + target.left[0]) / 2, lower + 0.11, "no gradient flows back")

    # what comes out, and the comparison
    h = _activations(KEPT).sum(0)[:, None]
    h_hat = TAU * _activations([True] * len(SAMPLE)).sum(0)[:, None]
    largest = float(max(h.max() / THETA, h_hat.max()))
    _numbers(ax, hidden, h, largest)
    _numbers(ax, predicted, h / THETA, largest)
    _numbers(ax, target, h_hat, largest)
    for place, symbol, role in (
        (predicted, "$h'_r$", "prediction"),
        (target, r"$\hat h_r$", "target"),
    ):
        x = place.right[0] + 0.08
        _note(ax, x, place.y + 0.05, symbol, ha="left", va="baseline")
        _note(ax, x, place.y - 0.11, role, ha="left", va="baseline")
    _arrow(ax, predicted.bottom, loss.top)
    _arrow(ax, target.top, loss.bottom)
    _loss(ax, loss, r"loss  $\frac{1}{2}\,\sum_r\, (\hat h_r - h'_r)^2$")
    _legend(drawn, frames=True)
    return drawn


@figure("fig-6")
def masked_autoencoder() -> Figure:
    """Figure 6: the masked autoencoder of the theory

    *What to see:* a masked patch is rebuilt as zero, so the model learns from visible patches and predicts nothing
    from context.

    A schematic, drawn by code. The same kernels encode and rebuild each patch alone: a patchwise tied auto-encoder
    with shrinkage.
    """
    drawn, ax = _canvas("Masked autoencoder: every patch is encoded and rebuilt by itself")
    count = len(SAMPLE)
    middle, height = 1.95, 1.71
    head = middle + height / 2 + 0.115

    whole = Place(0.66, middle, 0.19, height)
    masked = Place(1.43, middle, 0.19, height)
    encoder = Place(2.61, middle, 1.46, height + 0.08)
    table = Place(4.04, middle, 0.92, height)
    decoder = Place(5.47, middle, 1.46, height + 0.08)
    rebuilt = Place(6.61, middle, 0.19, height)
    loss = Place(table.x, 0.70, 3.0, 0.36)

    # the sample, the mask, and their product, patch by patch
    gap = 0.03
    rows = _cells(whole, count, 1, gap)
    masked_rows = _cells(masked, count, 1, gap)
    _patches(ax, rows)
    _patches(ax, masked_rows, KEPT)
    _note(ax, rows[0].left[0] - 0.07, rows[0].y, "$p = 1$", ha="right")
    _note(ax, rows[-1].left[0] - 0.07, rows[-1].y, "$p = P$", ha="right")
    for row, kept in zip(rows, KEPT, strict=True):
        _note(
            ax, (whole.x + masked.x) / 2, row.y, r"$\times\,1\, =$" if kept else r"$\times\,0\, =$"
        )
    for place, symbol in (
        (whole, "$x_p$"),
        (Place((whole.x + masked.x) / 2, middle, 0, 0), r"$\epsilon_p$"),
        (masked, r"$\epsilon_p x_p$"),
        (table, "$a_{r,p}$, one column per kernel"),
        (rebuilt, "$x'_p$"),
    ):
        _note(ax, place.x, head, symbol, va="baseline")

    # encoder
    for row in masked_rows:
        _arrow(ax, row.right, (encoder.left[0], row.y), colour=GREY)
    _box(ax, encoder, fill=TRAINED)
    _head(ax, encoder, "encoder")
    first, second = middle + 0.40, middle - 0.08
    kernels = Place(encoder.x, first, 0.9, 0.3)
    relu = Place(encoder.x, second, 0.9, 0.3)
    _chip(ax, kernels, r"$\langle w_r,\, \epsilon_p x_p\rangle$")
    _smoothed_relu(ax, relu)
    _arrow(ax, kernels.bottom, relu.top, colour=GREY)
    _note(ax, encoder.x, middle - 0.34, "smoothed ReLU")
    _note(ax, encoder.x, middle - 0.65, "each patch alone:\nno sum over $p$")

    # activations: a row for each patch, a column for each kernel
    values = _activations(KEPT)
    table_rows = [Place(table.x, row.y, table.width, row.height) for row in rows]
    for row, line in zip(table_rows, values, strict=True):
        _arrow(ax, (encoder.right[0], row.y), row.left, colour=GREY)
        _numbers(ax, row, line[None, :], float(values.max()))
        _arrow(ax, row.right, (decoder.left[0], row.y), colour=GREY)

    # decoder with the kernels of the encoder
    _box(ax, decoder, fill=TRAINED)
    _head(ax, decoder, "decoder")
    weighted = Place(decoder.x, first, 0.9, 0.3)
    scale = Place(decoder.x, second, 0.9, 0.3)
    _chip(ax, weighted, r"$\sum_r\, w_r\, a_{r,p}$")
    _chip(ax, scale, r"$\times\, b$")
    _arrow(ax, weighted.bottom, scale.top, colour=GREY)
    _note(ax, decoder.x, middle - 0.34, r"$b = 1/\theta$, not trained")
    _note(ax, decoder.x, middle - 0.65, "a masked patch\nis rebuilt as 0")
    tie = head + 0.215
    _note(ax, table.x, tie, "tied: the same kernels $w_r$")
    _arrow(ax, (table.x - 0.86, tie), (encoder.x, tie), encoder.top)
    _arrow(ax, (table.x + 0.86, tie), (decoder.x, tie), decoder.top)

    # reconstruction: 0 where no kernel answers
    for row, kind, line in zip(_cells(rebuilt, count, 1, gap), SAMPLE, values, strict=True):
        _arrow(ax, (decoder.right[0], row.y), row.left, colour=GREY)
        _cell(ax, row, FILL[kind] if line.any() else "white")
        if not line.any():
            _note(ax, row.x, row.y, "0")

    # comparison
    _arrow(ax, whole.bottom, (whole.x, loss.y), loss.left)
    _arrow(ax, rebuilt.bottom, (rebuilt.x, loss.y), loss.right)
    _note(
        ax,
        whole.x + 0.08,
        loss.y + 0.2,
        "kept ($\\epsilon_p = 1$) with\nprobability $\\theta$",
        ha="left",
    )
    _loss(ax, loss, r"loss  $\frac{1}{2}\,\sum_p\, \Vert x_p - x'_p \Vert^2$  over all patches")
    _legend(drawn, frames=False)
    return drawn
