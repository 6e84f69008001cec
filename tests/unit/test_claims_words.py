"""What a row of the ledger says on its own: statements have a subject, kinds fit sources."""

from __future__ import annotations

import re
from importlib import import_module
from pathlib import Path

import pytest

from featlearn.core.claims import IDENTITY, OBSERVATION, declared
from featlearn.core.config import load
from featlearn.core.publish import PACKAGE

CHAPTERS = (
    "emergence", "gradient_features", "fourier", "looped", "icl", "nuclear", "universality",
    "gemfilter",
)  # fmt: skip
#: What only a reader of the row before can resolve.
LEANING = re.compile(
    r"(And|But|It|Its|Or|So|Such|That|Their|Then|There|These|They|This|Those|What|Yet|The same)\b"
)


@pytest.fixture(scope="module")
def claims():
    config = load({"scale": "desk"}, Path(__file__).parents[2])
    return [
        claim
        for paper in CHAPTERS
        for file in sorted((PACKAGE / paper / "claims").glob("[a-z]*.py"))
        for claim in declared(import_module(f"featlearn.{paper}.claims.{file.stem}"), config[paper])
    ]


def test_statements_and_quantities_name_their_subject(claims):
    assert len(claims) > 150
    assert not [one.claim for one in claims if LEANING.match(one.statement)]
    assert not [one.claim for one in claims if re.match("(the same|its|their) ", one.quantity)]


def test_what_is_printed_is_no_observation(claims):
    for one in claims:
        if one.kind in (OBSERVATION, IDENTITY):
            assert "printed" not in one.claim
            assert not re.match("Figure|Table", one.source), one.claim
