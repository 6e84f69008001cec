"""The report of a run that failed: all that was made, what is missing, and why."""

from __future__ import annotations

import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pandas as pd

from featlearn.core.catalogue import catalogue_frame, read_catalogue
from featlearn.core.claims import COLUMNS
from featlearn.core.experiments import ENDS
from featlearn.core.files import read_parquet, write_atomically, write_parquet
from featlearn.core.report import Unfinished, render
from featlearn.core.run import FAILED, UNFINISHED


def write(
    *,
    results: str,
    wanted: Sequence[str],
    ledgers: Sequence[str],
    pages: Sequence[Sequence[str]],
    stories: Mapping[str, str],
    entries: str,
    config: Mapping[str, Any],
    command: str,
    killed: Mapping[str, str],
) -> str:
    """Write ``<results>/unfinished.html``.

    Parameters
    ----------
    results
        ``results/<run>``.
    wanted
        Every artefact of the run.
    ledgers
        Files as the rule ``claims`` takes them; those that are missing are left out.
    entries
        ``config/catalogue.yaml``.
    pages, stories, config, command
        As :func:`featlearn.core.report.render` takes them; exhibits that are missing are left out.
    killed
        Rules whose jobs ended without a word, and what is known of their end.

    Returns
    -------
    str
        A line that says where it lies and how much is missing.
    """
    folder = Path(results)
    missing = [str(Path(name).relative_to(folder)) for name in wanted if not Path(name).is_file()]
    found = Unfinished(missing, len(wanted), reasons(folder, killed))
    made = [read_parquet(name) for name in ledgers if Path(name).is_file()]
    claims = pd.concat(made, ignore_index=True) if made else pd.DataFrame(columns=list(COLUMNS))
    catalogue = catalogue_frame(read_catalogue(Path(entries)), folder, command)
    with tempfile.TemporaryDirectory() as scratch:
        write_parquet(claims, Path(scratch) / "claims.parquet")
        write_parquet(catalogue, Path(scratch) / "catalogue.parquet")
        page = render(
            claims=Path(scratch) / "claims.parquet",
            catalogue=Path(scratch) / "catalogue.parquet",
            pages=[page for page in pages if _shown(folder, *page[:3])],
            stories=stories,
            results=folder,
            config=config,
            command=command,
            unfinished=found,
        )
    write_atomically(folder / UNFINISHED, page.encode())
    return (
        f"{len(missing)} of {len(wanted)} files are missing; {folder / UNFINISHED} shows what "
        "there is, and why"
    )


def reasons(results: Path, killed: Mapping[str, str]) -> dict[str, tuple[str, str]]:
    """Why jobs failed: rule to its words and its log, as the logs of the run end.

    A job opens its log anew, so the log of one that went well since tells no error.
    """
    found = {rule: (words, "") for rule, words in killed.items()}
    for log in sorted((results / "logs").rglob("*.log")):
        lines = log.read_text(encoding="utf-8", errors="replace").splitlines()
        for line in reversed(lines):
            if line.startswith(FAILED):
                rule, _, words = line.removeprefix(FAILED).partition(": ")
                found[rule] = (words, str(log.relative_to(results)))
                break
    return found


def _shown(results: Path, kind: str, paper: str, name: str) -> bool:
    """Whether both files of an exhibit are there."""
    folder = results / paper / f"{kind}s"
    return all((folder / f"{name}.{end}").is_file() for end in ENDS[kind])
