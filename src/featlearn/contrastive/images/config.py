"""Which networks are trained how for which figure, and what a valid config of it is. No torch."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from featlearn.core.errors import FeatlearnError
from featlearn.images.config_data import LAYERED, augmentation_faults, data_faults
from featlearn.images.on_disk import as_opened, listing_digest, sources


@dataclass(frozen=True)
class Arm:
    """A way to train an encoder.

    Parameters
    ----------
    method
        ``contrastive`` (SimCLR), ``supervised`` or ``adversarial`` (RoCL).
    views
        What happens to an image: ``none``, ``crop`` (crop and resize), or ``colour`` (crop and
        resize, then colour distortion).
    """

    method: str
    views: str


ARMS = {
    "contrastive-none": Arm("contrastive", "none"),
    "contrastive-crop": Arm("contrastive", "crop"),
    "contrastive-colour": Arm("contrastive", "colour"),
    "supervised-crop": Arm("supervised", "crop"),
    "supervised-colour": Arm("supervised", "colour"),
    "adversarial-colour": Arm("adversarial", "colour"),
}
#: Kinds of encoders with five layers.
FIVE_LAYERS = ("plain", "alexnet")
#: The quantity that says when in its training the first layer was halfway to its end.
HALFWAY = "halfway"
#: The control: the encoder before any training.
START = "random"
#: What each figure of the paper compares. Figure 1 has no ``supervised-colour`` in the paper: its
#: supervised network never saw distorted colours and its contrastive one did.
FIGURE_ARMS = {
    "fig-1": ("supervised-crop", "supervised-colour", "contrastive-colour", "adversarial-colour"),
    "fig-2": ("contrastive-none", "contrastive-crop", "contrastive-colour"),
    "fig-3": ("contrastive-none", "contrastive-crop", "contrastive-colour"),
    "fig-4": ("contrastive-crop", "contrastive-colour", "supervised-crop", "supervised-colour"),
}
#: Whose features are mapped by t-SNE; a map takes as long as all else that is measured.
MAPPED = (*FIGURE_ARMS["fig-3"], START)


def encoder_of(settings: Mapping[str, Any], figure: str) -> str:
    """Name of the encoder that a figure shows."""
    return settings["figures"][figure.replace("-", "_")]


def trained(settings: Mapping[str, Any]) -> list[tuple[str, str]]:
    """Encoder and arm of every training of a data set, each once, in a fixed order."""
    wanted = {
        (encoder_of(settings, figure), arm) for figure, arms in FIGURE_ARMS.items() for arm in arms
    }
    return [(encoder, arm) for encoder in settings["encoders"] for arm in ARMS
            if (encoder, arm) in wanted]  # fmt: skip


def arms_of(settings: Mapping[str, Any], encoder: str) -> list[str]:
    """Arms that an encoder is trained by."""
    return [arm for kind, arm in trained(settings) if kind == encoder]


def mapped_arms(settings: Mapping[str, Any], encoder: str) -> list[str]:
    """Those of them whose features are mapped."""
    return [arm for arm in arms_of(settings, encoder) if arm in MAPPED]


def ordered(images: Mapping[str, Any]) -> list[str]:
    """Data sets in the order of their panels: made ones first, as they are known best."""
    return sorted(images, key=lambda name: (not is_made(images[name]), name))


def is_made(settings: Mapping[str, Any]) -> bool:
    """True for images that the run makes itself."""
    return "shapes" in settings


def faults(images: Mapping[str, Any], key: str) -> Iterator[str]:
    """Values that contradict each other: one line each, with the key and what was expected."""
    for name, settings in images.items():
        yield from _set_faults(settings, f"{key}.{name}")


def _set_faults(settings: Mapping[str, Any], key: str) -> Iterator[str]:
    if ("shapes" in settings) == ("real" in settings):
        yield f"{key}: expected one of the groups shapes (made images) and real (images on disk)"
        return
    if is_made(settings):
        shapes = settings["shapes"]
        smallest, largest = shapes["glyph_size"]
        if not smallest <= largest <= shapes["image_size"]:
            yield (
                f"{key}.shapes.glyph_size: {[smallest, largest]}; expected the smaller side first, "
                f"at most image_size ({shapes['image_size']})"
            )
    else:
        yield from data_faults(settings["real"], f"{key}.real")
    for views in ("crop", "colour"):
        steps = {"steps": settings["augmentation"][views]}
        yield from augmentation_faults(steps, f"{key}.augmentation.{views}")
    for name, encoder in settings["encoders"].items():
        if encoder["kind"] not in LAYERED:
            yield f"{key}.encoders.{name}.kind: {encoder['kind']}; expected {' or '.join(LAYERED)}"
    for figure, name in settings["figures"].items():
        if name not in settings["encoders"]:
            known = ", ".join(settings["encoders"])
            yield f"{key}.figures.{figure}: {name!r}; expected one of {known}"
        elif figure == "fig_4" and settings["encoders"][name]["kind"] not in FIVE_LAYERS:
            yield (
                f"{key}.figures.fig_4: {name!r}; expected an encoder of the kind "
                f"{' or '.join(FIVE_LAYERS)}: the figure is about layers 2 to 5"
            )
    if is_made(settings):
        yield from _count_faults(settings, key)


def _count_faults(settings: Mapping[str, Any], key: str) -> Iterator[str]:
    test = settings["shapes"]["test"]
    for group, name in (("embedding", "images"), ("firing", "images"), ("steadiness", "images")):
        count = settings[group][name]
        if count > test:
            yield f"{key}.{group}.{name}: {count}; expected at most shapes.test ({test})"
    if settings["embedding"]["perplexity"] >= settings["embedding"]["images"]:
        yield (
            f"{key}.embedding.perplexity: {settings['embedding']['perplexity']}; expected less "
            f"than embedding.images ({settings['embedding']['images']})"
        )


def state(settings: Mapping[str, Any]) -> str:
    """A digest of the files of a set of real images; empty if they are not there.

    A plan can then be made without them; the job that opens them says what is missing.
    """
    real = settings["real"]
    try:
        return listing_digest(sources(as_opened(real)), real.get("path") or ".")
    except FeatlearnError:
        return ""
