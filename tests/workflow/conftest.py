"""Two finished runs that all these tests look at or copy: the real workflow's, and the toy's."""

import os

import pytest
from filelock import FileLock

from .checkout import Checkout
from .toy import Toy
from .trained import trained


def pytest_collection_modifyitems(items):
    """All but the report in a browser run Snakemake for real."""
    for item in items:
        if item.path.parent.name == "workflow" and "browser" not in item.path.name:
            item.add_marker("workflow")


@pytest.fixture(scope="session")
def sources(tmp_path_factory):
    """The repository as a user gets it: nothing was run. Copy it before you do."""
    return Checkout.of_repository(tmp_path_factory.mktemp("sources")).take_notes()


@pytest.fixture(scope="session")
def finished(sources, tmp_path_factory):
    """A checkout in which everything at smoke scale was made. Copy it before you change it."""
    return shared("finished", sources, tmp_path_factory)


def shared(name, sources, factory):
    """A copy in which everything was made; workers of pytest-xdist share it.

    The first that needs it makes it, the others wait.
    """
    base = factory.getbasetemp()
    base = base.parent if "PYTEST_XDIST_WORKER" in os.environ else base
    root, mark = base / name, base / f"{name}.made"
    with FileLock(base / f"{name}.lock"):
        if not mark.exists():
            sources.copy(root).snakemake().well()
            mark.touch()
    return type(sources)(root)


@pytest.fixture(scope="session")
def fresh(sources, tmp_path_factory):
    """Gives a checkout of its own in which nothing was run."""
    return lambda: sources.copy(tmp_path_factory.mktemp("fresh"))


@pytest.fixture(scope="session")
def done(finished, tmp_path_factory):
    """Gives a finished checkout of its own."""
    return lambda: finished.copy(tmp_path_factory.mktemp("done"))


# the same of the toy, the paper of the template, alone and with trainings: for what is about the
# frame, and not about what a paper says


@pytest.fixture(scope="session")
def template(tmp_path_factory):
    return Toy.of_template(tmp_path_factory.mktemp("template"))


@pytest.fixture(scope="session")
def template_finished(template, tmp_path_factory):
    return shared("template-finished", template, tmp_path_factory)


@pytest.fixture(scope="session")
def toy_sources(tmp_path_factory):
    return trained(Toy.of_template(tmp_path_factory.mktemp("toy")))


@pytest.fixture(scope="session")
def toy_finished(toy_sources, tmp_path_factory):
    return shared("toy-finished", toy_sources, tmp_path_factory)


@pytest.fixture(scope="session")
def fresh_toy(toy_sources, tmp_path_factory):
    return lambda: toy_sources.copy(tmp_path_factory.mktemp("fresh-toy"))


@pytest.fixture(scope="session")
def done_toy(toy_finished, tmp_path_factory):
    return lambda: toy_finished.copy(tmp_path_factory.mktemp("done-toy"))
