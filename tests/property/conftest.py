"""Settings of the property tests: the same examples each time, no stopwatch, one thread."""

from __future__ import annotations

import pytest
import torch
from hypothesis import settings

settings.register_profile(
    "featlearn", derandomize=True, deadline=None, max_examples=40, database=None
)
settings.load_profile("featlearn")


@pytest.fixture(autouse=True, scope="package")
def one_thread():
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)
