"""One run of the real workflow at smoke scale that all these tests look at or copy."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from filelock import FileLock

from .checkout import Checkout

HERE = Path(__file__).parent


def pytest_collection_modifyitems(items):
    """Tests of one module share what it ran: side by side go modules, not tests."""
    for item in items:
        if item.path.parent == HERE:
            item.add_marker(pytest.mark.xdist_group(item.module.__name__))


@pytest.fixture(scope="session")
def sources(tmp_path_factory):
    """The repository as a user gets it: nothing was run. Copy it before you do."""
    return Checkout.of_repository(tmp_path_factory.mktemp("sources"))


@pytest.fixture(scope="session")
def finished(sources, tmp_path_factory):
    """A checkout in which everything at smoke scale was made. Copy it before you change it.

    Workers of pytest-xdist share it: the first that needs it makes it, the others wait.
    """
    base = tmp_path_factory.getbasetemp()
    shared = base.parent if "PYTEST_XDIST_WORKER" in os.environ else base
    root, mark = shared / "finished", shared / "finished.made"
    with FileLock(shared / "finished.lock"):
        if not mark.exists():
            made = sources.copy(root)
            made.snakemake().well()
            mark.touch()
    return Checkout(root)


@pytest.fixture(scope="session")
def fresh(sources, tmp_path_factory):
    """Gives a checkout of its own in which nothing was run."""
    return lambda: sources.copy(tmp_path_factory.mktemp("fresh"))


@pytest.fixture(scope="session")
def done(finished, tmp_path_factory):
    """Gives a finished checkout of its own."""
    return lambda: finished.copy(tmp_path_factory.mktemp("done"))
