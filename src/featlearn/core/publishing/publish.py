"""What is shown without a run: ``results/published/<run>/``, a copy of the small files of one run.

Only a finished run of a whole scale is published, each file of it made at the commit that is
checked out, or at one before it if a plan says that this one would make nothing again.
"""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import pandas as pd

from featlearn.core.errors import FeatlearnError
from featlearn.core.files import digest, read_parquet, write_atomically, write_parquet
from featlearn.core.publishing.compare_runs import changed, read_checksums
from featlearn.core.publishing.findings import FINDINGS
from featlearn.core.publishing.html_assets import lossless
from featlearn.core.publishing.ledger import (
    SUMMARY,
    distinct,
    judged,
    made,
    published_frame,
    rows_of,
)
from featlearn.core.publishing.markdown_pages import pages
from featlearn.core.publishing.neighbours import FILES
from featlearn.core.publishing.newer import with_newer
from featlearn.core.run.checks import some
from featlearn.core.run.commit import APART, CHANGED, changes, commit, descends
from featlearn.core.run.config import load, plain_run
from featlearn.core.run.provenance import damage, read_record

#: Files of a run that are published as they are.
COPIED = ("report.html", "claims.parquet", "catalogue.parquet", "checksums.txt")
#: The same of a portable run, and of one with another base seed, which has verdicts alone.
CHECKED, JUDGED = COPIED[1:], ("claims.parquet",)
SEED = "-seed-"  # before the seed in the name of such a run; see `make seeds`
#: SHA-256 of every other file of a published run.
LISTING = "published.txt"
#: Folder of sweeps that are published, each with its table, the record of that, and figures.
SWEEPS = "sweeps"
NAMED = 5  # files that a message names at most


def faults(root: Path, results: Path) -> Iterator[str]:
    """Why a run may not be published from the repository ``root``, a line each."""
    head = commit(root)
    if not head:
        yield f"{root}: no checkout of git; expected the repository"
        return
    if head.endswith(CHANGED):
        head = head.removesuffix(CHANGED)
        yield f"the checkout differs from its commit {head[:12]}: {some(changes(root), NAMED)}"
    if lost := [name for name in COPIED if not (results / name).is_file()]:
        yield f"{results}: has no {lost[0]}; expected a finished run"
        return
    report = read_record(results, results / "report.html")
    if report is None:
        yield f"{results}/report.html: has no record; expected a finished run"
        return
    yield from _differs_from_scale(root, results, report["config"])
    spoilt: list[str] = []
    by_commit = {report.get("commit") or "": ["report.html"]}
    more = [str(file.relative_to(results)) for file in sorted(results.glob(FILES))]
    known = {name: (read_record(results, results / name) or {}).get("sha256", "") for name in more}
    for name, expected in (read_checksums(results / "checksums.txt") | known).items():
        record = read_record(results, results / name)
        if record is None or not (results / name).is_file():
            spoilt.append(f"{name} (missing)")
        elif record["sha256"] != expected or damage(results / name, record, thorough=True):
            spoilt.append(f"{name} (changed)")
        else:
            by_commit.setdefault(record.get("commit") or "", []).append(name)
    if spoilt:
        yield f"{len(spoilt)} files are not what checksums.txt says: {some(spoilt, NAMED)}"
    by_commit.pop(head, None)
    aside = [
        f"{name} at {_short(then)}"
        for then, names in by_commit.items()
        if not descends(root, head, then)
        for name in names
    ]
    if aside:
        told = f"{some(aside, NAMED)}. Remove {results} and run again"
        yield f"{len(aside)} files were made neither at the commit {head[:12]} nor earlier: {told}"
    elif by_commit and (jobs := _would_make(root, report["config"], more)):
        yield f"at the commit {head[:12]} {results} would not stay as it is: {jobs}. Run again"


