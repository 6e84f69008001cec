"""Numbers that a paper reports, kept apart from those that a run measures."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pandas as pd

from featlearn.core.errors import ConfigError


def paper_table(values: Mapping[str, Any], name: str) -> tuple[pd.DataFrame, dict[str, Any]]:
    """Rows, and title and source, of a table of printed values; ``measured`` is empty there."""
    if name not in values:
        raise ConfigError(f"paper values: no table {name!r}; expected one of {', '.join(values)}")
    entry = values[name]
    frame = pd.DataFrame(entry["rows"]).assign(measured=float("nan"), source=entry["source"])
    return frame, {"title": entry["title"], "source": entry["source"]}
