"""What is shown without a run: ``results/published/<run>/``, a copy of the small files of one run.

Only a finished run of a whole scale is published, each file of it made at the commit that is
checked out, or at one before it if a plan says that this one would make nothing anew: whoever looks
at the numbers shall be able to make them again.
"""

from __future__ import annotations

import io
import json
import shutil
import subprocess
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from PIL import Image

from featlearn.core.checksums import read_checksums
from featlearn.core.commit import APART, CHANGED, changes, commit, descends
from featlearn.core.config import load, plain_run
from featlearn.core.errors import FeatlearnError
from featlearn.core.files import write_atomically
from featlearn.core.front import SUMMARY, write_pages
from featlearn.core.provenance import damage, read_record

#: Files of a run that are published as they are.
COPIED = ("report.html", "claims.parquet", "catalogue.parquet", "checksums.txt")
#: The same of a portable run, which is published to be made again and not to be looked at, and of
#: one with another base seed than its scale's, which is published for its verdicts.
CHECKED, JUDGED = COPIED[1:], ("claims.parquet",)
#: What the name of a run with another base seed ends with, before that; see `make seeds`.
SEED = "-seed-"
#: What the run is asked first.
FINDINGS = "config/findings.yaml"
#: Most files that a message names.
NAMED = 5
#: How a plan ends that makes nothing.
IDLE = "Nothing to be done"


def faults(root: Path, results: Path) -> Iterator[str]:
    """Why a run may not be published, a line each; nothing if it may.

    Parameters
    ----------
    root
        The repository.
    results
        ``results/<run>``.
    """
    head = commit(root)
    if not head:
        yield f"{root}: no checkout of git; expected the repository"
        return
    if head.endswith(CHANGED):
        head = head.removesuffix(CHANGED)
        yield f"the checkout differs from its commit {head[:12]}: {_some(changes(root))}"
    if lost := [name for name in COPIED if not (results / name).is_file()]:
        yield f"{results}: has no {lost[0]}; expected a finished run"
        return
    report = read_record(results, results / "report.html")
    if report is None:
        yield f"{results}/report.html: has no record; expected a finished run"
        return
    yield from _differs_from_scale(root, results, report["config"])
    spoilt: list[str] = []
    made: dict[str, list[str]] = {}
    for name, expected in read_checksums(results / "checksums.txt").items():
        record = read_record(results, results / name)
        if record is None or not (results / name).is_file():
            spoilt.append(f"{name} (missing)")
        elif record["sha256"] != expected or damage(results / name, record, thorough=True):
            spoilt.append(f"{name} (changed)")
        else:
            made.setdefault(record.get("commit") or "", []).append(name)
    made.setdefault(report.get("commit") or "", []).append("report.html")
    if spoilt:
        yield f"{len(spoilt)} files are not what checksums.txt says: {_some(spoilt)}"
    made.pop(head, None)
    if not made:
        return
    aside = [
        f"{name} at {_short(then)}"
        for then, names in made.items()
        if not descends(root, head, then)
        for name in names
    ]
    if aside:
        yield (
            f"{len(aside)} files were made neither at the commit {head[:12]} nor at one before it: "
            f"{_some(aside)}. Remove {results} and run again"
        )
    elif told := _would_make(root, report["config"]):
        yield f"at the commit {head[:12]} {results} would not stay as it is: {told}. Run again"


def _would_make(root: Path, config: Mapping[str, Any]) -> str:
    """What is to run here for a scale as its plan tells it; nothing if all is made."""
    chosen = [f"{key}={config[key]}" for key in ("scale", "portable", "seed", "run")]
    done = subprocess.run(
        [sys.executable, "-m", "snakemake", "-n", "--cores", "1", "--config", *chosen],
        cwd=root,
        capture_output=True,
        text=True,
        check=False,
    )
    text = done.stdout + done.stderr
    if done.returncode == 0 and IDLE in text:
        return ""
    lines = [line for line in text.splitlines() if line.strip()]
    jobs = [line for line in lines if line.startswith("total ")]
    return f"{jobs[0].split()[-1]} jobs are to run" if jobs else " ".join(lines[-2:])


def _differs_from_scale(root: Path, results: Path, config: Mapping[str, Any]) -> Iterator[str]:
    """A run of other papers or sizes than its scale's is nobody's to expect."""
    told = {key: config[key] for key in ("scale", "portable", "seed")}
    plain = load(told, root)
    own = _has_own_seed(root, config)
    name = plain_run(plain) + (f"{SEED}{config['seed']}" if own else "")
    apart = ("run", "results") if results.name == name else ()
    if other := [key for key in plain if plain[key] != config.get(key) and key not in apart]:
        yield f"{results}: differs from the scale {config['scale']} in {_some(other)}"
    elif results.name != name:
        yield f"{results}: expected the folder {name}"


def _has_own_seed(root: Path, config: Mapping[str, Any]) -> bool:
    """Whether the base seed of a run is another than that of its scale."""
    plain = load({key: config[key] for key in ("scale", "portable")}, root)
    return bool(config["seed"] != plain["seed"])


def _short(told: str | None) -> str:
    return f"{told[:12]}{CHANGED * told.endswith(CHANGED)}" if told else "no commit"


def _some(names: list[str]) -> str:
    more = len(names) - NAMED
    return ", ".join(names[:NAMED]) + (f" and {more} more" if more > 0 else "")


