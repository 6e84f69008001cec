"""Re-run a scale in a temporary folder and compare every byte with ``checksums.txt``.

python scripts/verify.py --scale tour --cores 2 --papers icl looped
python scripts/verify.py --scale tour --here        only what is on disk, against its records
python scripts/verify.py --published                what was published of portable runs
python scripts/verify.py --scale tour --kills 20    the second run, killed and continued
"""

from __future__ import annotations

import argparse
import contextlib
import random
import subprocess
import sys
import tempfile
from pathlib import Path

import psutil

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "src"))

from featlearn.core.files import digest
from featlearn.core.publishing.compare_runs import differences, read_checksums
from featlearn.core.publishing.publish import elsewhere, published, unlike
from featlearn.core.run.job import versions
from featlearn.core.run.provenance import records
from featlearn.core.run.workspace import mend


def here(results: Path) -> int:
    """Hash what is on disk against the records; what is damaged is made again by the next run."""
    count = sum(artefact.is_file() for artefact, _ in records(results))
    if not count:
        print(f"{results}: no artefact with a record; expected a run", file=sys.stderr)
        return 2
    damaged = mend(results, thorough=True)
    print(*damaged, f"{count} artefacts hashed, {len(damaged)} damaged", sep="\n")
    return int(bool(damaged))


def run_in(folder: str, cores: str, **config: object) -> list[str]:
    """The command that runs a scale in a folder of its own."""
    return [
        *(sys.executable, "-m", "snakemake", "--snakefile", str(ROOT / "Snakefile")),
        *("--workflow-profile", str(ROOT / "profiles" / "default")),
        *("--directory", folder, "--cores", cores),
        *("--config", *(f"{key}={value}" for key, value in config.items())),
    ]


def killed(command: list[str], kills: int, within: float) -> int:
    """Start a run ``kills`` times and kill it and its children; how often that met it at work.

    Each time at a random instant ``within`` so many seconds from its start.
    """
    instants = random.Random(0)
    for number in range(kills):
        run = psutil.Popen(command, start_new_session=True)
        try:
            run.wait(instants.uniform(0, within))
            return number
        except psutil.TimeoutExpired:
            print(f"killed {number + 1} of {kills} times", flush=True)
        finally:  # after Ctrl-C, too, which does not reach a session of its own
            for process in [*run.children(recursive=True), run] if run.is_running() else ():
                with contextlib.suppress(psutil.NoSuchProcess):
                    process.kill()
            run.wait()
    return kills


def of_papers(checksums: dict[str, str], papers: list[str]) -> dict[str, str]:
    """Those of the files of some papers; all if none is named."""
    return {name: one for name, one in checksums.items()
            if not papers or name.partition("/")[0] in papers}  # fmt: skip


def run_again(folder: str, command: list[str], *kills: float) -> tuple[dict[str, str] | int, str]:
    """Checksums of a run that is brought to its end, and how; or the code of one that failed."""
    how = f", killed {killed(command, *kills)} times" * bool(kills[0])
    if code := subprocess.run(command, check=False).returncode:
        print("the second run failed: nothing was compared", file=sys.stderr)
        return code, how
    (listed,) = Path(folder).glob("results/*/checksums.txt")
    return read_checksums(listed), how


def tell(faults: list[str], well: str) -> int:
    """Print what differs, or that nothing does; the exit code."""
    print(*(faults or [well]), sep="\n")
    return int(bool(faults))


def of_scale(scale: str, cores: str, papers: list[str], results: Path, *kills: float) -> int:
    """A run against what stands in its folder."""
    listed = results / "checksums.txt"
    if not listed.is_file():
        told = f"expected that of a finished run: featlearn run --scale {scale}"
        print(f"{listed}: not there; {told}", file=sys.stderr)
        return 2
    if not (expected := of_papers(read_checksums(listed), papers)):
        print(f"{listed}: no file of {', '.join(papers)}; expected papers of it", file=sys.stderr)
        return 2
    on_disk = {name: digest(results / name) for name in expected if (results / name).is_file()}
    faults = differences(expected, on_disk, "on disk")
    with tempfile.TemporaryDirectory(prefix="featlearn-verify-") as folder:
        some = {"papers": f"[{','.join(papers)}]"} if papers else {}
        again, how = run_again(folder, run_in(folder, cores, scale=scale, **some), *kills)
    if isinstance(again, int):
        return again
    faults += differences(expected, of_papers(again, papers), "in the second run")
    well = f"{len(expected)} files of results/{scale}: every byte equal in a second run{how}"
    return tell(faults, well)


def of_published(cores: str, *kills: float) -> int:
    """What was published of portable runs, made again on this machine."""
    runs = published(ROOT).items()
    portable = {folder: told for folder, told in runs if told["config"]["portable"]}
    if not portable:
        print("results/published: holds no portable run; nothing to verify", file=sys.stderr)
        return 2
    found = 0
    for folder, told in portable.items():
        if other := elsewhere(ROOT, told["commit"]):
            print(f"{folder.name}: {other}", flush=True)
        for line in unlike(told, versions()):
            print(line, flush=True)
        expected = read_checksums(folder / "checksums.txt")
        with tempfile.TemporaryDirectory(prefix="featlearn-verify-") as place:
            command = run_in(place, cores, scale=told["config"]["scale"], portable=True)
            again, how = run_again(place, command, *kills)
        if isinstance(again, int):
            return again
        well = f"{len(expected)} files of {folder}: every byte equal on this machine{how}"
        found |= tell(differences(expected, again, "on this machine"), well)
    return found


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--scale", default="tour")
    parser.add_argument("--cores", default="2")
    parser.add_argument("--papers", nargs="+", default=[], help="those of the scale to repeat")
    parser.add_argument("--here", action="store_true", help="only hash what is on disk")
    parser.add_argument("--published", action="store_true", help="make portable runs again")
    parser.add_argument("--kills", type=int, default=0, help="kill that run so often")
    parser.add_argument("--within", type=float, default=60, help="seconds from start to kill (60)")
    options = parser.parse_args()
    if options.papers and (options.here or options.published):
        parser.error("--papers: goes with a run that is repeated, not with --here or --published")
    kills = options.kills, options.within
    if options.published:
        return of_published(options.cores, *kills)
    # a run of one's own, or of what is installed, lies where it was started
    own = ROOT.name == "_workflow" or (Path("results") / options.scale).is_dir()
    base = Path() if own else ROOT
    results = base / "results" / options.scale
    if options.here:
        return here(results)
    return of_scale(options.scale, options.cores, options.papers, results, *kills)


if __name__ == "__main__":
    sys.exit(main())
