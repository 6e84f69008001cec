"""What seaborn draws from a tidy frame: means, intervals over replicates, words."""

import numpy as np
import pandas as pd
import pytest
from matplotlib.layout_engine import ConstrainedLayoutEngine
from matplotlib.transforms import Bbox

from featlearn.core.drawing.intervals import (
    FEW,
    Look,
    bars,
    history,
    interval,
    lines,
    rows,
    share_interval,
    within,
)
from featlearn.core.drawing.palette import COLOURS, PALETTE
from featlearn.core.drawing.plots import canvas, save
from featlearn.core.evidence.frames import tidy
from featlearn.core.evidence.stats import estimate

FRAME = tidy(
    {"model": ["old", "new", "other"], "quantity": ["seen", "kept"], "step": [1, 2],
     "replicate": range(3)},
    value=np.array([0.2, 0.6, 0.0])[:, None, None, None] + [[0.01], [0.02]] + 0.1 * np.arange(3),
)  # fmt: skip
LOOKS = {"new": Look("the new one", "#0072B2"), "old": Look("the old one", "#E69F00", "s")}


def mean(**where):
    own = FRAME
    for name, value in where.items():
        own = own[own[name] == value]
    return own["value"].mean()


def test_an_interval_is_the_t_interval_and_cut_to_what_is_possible():
    values = [0.9, 1.0, 0.95]
    seen = estimate(np.array(values))
    assert interval(values) == (seen.low, seen.high)
    assert share_interval(values) == (seen.low, 1.0)
    few = estimate(np.array([0.0, 1.0, 5.0]))
    assert few.low < 0
    assert within(0)([0.0, 1.0, 5.0]) == (0.0, few.high)


@pytest.mark.parametrize("replicates", [FEW, FEW + 1])
@pytest.mark.parametrize("kind", ["bars", "rows"])
def test_no_bar_or_row_of_a_share_leaves_it(kind, replicates):
    """One replicate far below the others: the interval of the mean ends above 1."""
    frame = pd.DataFrame(
        {"model": "new", "quantity": "seen", "value": [0.5] + [1.0] * (replicates - 1)}
    )
    assert interval(frame["value"])[1] > 1
    ax = canvas(3, 2).subplots()
    if kind == "bars":
        bars(ax, frame, "quantity", "model", groups={"seen": "S"}, looks=LOOKS,
             errorbar=share_interval)  # fmt: skip
    else:
        rows(ax, frame, "model", looks=LOOKS, errorbar=share_interval)
    axis = 1 if kind == "bars" else 0
    ends = [path[:, axis] for one in ax.collections if hasattr(one, "get_segments")
            for path in one.get_segments()]  # fmt: skip
    ends += [line.get_xydata()[:, axis] for line in ax.lines]
    assert np.nanmax(np.concatenate(ends)) == 1.0


@pytest.mark.parametrize("replicates", [1, 2, 3])
@pytest.mark.parametrize("kind", ["bars", "lines", "history"])
def test_an_interval_is_drawn_from_three_replicates_on(kind, replicates):
    """That of two leaves the axes: the limits are those of the values."""
    frame = FRAME[(FRAME["replicate"] < replicates) & (FRAME["step"] == 1)]
    seen = frame[frame["quantity"] == "seen"]
    ax = canvas(3, 2).subplots()
    if kind == "bars":
        bars(ax, frame, "quantity", "model", groups={"seen": "S", "kept": "K"}, looks=LOOKS)
        ends = [path[:, 1] for one in ax.collections if hasattr(one, "get_segments")
                for path in one.get_segments() if np.ptp(path[:, 1]) > 0]  # fmt: skip
    elif kind == "lines":
        lines(ax, seen, "step", "model", looks=LOOKS)
        ends = [np.reshape(path, (-1, 2))[:, 1] for one in ax.collections
                for path in one.get_segments()]  # fmt: skip
    else:
        history(ax, seen[seen["model"] == "new"], "new", "#0072B2", errorbar=interval)
        ends = [path.vertices[:, 1] for one in ax.collections for path in one.get_paths()]
    drawn = [own for own in ends if len(own) and np.isfinite(own).all()]
    assert bool(drawn) == (replicates == 3)
    if replicates == 2:
        assert np.isnan(interval([0.2, 0.3])).all()
        assert np.isnan(share_interval([0.2, 0.3])).all()
        assert ax.get_ylim()[1] < 1