def _would_make(root: Path, config: Mapping[str, Any], more: Sequence[str]) -> str:
    """What is to run here for a scale, as its plan says; nothing if all is made."""
    chosen = [f"{key}={config[key]}" for key in ("scale", "portable", "seed", "run", "device")]
    chosen.append(f"papers={json.dumps(config['papers'])}")
    targets = ["all", *(f"{config['results']}/{name}" for name in more), "--config", *chosen]
    command = [sys.executable, "-m", "snakemake", "-n", "--cores", "1", *targets]
    done = subprocess.run(command, cwd=root, capture_output=True, text=True, check=False)
    text = done.stdout + done.stderr
    if done.returncode == 0 and "Nothing to be done" in text:
        return ""
    lines = [line for line in text.splitlines() if line.strip()]
    jobs = [line for line in lines if line.startswith("total ")]
    return f"{jobs[0].split()[-1]} jobs are to run" if jobs else " ".join(lines[-2:])


def plan(root: Path, run: Path, papers: Sequence[str]) -> tuple[Any, Mapping[str, Any], Path]:
    """What rules here publish by a run's config, the code of those that measure, their folder."""
    from snakemake.api import SnakemakeApi
    from snakemake.settings.types import ConfigSettings, OutputSettings, Quietness, ResourceSettings

    record = read_record(run, run / "report.html")
    config = dict(record["config"]) if record else {"scale": run.name}
    config.pop("results", None)
    if papers:
        config["papers"] = list(papers)
    # in a folder of its own: a plan mends the results that it finds
    with (
        tempfile.TemporaryDirectory() as folder,
        SnakemakeApi(OutputSettings(quiet={Quietness.ALL})) as api,
    ):
        workflow = api.workflow(
            snakefile=root / "Snakefile",
            workdir=Path(folder),
            config_settings=ConfigSettings(config=config),
            resource_settings=ResourceSettings(cores=1),
        )._workflow
        computing = {
            rule.name: rule.params["code"]
            for rule in workflow.rules
            if str(rule.script).endswith("/measure.py") and rule.output
        }
        return workflow.globals["PUBLISHED"], computing, Path(folder).resolve()


def _differs_from_scale(root: Path, results: Path, config: Mapping[str, Any]) -> Iterator[str]:
    """A run of other sizes than its scale's is nobody's to expect; of its papers some will do."""
    chosen = {key: config[key] for key in ("scale", "portable", "seed", "device")}
    plain = load(chosen, root)
    if {*config["papers"]} <= {*plain["papers"]}:
        plain = load({**chosen, "papers": config["papers"]}, root)
    name = plain_run(plain)
    if config["seed"] != load({key: config[key] for key in ("scale", "portable")}, root)["seed"]:
        name += f"{SEED}{config['seed']}"
    apart = ("run", "results") if results.name == name else ()
    if other := [key for key in plain if plain[key] != config.get(key) and key not in apart]:
        yield f"{results}: differs from the scale {config['scale']} in {some(other, NAMED)}"
    elif results.name != name:
        yield f"{results}: expected the folder {name}"


def _short(commit: str) -> str:
    return f"{commit[:12]}{CHANGED * commit.endswith(CHANGED)}" if commit else "no commit"


def summary(root: Path, results: Path) -> dict[str, Any]:
    """Commit(s), config, versions and machine of a finished run; its cost by paper, over jobs."""
    names = [*read_checksums(results / "checksums.txt")]
    known = [read_record(results, results / name) or {} for name in names]
    found = pd.DataFrame(known)
    keys = found[["rule", "config", "inputs", "seconds"]]
    papers = [name.partition("/")[0] if "/" in name else "results" for name in names]
    found = found.assign(paper=papers, job=[json.dumps(row) for row in keys.to_dict("records")])
    costs = found.drop_duplicates(["paper", "job"]).groupby("paper")["seconds"]
    return {
        "commit": commit(root),
        "commits": found["commit"].value_counts().to_dict(),
        "run": results.name,
        "config": (read_record(results, results / "report.html") or {})["config"],
        "versions": distinct(known, "versions"),
        "machine": distinct(known, "machine"),
        "files": len(names),
        "bytes": int(found["bytes"].sum()),
        "jobs": costs.size().to_dict(),
        "seconds": costs.sum().round(1).to_dict(),
    }


