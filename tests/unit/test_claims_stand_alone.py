"""What every claim of every paper must be by its kind and source."""

import re
from collections.abc import Mapping
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

from featlearn.core.claim_methods import of_module
from featlearn.core.claims import IDENTITY, OBSERVATION, THEOREM, Claim
from featlearn.core.config import load
from featlearn.core.publish import PACKAGE

ROOT = Path(__file__).resolve().parents[2]
DESK = load({"scale": "desk"}, ROOT)
PAPERS = sorted({file.parent.name for file in PACKAGE.glob("*/analysis")})


def declared(paper: str) -> dict[str, Claim]:
    """Every claim of a paper at the scale desk, by its name."""
    home = PACKAGE / paper
    found = {}
    for file in sorted(home.glob("analysis/**/*.py")):
        module = import_module(
            ".".join(("featlearn", *file.with_suffix("").relative_to(PACKAGE).parts))
        )
        config = section(DESK.get(paper, {}), paper, file.stem)
        found |= {claim.claim: claim for claim in of_module(module, config)}
    return found


def section(own: Mapping[str, Any], paper: str, module: str) -> Mapping[str, Any]:
    """What the claims of a module are declared from, as the rules give it to them."""
    if (paper, module) == ("contrastive", "images"):
        return own["images"]
    if (paper, module) == ("noncontrastive", "robust"):
        return {name: one for name, one in own["images"].items() if one["robust"]}
    return own


@pytest.mark.parametrize("paper", PAPERS)
def test_what_is_printed_is_a_claim_of_the_paper(paper):
    """A misprint counts as what the paper says, whatever it takes to see it."""
    printed = {
        name: claim.kind
        for name, claim in declared(paper).items()
        if "as-printed" in name or "/printed-" in name
    }
    assert set(printed.values()) <= {THEOREM}, printed
    # what a figure or table prints is no observation of ours, unless the source says what is
    if paper not in ("mrp", "contrastive", "noncontrastive"):
        for one in declared(paper).values():
            if one.kind in (OBSERVATION, IDENTITY):
                assert "printed" not in one.claim
                assert not re.match("Figure|Table", one.source), one.claim
