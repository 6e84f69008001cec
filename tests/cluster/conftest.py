"""One Slurm for all these tests; without its programs they are skipped, and say so."""

import tempfile
from pathlib import Path

import pytest

from workflow.checkout import Checkout

from .slurm import Slurm, missing_programs


@pytest.fixture(scope="session")
def slurm():
    if missing := missing_programs():
        pytest.skip(
            f"no Slurm here (apt-get install slurm-wlm munge): {', '.join(missing)} missing"
        )
    # not pytest's folder: the path of a socket must be short
    with tempfile.TemporaryDirectory(prefix="featlearn-slurm-") as folder:
        cluster = Slurm(Path(folder)).start()
        try:
            yield cluster
        finally:
            cluster.stop()


@pytest.fixture(scope="session")
def sources(tmp_path_factory):
    """The repository as a user gets it: nothing was run. Copy it before you do."""
    return Checkout.of_repository(tmp_path_factory.mktemp("sources"))


@pytest.fixture(scope="session")
def fresh(sources, tmp_path_factory):
    """Gives a checkout of its own in which nothing was run."""
    return lambda: sources.copy(tmp_path_factory.mktemp("fresh"))
