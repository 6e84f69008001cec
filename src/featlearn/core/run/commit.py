"""The commit that a run is made at, as git tells it."""

from __future__ import annotations

import subprocess
from pathlib import Path

#: Hands the commit of a run to its jobs, whose records hold it.
VARIABLE = "FEATLEARN_COMMIT"
#: Behind a commit: files of the checkout are not as they are there.
CHANGED = "+"
#: What git does not need to know for a run to be that of a commit: it is made from a run.
APART = "results/published"
#: Where a new file may be code or settings of a run; elsewhere it is a log, notes, somebody's data.
READ = ("Snakefile", "workflow", "config", "profiles", "scripts", "src")


def commit(root: Path) -> str:
    """Commit of the checkout at ``root``, with ``+`` if files differ from it; empty without one."""
    top = _git(root, "rev-parse", "--show-toplevel", "HEAD")
    if top is None or len(lines := top.splitlines()) != 2 or Path(lines[0]) != root.resolve():
        return ""
    return lines[1] + (CHANGED if changes(root) else "")


def changes(root: Path) -> list[str]:
    """Files that are not as they are in the commit, and new ones in ``READ``."""
    told = _git(root, "status", "--porcelain", "--untracked-files=no", "--", ".", f":!{APART}")
    new = _git(root, "ls-files", "--others", "--exclude-standard", "--", *READ)
    return [*(line[3:] for line in (told or "").splitlines()), *(new or "").splitlines()]


def descends(root: Path, commit: str, older: str) -> bool:
    """Whether ``older`` is a commit, with no ``+`` behind it, in the history of ``commit``."""
    return _git(root, "merge-base", "--is-ancestor", older or "-", commit) is not None


def _git(root: Path, *words: str) -> str | None:
    try:
        # beside a run the user may commit: it takes no lock; and it starts no program of a config
        done = subprocess.run(
            ["git", "--no-optional-locks", "-c", "core.fsmonitor=false", *words],
            cwd=root,
            capture_output=True,
            text=True,
            check=False,
        )
    except OSError:
        return None
    return done.stdout if done.returncode == 0 else None
