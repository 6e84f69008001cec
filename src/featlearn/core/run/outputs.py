"""Writes what the function of a rule gives into the files that the rule names."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from featlearn.core.errors import FeatlearnError
from featlearn.core.files import write_markdown_table, write_parquet, write_tensors
from featlearn.core.run.exhibits import Table

if TYPE_CHECKING:
    import pandas as pd
    import torch
    from matplotlib.figure import Figure

    #: What the function of a rule returns: a frame or named tensors for each output that the rule
    #: names; of a rule that draws, the figure or table itself.
    Results = Mapping[str, pd.DataFrame | Mapping[str, torch.Tensor]] | Figure | Table


def write(
    results: Any,
    output: Any,
    function: str = "",
    title: str = "",
    may_be_empty: Collection[str] = (),
) -> None:
    """Write each part into the file of its name; FeatlearnError if one lacks, or has no rows."""
    if not isinstance(results, Mapping):
        first, second = output
        write_exhibit(results, first, second, title)
        return
    if set(results) != set(output.names):
        given, wanted = (", ".join(sorted(names)) or "nothing" for names in (results, output.names))
        raise FeatlearnError(f"{function}: gave {given}; expected {wanted}")
    for name, content in results.items():
        path = getattr(output, name)
        if isinstance(content, Mapping):
            write_tensors(content, path)
        elif content.empty and name not in may_be_empty:
            raise FeatlearnError(f"{function}: {name} has no rows; expected measurements")
        else:
            write_parquet(content, path)


def write_exhibit(made: Any, first: Path, second: Path, title: str = "") -> None:
    """Write a figure (SVG, PNG) or a :class:`Table` (Parquet, Markdown); FeatlearnError if none."""
    if isinstance(made, Table):
        if made.frame.empty:
            raise FeatlearnError(f"{first.name}: the table has no rows; expected measurements")
        write_parquet(made.frame, first)
        # a bar in a cell or a heading would begin another cell
        shown = made.shown.rename(columns=lambda name: str(name).replace("|", r"\|"))
        shown = shown.replace(r"\|", r"\\|", regex=True)
        write_markdown_table(shown, second, title=title, notes=_notes(made))
    elif hasattr(made, "savefig"):
        from featlearn.core.drawing.plots import save

        save(made, first, second)
    else:
        raise FeatlearnError(f"{first.name}: expected a figure or a Table, got {type(made)}")


def _notes(made: Table) -> str:
    from featlearn.core.evidence.stats import SPREAD_KIND

    words = f"after the sign: {SPREAD_KIND}."
    if "replicates" in made.frame:
        words = f"{int(made.frame['replicates'].max())} replicates; {words}"
    return words[0].upper() + words[1:] if made.notes is None else made.notes
