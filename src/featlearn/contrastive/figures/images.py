"""Figures 1 to 4 in the paper's form, each number beside what it is of. Imports no torch.

Every figure has a block of panels for each data set, in the order of
:func:`featlearn.contrastive.images.config.ordered`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from featlearn.contrastive.images.config import FIGURE_ARMS, HALFWAY, START, encoder_of, ordered
from featlearn.contrastive.tables.images import numbers
from featlearn.core.plots import COLOURS, PAGE, PALETTE, canvas
from featlearn.core.publish import Config, figure
from featlearn.core.statistical import Look, column, history, rows, share_interval, whiskers, within
from featlearn.core.stats import plus_minus
from featlearn.images.figures.mosaic import bare, mosaic

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

#: Titles of panels; two lines each.
TITLES = {
    "contrastive-none": "contrastive\nno augmentation",
    "contrastive-crop": "contrastive\ncrop",
    "contrastive-colour": "contrastive\ncrop + colour distortion",
    "supervised-crop": "supervised\ncrop",
    "supervised-colour": "supervised\ncrop + colour distortion",
    "adversarial-colour": "adversarial contrastive\ncrop + colour distortion",
    START: "random start",
}
ARM_COLOURS = {
    "contrastive-none": PALETTE["contrastive, no augmentation"],
    "contrastive-crop": PALETTE["contrastive, weak augmentation"],
    "contrastive-colour": PALETTE["contrastive"],
    "supervised-crop": PALETTE["supervised"],
    "supervised-colour": PALETTE["supervised, more"],
    "adversarial-colour": PALETTE["contrastive, adversarial"],
    START: PALETTE["untrained"],
}
CLASS_MARKERS = ("o", "s", "^", "v", "D", "P", "X", "*")


def rows_of(found: pd.DataFrame, panel: int, shown: str, arm: str, quantity: str) -> pd.DataFrame:
    """Rows of the table for one arm and quantity, a row a layer."""
    chosen = found[
        (found["panel"] == panel)
        & (found["figure"] == shown)
        & (found["arm"] == arm)
        & (found["quantity"] == quantity)
    ]
    if chosen.empty:
        raise KeyError(f"{shown}: no {quantity!r} of {arm!r} in panel {panel}")
    return chosen


def told(found: pd.DataFrame, panel: int, shown: str, arm: str, quantity: str) -> str:
    """A mean with its 95 % interval, in words."""
    row = rows_of(found, panel, shown, arm, quantity).iloc[0]
    return plus_minus(row["mean"], row["half_width"])


def groups(
    ax: Axes,
    values: pd.DataFrame,
    found: pd.DataFrame,
    panel: int,
    quantity: str,
    arms: Sequence[str],
) -> None:
    """The replicates of each arm; the random start, of the table ``found``, as a dashed line."""
    shown = str(found.loc[found["panel"] == panel, "figure"].iloc[0])
    for place, arm in enumerate(arms):
        own = values[(values["arm"] == arm) & (values["quantity"] == quantity)]
        column(ax, place, own["value"], ARM_COLOURS[arm], errorbar=share_interval)
    start = rows_of(found, panel, shown, START, quantity).iloc[0]["mean"]
    ax.axhline(start, color=COLOURS["ink"], linestyle="--", linewidth=0.9)
    ax.set_xticks([])
    ax.grid(axis="x", visible=False)
    ax.set_title(quantity.replace(" of ", "\nof "), fontsize=8.5)


def arm_legend(drawn: Figure, arms: Sequence[str]) -> None:
    """Colours of the arms, below the figure."""
    from matplotlib.lines import Line2D
    from matplotlib.patches import Patch

    handles: list[Any] = [
        Patch(color=ARM_COLOURS[arm], label=TITLES[arm].replace("\n", ", ")) for arm in arms
    ]
    handles.append(Line2D([], [], color=COLOURS["ink"], linestyle="--", label=TITLES[START]))
    drawn.legend(handles=handles, loc="outside lower center", ncols=min(3, len(handles)))


def by_arm(frame: pd.DataFrame, config: Config, shown: str) -> dict[tuple[str, str], pd.DataFrame]:
    """The rows of each data set and arm, with the encoder that a figure shows of it."""
    return {
        (str(name), str(arm)): own
        for (name, arm, encoder), own in frame.groupby(["data_set", "arm", "encoder"], sort=False)
        if encoder == encoder_of(config[str(name)], shown)
    }


def measured(frame: pd.DataFrame, config: Config, name: str, shown: str) -> pd.DataFrame:
    """The replicates of a data set, with the encoder that a figure shows of it."""
    encoder = encoder_of(config[name], shown)
    return frame[(frame["data_set"] == name) & (frame["encoder"] == encoder)]


def change(pictures: pd.DataFrame, start: pd.DataFrame) -> pd.DataFrame:
    """Kernels less those of the start, on middle grey."""
    place = ["channel", "row", "column"]
    both = [one[one["kind"] == "filter"].sort_values(place) for one in (pictures, start)]
    colours = ["red", "green", "blue"]
    after, before = (one[colours].to_numpy(np.int16) for one in both)
    return both[0].assign(
        **dict(zip(colours, np.clip(128 + after - before, 0, 255).T, strict=True))
    )


@figure()
def fig_1(evaluations: pd.DataFrame, pictures: pd.DataFrame, config: Config) -> Figure:
    """Figure 1: what the last layer responds to

    Each square is an image that makes one channel of the last layer answer strongly, found by gradient
    ascent from grey. The paper compares three networks: supervised training without colour distortion,
    contrastive training with it, and adversarial contrastive training. It finds shapes in all three, and
    more colour in the supervised one. That comparison changes two things at once, so the second panel,
    supervised with colour distortion, was added. *Chroma* is the share of a picture's energy that is colour
    and not brightness: 0 for a grey picture, 0.67 for noise. *Roughness* is the share that a mean over 2 × 2
    pixels removes: 0.75 for white noise. *Accuracy* is that of a linear probe for the class. On the right means
    over replicates with 95 % intervals and a dot a replicate; dashed: the untrained network. *What to see:*
    {{ said("contrastive/shapes-fig-1-colour-of-supervised",
            holds="the supervised pictures are more colourful than the contrastive ones, as the paper says, by a chroma of",
            fails="the supervised pictures are not clearly more colourful than the contrastive ones, against the paper: the difference of chroma is",
            left="that the supervised pictures are the more colourful, as the paper says, is not seen: the difference of chroma is") }}.
    The panel on the right stands apart: after training against an attack the chroma of the pictures is
    {{ value("images", panel=1, figure="fig-1", arm="adversarial-colour", quantity="chroma of pictures") | number }} and
    their roughness
    {{ value("images", panel=1, figure="fig-1", arm="adversarial-colour", quantity="roughness of pictures") | number }},
    against
    {{ value("images", panel=1, figure="fig-1", arm="contrastive-colour", quantity="chroma of pictures") | number }} and
    {{ value("images", panel=1, figure="fig-1", arm="contrastive-colour", quantity="roughness of pictures") | number }}
    of contrastive training without an attack; {{ said("contrastive/shapes-fig-1-steadier-under-attack",
            holds="it keeps features steadier under attack, by a cosine of",
            fails="it does not keep features clearly steadier under attack: the cosine changes by") }}.
    The numbers are of the first data set.
    """
    names, found = ordered(config), numbers(evaluations, config)
    shown = by_arm(pictures, config, "fig-1")
    arms = FIGURE_ARMS["fig-1"]
    drawn = canvas(8.6, 3.0 * len(names) + 0.6)
    axes = drawn.subplots(len(names), len(arms) + 1, squeeze=False, width_ratios=[3] * 4 + [2.2])
    for panel, (name, row) in enumerate(zip(names, axes, strict=True), 1):
        for ax, arm in zip(row, arms, strict=False):
            ax.imshow(mosaic(shown[name, arm], "feature"), interpolation="nearest")
            bare(ax)
            ax.set_title(TITLES[arm], fontsize=8.5)
            ax.set_xlabel(
                f"chroma {told(found, panel, 'fig-1', arm, 'chroma of pictures')}\n"
                f"roughness {told(found, panel, 'fig-1', arm, 'roughness of pictures')}\n"
                f"accuracy {told(found, panel, 'fig-1', arm, 'class accuracy')}",
                fontsize=8,
            )
        row[0].set_ylabel(name)
        own = measured(evaluations, config, name, "fig-1")
        groups(row[-1], own, found[found["figure"] == "fig-1"], panel, "chroma of pictures", arms)
        row[-1].set_ylim(0, 1)
    arm_legend(drawn, arms)
    return drawn


@figure()
def fig_2(
    evaluations: pd.DataFrame, pictures: pd.DataFrame, patterns: pd.DataFrame, config: Config
) -> Figure:
    """Figure 2: features under three augmentations

    Contrastive training without augmentation, with crops, and with crops and colour distortion. Above, how the
    kernels of the first layer changed since the start that all share (grey: not at all; each kernel is taken
    from its least to its largest value); below, images that make channels of the last layer answer strongly. Right:
    accuracy of a linear probe for the class; share of the variance of the image's mean colour that is linear
    in the features (*colour explained*, R²); and the share of energy that is colour in kernels and pictures (*chroma*).
    Dashed: the untrained network; dotted: chance. *Roughness* is the share of a picture's energy that a mean over 2 × 2 pixels removes: 0.75 for white noise.
    *What to see*, in differences of accuracy:
    {{ said("contrastive/shapes-fig-2-none-meaningless",
            holds="what is learned without augmentation is no better for the class than a random start, as the paper says",
            fails="what is learned without augmentation is better for the class than a random start, against the paper") }};
    {{ said("contrastive/shapes-fig-2-full-over-crop", holds="colour distortion makes the features better than crops alone",
            fails="colour distortion does not make the features better than crops alone") }}.
    Without augmentation and with crops alone the features hold the colour
    ({{ value("images", panel=1, figure="fig-2", arm="contrastive-none", quantity="colour explained") | number }} and
    {{ value("images", panel=1, figure="fig-2", arm="contrastive-crop", quantity="colour explained") | number }}), and the
    class is told with an accuracy of
    {{ value("images", panel=1, figure="fig-2", arm="contrastive-none", quantity="class accuracy") | number }} and
    {{ value("images", panel=1, figure="fig-2", arm="contrastive-crop", quantity="class accuracy") | number }}. With colour
    distortion it is
    {{ value("images", panel=1, figure="fig-2", arm="contrastive-colour", quantity="class accuracy") | number }}.
    """
    names, found = ordered(config), numbers(evaluations, config)
    shown = by_arm(pictures, config, "fig-2")
    arms = FIGURE_ARMS["fig-2"]
    drawn = canvas(8.6, 4.1 * len(names) + 0.6)
    grid = drawn.subplots(2 * len(names), 5, squeeze=False, width_ratios=[3, 3, 3, 2, 2])
    for panel, name in enumerate(names, 1):
        upper, lower = grid[2 * panel - 2], grid[2 * panel - 1]
        for place, arm in enumerate(arms):
            changed = change(shown[name, arm], shown[name, START])
            for ax, own in ((upper[place], changed), (lower[place], shown[name, arm])):
                kind = "filter" if ax is upper[place] else "feature"
                ax.imshow(mosaic(own, kind), interpolation="nearest")
                bare(ax)
            upper[place].set_title(TITLES[arm], fontsize=8.5)
            upper[place].set_xlabel(
                f"chroma {told(found, panel, 'fig-2', arm, 'chroma of filters')}"
            )
            lower[place].set_xlabel(
                f"chroma {told(found, panel, 'fig-2', arm, 'chroma of pictures')}\n"
                f"roughness {told(found, panel, 'fig-2', arm, 'roughness of pictures')}"
            )
        upper[0].set_ylabel(f"{name}\nchange of the first filters")
        lower[0].set_ylabel("pictures of the last layer")
        wanted = ("class accuracy", "colour explained", "chroma of filters", "chroma of pictures")
        own = measured(evaluations, config, name, "fig-2")
        for ax, quantity in zip((*upper[3:], *lower[3:]), wanted, strict=True):
            groups(ax, own, found[found["figure"] == "fig-2"], panel, quantity, arms)
            ax.set_ylim(0, 1.03)
        classes = patterns.loc[patterns["data_set"] == name, "label"].nunique()
        upper[3].axhline(1 / classes, color=COLOURS["ink"], linestyle=":", linewidth=0.9)
    arm_legend(drawn, arms)
    return drawn


@figure()
def fig_3(evaluations: pd.DataFrame, maps: pd.DataFrame, config: Config) -> Figure:
    """Figure 3: maps of the representation

    t-SNE maps of the features of fresh images, the same ones in each column. Above, points have the colour
    and mark of their class; below, the mean colour of their image. *Silhouette* tells how far apart the
    classes lie in the map (1: tight classes far apart, 0 and below: mixed), *purity* how many of a point's ten
    nearest neighbours share its class, *colour explained* how much of the variance of the mean colour is linear
    in the features; after the sign stands the 95 % interval over replicates. *What to see:*
    the lower row is sorted by colour where nothing distorts it. The paper's claim is that classes lie together
    in the column on the right alone:
    {{ said("contrastive/shapes-fig-3-purity-over-crop", holds="they lie together more than with crops alone, by a purity of",
            fails="they do not clearly lie together more than with crops alone: the difference of purity is") }}. The purity is
    {{ value("images", panel=1, figure="fig-3", arm="contrastive-none", quantity="purity of the map") | number }} without
    augmentation, {{ value("images", panel=1, figure="fig-3", arm="contrastive-crop", quantity="purity of the map") | number }}
    with crops, and
    {{ value("images", panel=1, figure="fig-3", arm="contrastive-colour", quantity="purity of the map") | number }} with
    colour distortion.
    """
    names, found = ordered(config), numbers(evaluations, config)
    shown = by_arm(maps, config, "fig-3")
    from matplotlib.lines import Line2D

    arms = FIGURE_ARMS["fig-3"]
    drawn = canvas(8.6, 5.6 * len(names) + 0.2)
    grid = drawn.subplots(2 * len(names), len(arms), squeeze=False)
    for panel, name in enumerate(names, 1):
        upper, lower = grid[2 * panel - 2], grid[2 * panel - 1]
        for place, arm in enumerate(arms):
            points = shown[name, arm]
            for label in sorted(int(each) for each in points["label"].unique()):
                own = points[points["label"] == label]
                upper[place].scatter(own["x"], own["y"], s=9, lw=0, **_mark(label))
            lower[place].scatter(
                points["x"], points["y"], s=9, c=points[["red", "green", "blue"]].to_numpy(), lw=0
            )
            for ax in (upper[place], lower[place]):
                bare(ax)
                ax.set_aspect("equal", "datalim")
            upper[place].set_title(TITLES[arm], fontsize=8.5)
            upper[place].set_xlabel(
                f"silhouette {told(found, panel, 'fig-3', arm, 'silhouette of the map')}\n"
                f"purity {told(found, panel, 'fig-3', arm, 'purity of the map')}"
            )
            lower[place].set_xlabel(
                f"colour explained {told(found, panel, 'fig-3', arm, 'colour explained')}"
            )
        upper[0].set_ylabel(f"{name}\ncoloured by class")
        lower[0].set_ylabel("coloured as the image")
    labels = sorted(int(each) for each in maps["label"].unique())
    key = [
        Line2D([], [], linestyle="", markersize=5, label=f"class {label + 1}", **_mark(label))
        for label in labels
    ]
    drawn.legend(handles=key, loc="outside lower center", ncols=min(10, len(key)))
    return drawn


def _mark(label: int) -> dict[str, Any]:
    """Colour and marker of a class."""
    colours = [*COLOURS.values()]
    return {
        "color": colours[label % len(colours)],
        "marker": CLASS_MARKERS[label % len(CLASS_MARKERS)],
    }


@figure()
def fig_4(evaluations: pd.DataFrame, patterns: pd.DataFrame, config: Config) -> Figure:
    """Figure 4: which neurons fire

    Each panel is one layer of one network: a row an image, sorted by class (blue lines part the classes), a column
    a channel, the darker the more places of its map fire, that is, are above zero after the rectifier. Below each panel the firing rate
    over all images, places and channels; on the right these rates by layer, with 95 % intervals over
    replicates. The paper shows layers 2 to 5 and says that colour distortion makes contrastive firing
    sparser, and that supervised firing is sparse with it and without. *What to see,* in
    differences of the mean firing rate of these layers:
    {{ said("contrastive/shapes-fig-4-sparser", holds="contrastive firing is sparser with colour distortion than without",
            fails="contrastive firing is not clearly sparser with colour distortion than without") }};
    {{ said("contrastive/shapes-fig-4-supervised-sparser", holds="supervised firing is sparser than contrastive firing with the same crops",
            fails="supervised firing is not clearly sparser than contrastive firing with the same crops") }};
    {{ said("contrastive/shapes-fig-4-towards-supervised",
            holds="colour distortion brings the contrastive profile nearer to the supervised one, by a rate a layer of",
            fails="colour distortion does not bring the contrastive profile clearly nearer to the supervised one: by a rate a layer of") }}.
    """
    names, found = ordered(config), numbers(evaluations, config)
    shown = by_arm(patterns, config, "fig-4")
    arms = FIGURE_ARMS["fig-4"]
    layers = {name: list(pd.unique(shown[name, arms[0]]["layer"]))[1:] for name in names}
    widest = max(len(each) for each in layers.values())
    drawn = canvas(8.6, 5.6 * len(names) + 0.6)
    ratios = [2] * widest + [2.6]
    grid = drawn.subplots(len(arms) * len(names), widest + 1, squeeze=False, width_ratios=ratios)
    for panel, name in enumerate(names, 1):
        block = grid[(panel - 1) * len(arms) : panel * len(arms)]
        for row, arm in zip(block, arms, strict=True):
            rates = rows_of(found, panel, "fig-4", arm, "firing rate").set_index("layer")["mean"]
            for ax, layer in zip(row, layers[name], strict=False):
                own = shown[name, arm]
                own = own[own["layer"] == layer]
                shares = own.pivot_table(index="image", columns="channel", values="share")
                image = ax.imshow(shares, cmap="Greys", vmin=0, vmax=1, aspect="auto")
                bare(ax)
                labels = own.groupby("image")["label"].first().to_numpy()
                for edge in np.flatnonzero(np.diff(labels)):
                    ax.axhline(edge + 0.5, color=COLOURS["sky"], linewidth=0.5)
                ax.set_xlabel(f"fires {rates[layer]:.2f}", labelpad=2)
                if arm == arms[0]:
                    ax.set_title(f"layer {layers[name].index(layer) + 2}", fontsize=8.5)
            for ax in row[len(layers[name]) : -1]:
                ax.set_axis_off()
            row[0].set_ylabel(TITLES[arm].replace(" + ", " +\n"), fontsize=8)
        _profiles(block[0][-1].get_gridspec(), drawn, block, found, panel, arms)
        block[0][0].set_title(f"{name}: layer 2", fontsize=8.5)
    scale = drawn.colorbar(
        image, ax=list(grid[:, :-1].flat), location="left", shrink=0.35, pad=0.02
    )
    scale.set_label("share of places that fire", fontsize=8)
    arm_legend(drawn, arms)
    return drawn


def _profiles(
    spec: Any,
    drawn: Figure,
    block: np.ndarray,
    found: pd.DataFrame,
    panel: int,
    arms: Sequence[str],
) -> None:
    """Firing rate by layer, one line an arm, over the whole height of a block."""
    first = (panel - 1) * len(arms)
    for row in block:
        row[-1].remove()
    ax = drawn.add_subplot(spec[first : first + len(arms), -1])
    for arm in (*arms, START):
        own = rows_of(found, panel, "fig-4", arm, "firing rate")
        whiskers(ax, range(1, len(own) + 1), own["mean"], own["half_width"], ARM_COLOURS[arm],
                 line="--" if arm == START else "-")  # fmt: skip
    ax.set(xlabel="layer", ylim=(0, 1), xticks=range(1, len(own) + 1))
    ax.set_title("firing rate", fontsize=8.5)


@figure()
def first_layer(evaluations: pd.DataFrame, traces: pd.DataFrame, config: Config) -> Figure:
    """How soon the first layer is done

    Above, how far the first layer's kernels still are from where they end, over what that was at the start, by
    the share of the training that is over: means over replicates with 95 % intervals, in the colours that are
    named below. Below, when half of the way is done: a dot a replicate, and their mean with its 95 % interval. All trainings have the same number
    of steps, batch size and schedule of the rate. The paper remarks that features of the first layer emerge more
    slowly in contrastive than in supervised training. *What to see* below:
    {{ said("contrastive/shapes-slow-first-layer-colour",
            holds="where both distort colours the contrastive network gets there later than the supervised one, by a share of the training of",
            fails="where both distort colours the contrastive network does not get there clearly later than the supervised one: by a share of the training of") }};
    {{ said("contrastive/shapes-slow-first-layer-same-crop",
            holds="with crops alone it is later as well, by a share of",
            fails="with crops alone it is not clearly later: by a share of") }}.
    """
    names = ordered(config)
    looks = {
        arm: Look(TITLES[arm].replace("\n", ", "), ARM_COLOURS[arm]) for arm in FIGURE_ARMS["fig-4"]
    }
    drawn = canvas(min(PAGE, 4.6 * len(names) + 2.2), 5.0)
    axes = drawn.subplots(
        2, len(names), squeeze=False, sharex=True, sharey="row", height_ratios=[2.2, 1]
    )
    for name, (upper, lower) in zip(names, axes.T, strict=True):
        own = measured(traces, config, name, "fig-4").rename(columns={"distance": "value"})
        for arm, look in looks.items():
            history(upper, own[own["arm"] == arm], look.words, look.colour, x="progress",
                    errorbar=within(0))  # fmt: skip
        halfway = measured(evaluations, config, name, "fig-4")
        rows(lower, halfway[halfway["quantity"] == HALFWAY], "arm", looks=looks,
             errorbar=share_interval)  # fmt: skip
        upper.axhline(0.5, color=COLOURS["grey"], linewidth=0.8)
        upper.set(title=name, xlabel=None, ylabel=None, xlim=(0, 1), ylim=(0, None))
        lower.set(xlabel="share of the training that is over")
        lower.set_title("half of the way", fontsize=8.5)
    axes[0, 0].set_ylabel("distance of the first filters\nto their end, over that at the start")
    return drawn
