"""What a valid ``gradient_features`` config must satisfy beyond types and ranges. No torch."""

from __future__ import annotations

from collections.abc import Mapping
from math import comb
from typing import Any

from featlearn.core.run.checks import Checks


def majority_plateau(block: int, structured: float) -> float:
    """Accuracy of the sign of <D, x> on a parity of one block (B.3.1): the simplest rule.

    It is right on the structured inputs, and on uniform ones as often as the majority of ``block``
    signs, an odd number, is their product.
    """
    agree = sum(comb(block, minus) for minus in range(block + 1)
                if (minus % 2 == 0) == (2 * minus < block)) / 2**block  # fmt: skip
    return 2 * structured + (1 - 2 * structured) * agree


def faults(gradient_features: Mapping[str, Any]) -> list[str]:
    """Values that contradict each other."""
    check = Checks("gradient_features", gradient_features)
    cones, learning, frozen, lemmas, appendix = (
        gradient_features[name] for name in ("cones", "learning", "frozen", "lemmas", "appendix")
    )
    alternative = appendix["alternative"]
    laws = [
        *((f"cones.laws.{name}", name, law) for name, law in cones["laws"].items()),
        *((f"learning.laws.{name}", name, law) for name, law in learning["laws"].items()),
        ("structure", "parity", gradient_features["structure"]),
        *((f"frozen.uniform_parity.{name}", "uniform_parity", law)
          for name, law in frozen["uniform_parity"].items()),
        ("frozen.multi_index", "multi_index", frozen["multi_index"]),
        ("lemmas.mixture", "mixture", lemmas["mixture"]),
        ("lemmas.activation.laws.parity", "parity", lemmas["activation"]["laws"]["parity"]),
        *(("appendix.alternative", "uniform_parity", {**alternative, "dimension": dimension})
          for dimension in alternative["dimensions"]),
    ]  # fmt: skip
    for path, name, law in laws:
        check.faults += _law_faults(name, law, f"gradient_features.{path}")
    for name, several in (("parity", False), ("parity_blocks", True)):
        blocks = cones["laws"][name]["blocks"]
        check(
            f"cones.laws.{name}.blocks", (blocks > 1) == several, "more than 1" if several else "1"
        )
    structured, test = learning["laws"]["parity"]["structured"], learning["sets"]["test"]
    for part, share in {"structured": 2 * structured, "uniform": 1 - 2 * structured}.items():
        wanted = f"a share with ten {part} inputs or more among the {test} of sets.test"
        check("learning.laws.parity.structured", share * test >= 10, wanted)
    least, narrow = min(frozen["scan"]["ratios"]), min(frozen["scan"]["dimensions"])
    wanted = f"at least 1 / {narrow**2}: one input or more at the smallest of dimensions ({narrow})"
    check("frozen.scan.ratios", round(least * narrow**2) >= 1, wanted, least)
    tails = lemmas["tails"]
    wanted = f"more than twice the block ({tails['block']}): the background has its variance"
    smallest = min(tails["dimensions"])
    check("lemmas.tails.dimensions", smallest > 2 * tails["block"], wanted, smallest)
    check.one_of("opponents.judged.dimension", "opponents.dimensions")
    check.one_of("opponents.judged.noise", "opponents.noises")
    odd = all(block % 2 for block in appendix["fixed"]["blocks"])
    check("appendix.fixed.blocks", odd, "a list of odd numbers")
    return check.faults


def _law_faults(name: str, law: Mapping[str, Any], path: str) -> list[str]:
    check = Checks(path, law)
    dimension = law["dimension"]
    fewer = f"fewer than the dimension ({dimension})"
    if name == "mixture":
        classes = law["classes"]
        check("classes", len(set(classes)) > 1, "clusters of both classes, 1 and -1")
        check("classes", len(classes) < dimension, f"{fewer}: their centres are orthogonal")
    elif name in ("parity", "parity_blocks"):
        block, blocks = law["block"], law.get("blocks", 1)
        for part, value in (("block", block), ("blocks", blocks)):
            check(part, value % 2, "an odd number, or labels are no signs", value)
        size, value = block * blocks, f"{blocks} x {block} coordinates"
        check("block", size < dimension, fewer, value)
        check("block", size <= 11, "at most 11: closed forms are sums over their signs", value)
        right = 2 * blocks * law["structured"] <= 1
        wanted = f"at most 1 / {2 * blocks}: there are {2 * blocks} structured components"
        check("structured", right, wanted)
    elif name == "uniform_parity":
        check("block", law["block"] % 2 == 0, "an even number (Assumption B.53)")
        check("dimension", dimension % 2, "an odd number: a majority has no ties")
        check.less("block", "dimension")
    elif name == "multi_index":
        curvatures = law["curvatures"]
        check("curvatures", any(curvatures), "a list with one that is not 0")
        check("curvatures", len(curvatures) < dimension, fewer)
        few = len(law.get("quartics", ())) <= len(curvatures)
        check("quartics", few, "at most one for each curvature", law.get("quartics"))
    return check.faults
