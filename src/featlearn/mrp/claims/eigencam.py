"""Which parts classifiers use; bands fixed before any map at desk scale was looked at."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from featlearn.core.claims import (
    CONTROL,
    OBSERVATION,
    SHARE,
    THEOREM,
    Claim,
    Measure,
    OutOfReach,
    first_of,
    needs,
)
from featlearn.mrp.claims.pictures import GAIN, less, reach, seen

#: Fewer pictures than these in a test set do not resolve differences of 0.05.
LEAST_TESTED = 200
#: One further part in twenty pictures.
MORE_PARTS = 0.05
#: What an answer among two parts has by chance.
CHANCE = 0.5
#: Of all claims on maps.
CELLS = "Cells of the maps were 8 pixels wide until such maps had been seen; now they are 4."

ARTEFACT = "mrp/measurements/images/eigencam.parquet"


def _reach(*methods: str) -> OutOfReach:
    """As for accuracies, with enough pictures tested and two parts a class."""
    trained = reach(*methods)

    def parts(config: Mapping[str, Any]) -> str | None:
        own = config["images"]["world"]["parts_per_class"]
        return None if own == 2 else f"{own} parts a class; the band is meant for 2."

    tested = needs(eigencam__pictures=LEAST_TESTED)
    return first_of(lambda config: trained(config["images"]), tested, parts)


def _value(start: str, quantity: str) -> Measure:
    """Of the classifier with the most labels on multi-view pictures, one number a replicate."""
    return seen("values", "max", start=start, quantity=quantity, test_set="multi_view")


def _less(start: str, reference: str, quantity: str) -> Measure:
    return less(_value(start, quantity), _value(reference, quantity))


def _more_parts(name: str, start: str, reference: str, source: str, words: str) -> Claim:
    return Claim(
        f"mrp/cam-{name}",
        THEOREM,
        source=source,
        statement=f"Maps of a network pre-trained by {words} and fine-tuned hit more parts of a "
        "multi-view picture than those of the same network trained with labels only.",
        quantity="parts hit a picture, difference, paired",
        low=MORE_PARTS,
        high=2.0,
        possible=(-2.0, 2.0),
        reason="In each pair that the paper prints, a part or more is added; one further part in "
        "twenty pictures is the least that would be seen by eye at all, and five replicates of "
        "500 pictures resolve it.",
        changed=CELLS,
        measure=_less(start, reference, "hits"),
        artefact=ARTEFACT,
        out_of_reach=_reach(start),
    )


def _agrees(name: str, start: str, words: str) -> Claim:
    return Claim(
        f"mrp/cam-agrees-{name}",
        CONTROL,
        source="Figures 1 and 3 to 5: maps are read as what the prediction rests on",
        statement=f"The hottest part of {words} is the one whose erasure hurts the prediction "
        "most, more often than by chance.",
        quantity="share of multi-view pictures where they are the same, less one half",
        low=0.05,
        high=CHANCE,
        possible=(-CHANCE, CHANCE),
        reason="The paper reads its maps as causes, so they must tell the part that counts; one "
        "half is what a coin tells, and 0.05 is five times the sampling error of 5 x 500 pictures.",
        changed=CELLS,
        measure=lambda frames: _value(start, "matched")(frames) - CHANCE,
        artefact=ARTEFACT,
        out_of_reach=_reach(*({"simmim"} & {start})),
    )


CLAIMS: tuple[Claim, ...] = (
    Claim(
        "mrp/cam-parts-are-all-there-is",
        CONTROL,
        source="Definition 3.1, on pictures",
        statement="With all parts of the class erased, the supervised network is at chance.",
        quantity="accuracy on multi-view pictures without parts of their class",
        low=0.0,
        high=0.3,
        possible=SHARE,
        reason="A check of the check: at most one of six classes is right by chance, and what is "
        "left can only mislead; more would mean that the class shows elsewhere.",
        measure=_value("random-cnn", "accuracy_without_parts"),
        artefact=ARTEFACT,
        out_of_reach=_reach(),
    ),
    _more_parts("more-parts", "simmim", "random-cnn", "Figures 3 and 4", "SimMIM"),
    _more_parts("more-parts-mae", "mae", "random-vit", "Figure 5", "MAE"),
    Claim(
        "mrp/cam-heat-more-even",
        THEOREM,
        source="Figures 3 and 4",
        statement="The heat of maps of a network pre-trained by SimMIM and fine-tuned is spread "
        "more evenly over the parts of the class than with labels only.",
        quantity="entropy over the parts, SimMIM less supervised, paired",
        reason="More parts in use mean a larger entropy; unlike the count it has no threshold. "
        "Below 0.02 a difference is not resolved.",
        changed=CELLS,
        measure=_less("simmim", "random-cnn", "entropy"),
        artefact=ARTEFACT,
        out_of_reach=_reach("simmim"),
        **GAIN,
    ),
    _agrees("supervised", "random-cnn", "a supervised network's map"),
    _agrees("simmim", "simmim", "the map of a network pre-trained by SimMIM and fine-tuned"),
    Claim(
        "mrp/cam-stands-erasure",
        OBSERVATION,
        source="Theorem 2 with Lemma 1",
        statement="Erasing one part of a picture turns fewer right predictions wrong after SimMIM "
        "and fine-tuning than after supervised training.",
        quantity="share of right predictions that turn wrong, supervised less SimMIM, paired",
        reason="A network that uses both parts stands the loss of one; one that uses one part is "
        "wrong in half of the cases. Five replicates resolve 0.02.",
        measure=_less("random-cnn", "simmim", "flipped"),
        artefact=ARTEFACT,
        out_of_reach=_reach("simmim"),
        **GAIN,
    ),
)