def publish(root: Path, results: Path, target: Path) -> int:
    """Copy what is shown of ``results`` to ``target``, in place of what stood there; its bytes.

    Figures become lossless WebP. Of a portable run only what its bytes are held to is copied, of
    one with a second base seed only its ledger. Raises FeatlearnError with all of :func:`faults`.
    """
    if found := list(faults(root, results)):
        raise FeatlearnError(f"{results} is not published:\n  " + "\n  ".join(found))
    staged = target.with_name(f".{target.name}")
    shutil.rmtree(staged, ignore_errors=True)
    try:
        _copy(root, results, staged)
        shutil.rmtree(target, ignore_errors=True)
        staged.rename(target)
    finally:  # of what fails half-way nothing is left for git to add; what stood there stays
        shutil.rmtree(staged, ignore_errors=True)
    return sum(file.stat().st_size for file in target.rglob("*") if file.is_file())


def publish_sweep(root: Path, figure: Path) -> Path:
    """Copy a figure of a sweep as WebP, its table and record; their folder in what is published."""
    folder, results = figure.parents[1], figure.parents[3]
    if folder.parent.name != SWEEPS or not figure.is_file():
        raise FeatlearnError(f"{figure}: expected results/<run>/sweeps/<keys>/<paper>/<claim>.png")
    record = _of_a_commit(results, folder / "table.parquet")
    target, text = folder.relative_to(results), json.dumps(record, indent=1, sort_keys=True)
    for name, copied in {
        "table.parquet": (folder / "table.parquet").read_bytes(),
        "record.json": f"{text}\n".encode(),
        f"{figure.parent.name}/{figure.stem}.webp": lossless(figure)[0],
    }.items():
        write_atomically(root / APART / target / name, copied)
    return target


def publish_neighbours(root: Path, file: Path) -> Path:
    """Add what neighbours measured, with their commit, to the published run; its path there.

    Other neighbours that are published stay. Raises FeatlearnError if the experiment itself is not
    judged here as in that run.
    """
    results, judging = file.parents[2], f"{file.parent.name}/claims/{file.name}"
    name, target = file.relative_to(results.parent), root / APART / results.name
    found = read_parquet(file).assign(commit=_of_a_commit(results, file)["commit"])
    there, here = judged(target / "claims.parquet"), read_parquet(results / judging)
    unknown = here[~here["claim"].isin(there["claim"])]
    if other := [*changed(there, here)["claim"], *unknown["claim"]]:
        told = f"{results / judging}: differs from {target} in {some(other, NAMED)}"
        raise FeatlearnError(f"{told}; expected the same verdicts and numbers")
    if (shown := root / APART / name).is_file():
        former = read_parquet(shown)
        found = pd.concat([former[~former["neighbour"].isin(found["neighbour"])], found])
    shown.parent.mkdir(parents=True, exist_ok=True)
    write_parquet(found.reset_index(drop=True), shown)
    rewrite(root, target)
    return name


def _of_a_commit(results: Path, file: Path) -> dict[str, Any]:
    """The record of a whole file that was made at a commit; FeatlearnError otherwise."""
    record = read_record(results, file)
    if record is None or damage(file, record, thorough=True):
        raise FeatlearnError(f"{file}: expected a whole file of a run, with its record")
    if not record["commit"] or record["commit"].endswith(CHANGED):
        raise FeatlearnError(f"{file}: made at {_short(record['commit'])}; expected a commit")
    return record


def _copy_neighbours(results: Path, former: Path, staged: Path) -> None:
    """Those of a run, and what is published of experiments that it judges as they were."""
    for folder in (former, results):
        for file in sorted(folder.glob(FILES)):
            other = changed(*(judged(one / "claims.parquet") for one in (folder, results)))
            if not {*read_parquet(file)["claim"]} & {*other["claim"]}:
                write_atomically(staged / file.relative_to(folder), file.read_bytes())


