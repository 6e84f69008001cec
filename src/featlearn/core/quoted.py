"""Numbers that a paper reports, kept apart from those that a run measures."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pandas as pd

from featlearn.core.config import read_yaml
from featlearn.core.errors import ConfigError


def quoted_table(path: Path, name: str) -> tuple[pd.DataFrame, dict[str, Any]]:
    """One table of ``config/paper_values/<paper>.yaml``.

    Returns
    -------
    DataFrame
        The table's rows with ``paper_value`` and a column ``measured`` that is empty (NaN): nothing
        has been measured for it yet.
    dict
        ``title`` and ``source``.

    Raises
    ------
    ConfigError
        If the file has no such table.
    """
    tables = read_yaml(path)
    if name not in tables:
        raise ConfigError(f"{path}: no table {name!r}; it has {', '.join(tables)}")
    entry = tables[name]
    frame = pd.DataFrame(entry["rows"]).assign(measured=float("nan"), source=entry["source"])
    return frame, {"title": entry["title"], "source": entry["source"]}
