"""Numbers that a paper reports, kept apart from those that a run measures."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pandas as pd

from featlearn.core.errors import ConfigError


def paper_table(values: Mapping[str, Any], name: str) -> tuple[pd.DataFrame, dict[str, Any]]:
    """One table of ``config/paper_values/<paper>.yaml``.

    ``values``: what stands in that file. Returns DataFrame: the table's rows with ``paper_value``
    and a column ``measured`` that is empty (NaN): nothing has been measured for it yet. Returns
    dict: ``title`` and ``source``. Raises ConfigError if there is no such table.
    """
    if name not in values:
        raise ConfigError(f"paper values: no table {name!r}; expected one of {', '.join(values)}")
    entry = values[name]
    frame = pd.DataFrame(entry["rows"]).assign(measured=float("nan"), source=entry["source"])
    return frame, {"title": entry["title"], "source": entry["source"]}