def _with_other_papers(about: Mapping[str, Any], former: Path, ledger: Path) -> dict[str, Any]:
    """Keep what is published of papers that a run leaves out; its config with theirs.

    All else that the two configs share must be the same. Each claim gets the commit of its run.
    """
    rows, config = read_parquet(ledger).assign(commit=about["commit"]), about["config"]
    then = made(former)["config"] if (former / SUMMARY).is_file() else config
    papers = {*config["papers"], *then["papers"]}
    if all(then.get(key) == config[key] for key in {*config} - papers - {"papers", "neighbours"}):
        kept = [paper for paper in then["papers"] if paper not in config["papers"]]
        old = [row for row in rows_of(former) if row["paper"] in kept] if kept else []
        rows = pd.concat([rows, pd.DataFrame(old, columns=[*rows])]) if old else rows
        config = config | {name: then[name] for name in kept}
        config |= {"papers": [*config["papers"], *kept]}
    write_parquet(rows.reset_index(drop=True), ledger)
    return {"config": config}


def _copy(root: Path, results: Path, staged: Path) -> None:
    """What is shown of ``results``, in the new folder ``staged``."""
    about = summary(root, results)
    staged.mkdir(parents=True)
    portable = about["config"]["portable"]
    shown = not portable and SEED not in results.name
    for name in COPIED if shown else CHECKED if portable else JUDGED:
        shutil.copyfile(results / name, staged / name)
    former = staged.with_name(staged.name[1:])
    if shown:
        _copy_neighbours(results, former, staged)
    elif not portable:
        about |= _with_other_papers(about, former, staged / "claims.parquet")
    for file in map(Path, read_checksums(results / "checksums.txt") if shown else ()):
        if file.suffix == ".png" and file.parent.name == "figures":
            write_atomically((staged / file).with_suffix(".webp"), lossless(results / file)[0])
    text = json.dumps(about, indent=1, sort_keys=True, ensure_ascii=False)
    (staged / SUMMARY).write_text(text + "\n", encoding="utf-8")
    if shown:
        _sign(staged, results.name, root)
    _list(staged)


def _sign(folder: Path, name: str, root: Path) -> None:
    """Give a published run the verdicts that all published seeds leave, and its pages."""
    write_parquet(frame := published_frame(folder), folder / "claims.parquet")
    report = with_newer((folder / "report.html").read_text(encoding="utf-8"), frame)
    texts = {"report.html": report, **pages(folder, name, root / FINDINGS)}
    for file, text in texts.items():
        write_atomically(folder / file, text.encode())


def _list(folder: Path) -> None:
    files = sorted(file for file in folder.rglob("*") if file.is_file() and file.name != LISTING)
    lines = [f"{digest(file)}  {file.relative_to(folder)}\n" for file in files]
    (folder / LISTING).write_text("".join(lines), encoding="utf-8")


def rewrite(root: Path, target: Path) -> None:
    """Write ledger and pages of a published run again, from what is published and the findings."""
    if not (target / "report.html").is_file() or not (target / SUMMARY).is_file():
        raise FeatlearnError(f"{target}: expected a published run with a report.html and {SUMMARY}")
    _sign(target, target.name, root)
    _list(target)


def published(root: Path) -> dict[Path, dict[str, Any]]:
    """Each published run with its summary, in the order of their names."""
    found = sorted((root / APART).glob(f"[!.]*/{SUMMARY}"))  # a publication cut off has a dot
    return {file.parent: made(file.parent) for file in found}


def elsewhere(root: Path, then: str) -> str:
    """How the checkout at ``root`` is another than the commit ``then``; nothing if it is that."""
    now = commit(root)
    here = now.removesuffix(CHANGED)
    if now == then:
        return ""
    how = f"here is {_short(now)}"
    if here == then:
        how = f"from which files here differ: {some(changes(root), NAMED)}"
    elif not descends(root, then, then):
        how += " (not in this clone: git fetch --unshallow gets the history of a shallow one)"
    elif descends(root, here, then):
        how += f", which came later; git checkout {_short(then)} is that code"
    return f"made at the commit {_short(then)}, {how}"


def unlike(summary: Mapping[str, Any], versions: Mapping[str, str]) -> list[str]:
    """What is installed here in another version than in the run of a summary, a line each."""
    return [
        f"{name}: {', '.join(then)} in the published run, {here} here"
        for name, then in summary["versions"].items()
        # what is not loaded does not tell its build (``2.13.0`` of ``2.13.0+cu130``)
        if (here := versions.get(name))
        and not any(here in (one, one.split("+")[0]) for one in then)
    ]