def summary(root: Path, results: Path) -> dict[str, Any]:
    """Commit, config, versions and machine of a run, and what it cost by paper.

    ``commits`` tells how many files were made at which commit: those of an earlier one are as the
    published one would make them. Seconds are those between start and end of each job, added up: of
    a job that had the machine to itself they are its processor's.
    """
    report = read_record(results, results / "report.html")
    if report is None:
        raise FeatlearnError(f"{results}: expected a finished run")
    jobs: dict[str, dict[str, float]] = {}
    versions: dict[str, set[str]] = {}
    machines: dict[str, set[str]] = {}
    commits: dict[str, int] = {}
    size = 0
    listed = read_checksums(results / "checksums.txt")
    for name in listed:
        record = read_record(results, results / name) or {}
        size += record["bytes"]
        commits[record["commit"]] = commits.get(record["commit"], 0) + 1
        paper = name.partition("/")[0] if "/" in name else "results"
        made = json.dumps([record[key] for key in ("rule", "config", "inputs", "seconds")])
        jobs.setdefault(paper, {})[made] = record["seconds"]
        for found, key in ((versions, "versions"), (machines, "machine")):
            for word, value in record[key].items():
                found.setdefault(word, set()).add(value)
    return {
        "commit": commit(root),
        "commits": commits,
        "run": results.name,
        "config": report["config"],
        "versions": {key: sorted(found) for key, found in sorted(versions.items())},
        "machine": {key: sorted(found) for key, found in sorted(machines.items())},
        "files": len(listed),
        "bytes": size,
        "jobs": {paper: len(made) for paper, made in sorted(jobs.items())},
        "seconds": {paper: round(sum(made.values()), 1) for paper, made in sorted(jobs.items())},
    }


def publish(root: Path, results: Path, target: Path) -> int:
    """Copy what is shown of ``results`` to ``target``, in place of what stood there; its bytes.

    A figure becomes a lossless WebP of its PNG's pixels, ``<paper>/figures/<item>.webp``. Beside
    them stand the pages of :mod:`featlearn.core.front`. Of a portable run only what its bytes are
    held to is copied, of one with a second base seed only its ledger: no report, figure or page.

    Raises
    ------
    FeatlearnError
        With all of :func:`faults`.
    """
    if found := list(faults(root, results)):
        raise FeatlearnError(f"{results} is not published:\n  " + "\n  ".join(found))
    made = target.with_name(f".{target.name}")
    shutil.rmtree(made, ignore_errors=True)
    try:
        _copy(root, results, made)
        shutil.rmtree(target, ignore_errors=True)
        made.rename(target)
    finally:  # of what fails half-way nothing is left for git to add; what stood there stays
        shutil.rmtree(made, ignore_errors=True)
    return sum(file.stat().st_size for file in target.rglob("*") if file.is_file())


def _copy(root: Path, results: Path, made: Path) -> None:
    """What is shown of ``results``, in the new folder ``made``."""
    told = summary(root, results)
    made.mkdir(parents=True)
    portable, again = told["config"]["portable"], _has_own_seed(root, told["config"])
    shown = not portable and not again
    for name in COPIED if shown else CHECKED if portable else JUDGED:
        shutil.copyfile(results / name, made / name)
    for name in read_checksums(results / "checksums.txt") if shown else ():
        file = Path(name)
        if file.suffix == ".png" and file.parent.name == "figures":
            write_atomically((made / file).with_suffix(".webp"), lossless(results / file))
    text = json.dumps(told, indent=1, sort_keys=True, ensure_ascii=False)
    (made / SUMMARY).write_text(text + "\n", encoding="utf-8")
    if shown:
        write_pages(made, results.name, root / FINDINGS)


def rewrite(root: Path, target: Path) -> None:
    """Write the pages of a published run anew, from what is published and the findings.

    Raises
    ------
    FeatlearnError
        If it is no published run with pages.
    """
    if not (target / "report.html").is_file() or not (target / SUMMARY).is_file():
        raise FeatlearnError(f"{target}: expected a published run with a report.html and {SUMMARY}")
    write_pages(target, target.name, root / FINDINGS)


def lossless(png: Path) -> bytes:
    """A picture as WebP with the same pixels."""
    out = io.BytesIO()
    with Image.open(png) as drawn:
        drawn.convert("RGB").save(out, "WEBP", lossless=True, quality=100, method=4)
    return out.getvalue()


def published(root: Path) -> dict[Path, dict[str, Any]]:
    """Each published run with its summary, in the order of their names."""
    found = sorted((root / APART).glob(f"[!.]*/{SUMMARY}"))  # a publication cut off has a dot
    return {file.parent: json.loads(file.read_text(encoding="utf-8")) for file in found}


def elsewhere(root: Path, then: str) -> str:
    """How the checkout at ``root`` is another than the commit ``then``; nothing if it is that one.

    A run that is made again here is made by the code that is here.
    """
    now = commit(root)
    if now == then:
        return ""
    told = f"made at the commit {_short(then)}"
    if not now:
        return f"{told}; here is no checkout of git that could tell whether this is the same code"
    here = now.removesuffix(CHANGED)
    if here == then:
        return f"{told}, from which files here differ: {_some(changes(root))}"
    if not descends(root, then, then):
        return (
            f"{told}, which is not in this clone (a shallow one gets its history by git fetch "
            f"--unshallow); here is {_short(now)}"
        )
    if descends(root, here, then):
        return (
            f"{told}, before the one here, {_short(now)}; git checkout {_short(then)} is that code"
        )
    return f"{told}, which is not in the history of the one here, {_short(now)}"


def unlike(told: Mapping[str, Any], versions: Mapping[str, str]) -> list[str]:
    """What is installed here in another version than in the run of a summary, a line each.

    What is not loaded here does not tell which build it is (``2.13.0`` of ``2.13.0+cu130``).
    """
    return [
        f"{name}: {', '.join(then)} in the published run, {here} here"
        for name, then in told["versions"].items()
        if (here := versions.get(name))
        and not any(here in (one, one.split("+")[0]) for one in then)
    ]
