"""One run of the real workflow at smoke scale that all these tests look at or copy."""

from __future__ import annotations

import pytest

from .checkout import Checkout


@pytest.fixture(scope="session")
def sources(tmp_path_factory):
    """The repository as a user gets it: nothing was run. Copy it before you do."""
    return Checkout.of_repository(tmp_path_factory.mktemp("sources"))


@pytest.fixture(scope="session")
def finished(sources, tmp_path_factory):
    """A checkout in which everything at smoke scale was made. Copy it before you change it."""
    made = sources.copy(tmp_path_factory.mktemp("finished"))
    made.snakemake().well()
    return made


@pytest.fixture(scope="session")
def fresh(sources, tmp_path_factory):
    """Gives a checkout of its own in which nothing was run."""
    return lambda: sources.copy(tmp_path_factory.mktemp("fresh"))


@pytest.fixture(scope="session")
def done(finished, tmp_path_factory):
    """Gives a finished checkout of its own."""
    return lambda: finished.copy(tmp_path_factory.mktemp("done"))
