"""What a valid ``gradient_features`` config must satisfy beyond types and ranges. No torch."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from math import comb
from typing import Any


def majority_plateau(block: int, structured: float) -> float:
    """Accuracy of the sign of <D, x> on a parity of one block (B.3.1): the simplest rule.

    It is right on the structured inputs, and on uniform ones as often as the majority of ``block``
    signs, an odd number, is their product.
    """
    agree = sum(comb(block, minus) for minus in range(block + 1)
                if (minus % 2 == 0) == (2 * minus < block)) / 2**block  # fmt: skip
    return 2 * structured + (1 - 2 * structured) * agree


def faults(gradient_features: Mapping[str, Any]) -> Iterator[str]:
    """Values that contradict each other: one line each, with the key and what was expected."""
    key = "gradient_features.cones.laws"
    laws = gradient_features["cones"]["laws"]
    for name, own in laws.items():
        yield from _law_faults(name, own, f"{key}.{name}")
    for name in ("parity", "parity_blocks"):
        several = laws[name]["blocks"] > 1
        if several != (name == "parity_blocks"):
            wanted = "several blocks" if name == "parity_blocks" else "1"
            yield f"{key}.{name}.blocks: {laws[name]['blocks']}; expected {wanted}"
    learned = gradient_features["learning"]["laws"]
    for name, own in learned.items():
        whole = {"blocks": 1, **own} if name == "parity" else own
        yield from _law_faults(name, whole, f"gradient_features.learning.laws.{name}")
    structured, test = (
        learned["parity"]["structured"],
        gradient_features["learning"]["sets"]["test"],
    )
    for part, share in {"structured": 2 * structured, "uniform": 1 - 2 * structured}.items():
        if share * test < 10:
            yield (
                f"gradient_features.learning.laws.parity.structured: {structured}; expected ten "
                f"{part} inputs or more among the {test} of sets.test"
            )
    own = {"blocks": 1, **gradient_features["structure"]}
    yield from _law_faults("parity", own, "gradient_features.structure")
    frozen, lemmas = gradient_features["frozen"], gradient_features["lemmas"]
    for name, own in frozen["uniform_parity"].items():
        key = f"gradient_features.frozen.uniform_parity.{name}"
        yield from _law_faults("uniform_parity", own, key)
    yield from _law_faults(
        "multi_index", frozen["multi_index"], "gradient_features.frozen.multi_index"
    )
    yield from _law_faults("mixture", lemmas["mixture"], "gradient_features.lemmas.mixture")
    own = {"blocks": 1, **lemmas["activation"]["laws"]["parity"]}
    yield from _law_faults("parity", own, "gradient_features.lemmas.activation.laws.parity")
    least, narrow = min(frozen["scan"]["ratios"]), min(frozen["scan"]["dimensions"])
    if round(least * narrow**2) < 1:
        yield (
            f"gradient_features.frozen.scan.ratios: {least}; expected one input or more at the "
            f"smallest of dimensions ({narrow}): at least 1 / {narrow**2}"
        )
    tails = lemmas["tails"]
    if min(tails["dimensions"]) <= 2 * tails["block"]:
        yield (
            f"gradient_features.lemmas.tails.dimensions: {min(tails['dimensions'])}; expected more "
            f"than twice the block ({tails['block']}): the background has its variance"
        )
    opponents = gradient_features["opponents"]
    for one, many in (("dimension", "dimensions"), ("noise", "noises")):
        if opponents["judged"][one] not in opponents[many]:
            yield (
                f"gradient_features.opponents.judged.{one}: {opponents['judged'][one]}; expected "
                f"one of {many} ({', '.join(map(str, opponents[many]))})"
            )
    appendix = gradient_features["appendix"]
    block = appendix["alternative"]["block"]
    for dimension in appendix["alternative"]["dimensions"]:
        own = {"block": block, "dimension": dimension}
        yield from _law_faults("uniform_parity", own, "gradient_features.appendix.alternative")
    for block in appendix["fixed"]["blocks"]:
        if block % 2 == 0:
            yield f"gradient_features.appendix.fixed.blocks: {block}; expected odd numbers"


def _law_faults(name: str, law: Mapping[str, Any], key: str) -> Iterator[str]:
    dimension = law["dimension"]
    if name == "mixture":
        classes = law["classes"]
        if len(set(classes)) < 2:
            yield f"{key}.classes: {classes}; expected clusters of both classes, 1 and -1"
        if len(classes) >= dimension:
            yield (
                f"{key}.classes: {len(classes)} clusters; expected fewer than the dimension "
                f"({dimension}): their centres are orthogonal"
            )
    elif name in ("parity", "parity_blocks"):
        block, blocks, structured = law["block"], law["blocks"], law["structured"]
        for part in ("block", "blocks"):
            if law[part] % 2 == 0:
                yield f"{key}.{part}: {law[part]}; expected an odd number, or labels are no signs"
        if block * blocks >= dimension:
            yield (
                f"{key}.block: {blocks} x {block} coordinates; expected fewer than the dimension "
                f"({dimension})"
            )
        if block * blocks > 11:
            yield (
                f"{key}.block: {blocks} x {block} coordinates; expected at most 11: closed forms "
                "are sums over their signs"
            )
        if 2 * blocks * structured > 1:
            yield (
                f"{key}.structured: {structured}; expected at most 1 / {2 * blocks}: there are "
                f"{2 * blocks} structured components"
            )
    elif name == "uniform_parity":
        if law["block"] % 2:
            yield f"{key}.block: {law['block']}; expected an even number (Assumption B.53)"
        if dimension % 2 == 0:
            yield f"{key}.dimension: {dimension}; expected an odd number: a majority has no ties"
        if law["block"] + 1 > dimension:
            yield f"{key}.block: {law['block']}; expected less than the dimension ({dimension})"
    elif name == "multi_index":
        if not any(law["curvatures"]):
            yield f"{key}.curvatures: {law['curvatures']}; expected one that is not 0"
        if len(law.get("quartics", ())) > len(law["curvatures"]):
            yield f"{key}.quartics: {law['quartics']}; expected at most one for each curvature"
        if len(law["curvatures"]) >= dimension:
            yield (
                f"{key}.curvatures: {len(law['curvatures'])} directions; expected fewer than the "
                f"dimension ({dimension})"
            )