def test_bars_have_the_height_of_the_means_in_the_order_asked_for():
    ax = canvas(3, 2).subplots()
    bars(ax, FRAME, "quantity", "model", groups={"seen": "S", "kept": "K"}, looks=LOOKS)
    drawn = [bar for group in ax.containers for bar in group]
    assert [bar.get_height() for bar in drawn] == pytest.approx(
        [mean(model=model, quantity=one) for model in LOOKS for one in ("seen", "kept")]
    )
    for bar in drawn:
        x, width, height = bar.get_x(), bar.get_width(), bar.get_height()
        inside = [dot[1] for dots in ax.collections if not hasattr(dots, "get_segments")
                  for dot in dots.get_offsets() if x <= dot[0] <= x + width]  # fmt: skip
        assert len(inside) == 6  # replicates x steps
        assert np.mean(inside) == pytest.approx(height)
    assert [tick.get_text() for tick in ax.get_xticklabels()] == ["S", "K"]
    assert ax.get_legend_handles_labels()[1] == ["the new one", "the old one"]
    assert ax.get_legend() is None


@pytest.mark.parametrize(("replicates", "heights"), [(FEW, 0), (FEW + 1, 2)])
def test_few_replicates_are_points_and_more_a_bar_from_zero(replicates, heights):
    axes = {"model": [*LOOKS], "quantity": ["seen"], "replicate": range(replicates)}
    frame = tidy(axes, value=0.5 + 0.01 * np.arange(replicates))
    ax = canvas(3, 2).subplots()
    bars(ax, frame, "quantity", "model", groups={"seen": "S"}, looks=LOOKS)
    drawn = [bar for bar in ax.patches if bar.get_height() > 0]
    assert len(drawn) == heights
    assert all(bar.get_y() == 0 for bar in drawn)
    dots = [dot for one in ax.collections if not hasattr(one, "get_segments")
            for dot in one.get_offsets()]  # fmt: skip
    assert len(dots) == 2 * replicates
    assert ax.get_legend_handles_labels()[1] == ["the new one", "the old one"]


def test_lines_go_through_the_means_and_what_has_no_look_is_left_out():
    ax = canvas(3, 2).subplots()
    lines(ax, FRAME, "step", "model", looks=LOOKS)
    # beside them lie those that carry the intervals, without a stroke
    seen = [line for line in ax.lines if line.get_linestyle() != "None"]
    drawn = [line.get_ydata() for line in seen if len(line.get_ydata())]
    assert len(drawn) == len(LOOKS)
    for model, own in zip(LOOKS, drawn, strict=True):
        assert own == pytest.approx([mean(model=model, step=step) for step in (1, 2)])


def test_a_file_does_not_depend_on_the_last_digits_of_its_layout(tmp_path, monkeypatch):
    """The solver of the layout sums in the order of memory addresses."""
    solve = ConstrainedLayoutEngine.execute

    def noisy(engine, fig):
        solve(engine, fig)
        for part in fig.subfigs:
            corners = part.bbox_relative.get_points()
            part.bbox_relative.set_points(corners + rng.uniform(-1e-15, 1e-15, corners.shape))
        for ax in fig.axes:
            corners = ax.get_position(original=True).get_points()
            ax._set_position(Bbox(corners + rng.uniform(-1e-15, 1e-15, corners.shape)))

    monkeypatch.setattr(ConstrainedLayoutEngine, "execute", noisy)
    written = set()
    for seed in range(4):
        rng = np.random.default_rng(seed)
        drawn = canvas(5, 3)
        left, right = drawn.subfigures(1, 2, width_ratios=[3, 1])[0].subplots(
            1, 2, sharey=True, width_ratios=[1, 0.7]
        )
        left.plot([0, 1], [0, 1 / 3], label="a line")
        drawn.colorbar(right.imshow([[0, 1]]), ax=right)
        drawn.legend(loc="outside lower center")
        save(drawn, tmp_path / "x.svg", tmp_path / "x.png")
        written.add((tmp_path / "x.svg").read_bytes() + (tmp_path / "x.png").read_bytes())
    assert len(written) == 1


def contrast(colour: str) -> float:
    """Ratio of contrast of ``#RRGGBB`` with white (WCAG 2.2); thin lines want 3, text 4.5."""
    parts = (int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5))
    linear = (p / 12.92 if p <= 0.04045 else ((p + 0.055) / 1.055) ** 2.4 for p in parts)
    return 1.05 / (sum(w * p for w, p in zip((0.2126, 0.7152, 0.0722), linear, strict=True)) + 0.05)


@pytest.mark.parametrize("colour", sorted({*COLOURS.values(), *PALETTE.values()}))
def test_a_colour_is_seen_on_white(colour):
    assert contrast(colour) >= 3
    assert contrast("#777777") == pytest.approx(4.48, abs=0.01)  # of the guidelines
