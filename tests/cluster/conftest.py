"""One Slurm for all these tests; without its programs they are skipped, and say so."""

import tempfile
from pathlib import Path

import pytest

from workflow.conftest import fresh, sources

from .slurm import Slurm, missing_programs

__all__ = ["fresh", "sources"]  # fixtures


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
