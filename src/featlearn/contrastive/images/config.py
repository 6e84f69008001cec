"""Which networks are trained how for which figure, and what a valid config of it is. No torch."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from featlearn.core.run.checks import Checks
from featlearn.images.config_data import LAYERED, augmentation_faults, data_faults, is_whole


@dataclass(frozen=True)
class Arm:
    """A way to train an encoder."""

    method: str  #: ``contrastive`` (SimCLR), ``supervised`` or ``adversarial`` (RoCL)
    #: ``none``, ``crop`` (crop and resize) or ``colour`` (and then colour distortion)
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


def trainings(images: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Wildcards of every training of every data set."""
    return [
        {"image_data": name, "encoder": encoder, "arm": arm, "replicate": replicate}
        for name in ordered(images)
        for encoder, arm in trained(images[name])
        for replicate in range(images[name]["replicates"])
    ]


def measured(images: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Wildcards of every encoder, which is measured with all its arms."""
    encoders = [{**one, "arm": ""} for one in trainings(images)]
    return [one for place, one in enumerate(encoders) if one not in encoders[:place]]


def training_part(settings: Mapping[str, Any]) -> dict[str, Any]:
    """What a training depends on: the settings without those of its measurements."""
    later = ("probe", "firing", "steadiness", "visualisation", "embedding", "figures")
    return {key: value for key, value in settings.items() if key not in later}


def ordered(images: Mapping[str, Any]) -> list[str]:
    """Data sets in the order of their panels: made ones first, as they are known best."""
    return sorted(images, key=lambda name: (not is_made(images[name]), name))


def is_made(settings: Mapping[str, Any]) -> bool:
    """True for images that the run makes itself."""
    return "shapes" in settings


def faults(images: Mapping[str, Any], path: str) -> list[str]:
    """Values that contradict each other, in all data sets."""
    return [
        line for name, settings in images.items() for line in _faults(settings, f"{path}.{name}")
    ]


def _faults(settings: Mapping[str, Any], path: str) -> list[str]:
    check = Checks(path, settings)
    if ("shapes" in settings) == ("real" in settings):
        both = [name for name in ("shapes", "real") if name in settings]
        check("shapes", False, "given (made images), or else real (images on disk)", both)
        return check.faults
    if is_made(settings):
        size = settings["shapes"]["image_size"]
        smallest, largest = settings["shapes"]["glyph_size"]
        wanted = f"two sides, the smaller one first, at most image_size ({size})"
        check("shapes.glyph_size", smallest <= largest <= size, wanted)
        for group in ("embedding", "firing", "steadiness"):
            check.most(f"{group}.images", "shapes.test")
        check.less("embedding.perplexity", "embedding.images")
    else:
        check.faults += data_faults(settings["real"], f"{path}.real")
    for views in ("crop", "colour"):
        steps = {"steps": settings["augmentation"][views]}
        check.faults += augmentation_faults(steps, f"{path}.augmentation.{views}")
    for name, encoder in settings["encoders"].items():
        right = encoder["kind"] in LAYERED
        check(f"encoders.{name}.kind", right, " or ".join(LAYERED))
    for figure, name in settings["figures"].items():
        if check.one_of(f"figures.{figure}", "encoders") and figure == "fig_4":
            right = settings["encoders"][name]["kind"] in FIVE_LAYERS
            wanted = f"of the kind {' or '.join(FIVE_LAYERS)}: the figure is about layers 2 to 5"
            check(f"figures.{figure}", right, wanted)
    return check.faults


def contains(images: Mapping[str, Any]) -> str:
    """What the figures hold: they are the paper's with its networks on all of CIFAR-10."""
    own = any(
        is_whole(settings, "real", "cifar10")
        and all(one["kind"] in ("alexnet", "wide_resnet") for one in settings["encoders"].values())
        for settings in images.values()
    )
    return "measured" if own else "stand-in"
