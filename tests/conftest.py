"""What holds for every test."""

from __future__ import annotations

import sys


def pytest_runtest_setup(item):
    """A test's random numbers do not depend on which tests ran before it."""
    if "torch" in sys.modules:
        sys.modules["torch"].manual_seed(0)
