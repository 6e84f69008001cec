"""The scale `real`: planned with the data sets that are there, and without those that are not."""

import pytest

from image_folders import grow

pytestmark = pytest.mark.workflow

HALF = {"scale": "real", "papers": ["nuclear", "emergence"]}
LOST = "remain in nuclear.domains"


def test_a_set_that_is_absent_is_named_and_a_set_of_the_user_takes_its_place(fresh):
    checkout = fresh()
    without = checkout.snakemake("--dry-run", changes=HALF).well()
    assert f"pacs: no ../shared/data/pacs64; stand-ins {LOST}" in without.text
    assert "mnist: no ../shared/data/mnist; stand-ins remain in emergence.neurons" in without.text
    for domain in ("art_painting", "cartoon", "photo", "sketch"):
        grow(checkout / "own" / domain, {"dog": 40, "house": 200})
    sets = {"pacs": {"kind": "folder", "path": "own"}}
    own = checkout.snakemake("--dry-run", changes={**HALF, "sets": sets}).well()
    assert LOST not in own.text
    assert "mnist: no" in own.text
    assert own.planned["nuclear_stack"] > without.planned["nuclear_stack"]
    wrong = {**HALF, "sets": {"pacs": "own"}}
    checkout.snakemake("--dry-run", changes=wrong).refused("sets.pacs must be a group")
