"""Re-run a scale in a temporary folder and compare every byte with ``checksums.txt``.

    python scripts/verify.py --scale tour --cores 2
    python scripts/verify.py --scale tour --here        only what is on disk, against its records

Not a rule: it runs the whole workflow a second time, beside the first.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "src"))

from featlearn.core.files import digest
from featlearn.core.provenance import records
from featlearn.core.run import mend


def read_checksums(path: Path) -> dict[str, str]:
    """``file -> SHA-256`` of a list in the form of sha256sum."""
    pairs = (line.split("  ", 1) for line in path.read_text(encoding="utf-8").splitlines())
    return {name: value for value, name in pairs}


def differences(expected: dict[str, str], found: dict[str, str], what: str) -> list[str]:
    """One line for each file that is missing, new or different."""
    lines = [f"{name}: missing {what}" for name in sorted(expected.keys() - found.keys())]
    lines += [f"{name}: only {what}" for name in sorted(found.keys() - expected.keys())]
    same = sorted(expected.keys() & found.keys())
    lines += [f"{name}: differs {what}" for name in same if expected[name] != found[name]]
    return lines


def here(results: Path) -> int:
    """Hash what is on disk against the records; what is damaged is made again by the next run."""
    count = sum(artefact.is_file() for artefact, _ in records(results))
    if not count:
        print(f"{results}: no artefact with a record; expected a run", file=sys.stderr)
        return 2
    damaged = mend(results, thorough=True)
    print(*damaged, f"{count} artefacts hashed, {len(damaged)} damaged", sep="\n")
    return int(bool(damaged))


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--scale", default="tour")
    parser.add_argument("--cores", default="2")
    parser.add_argument(
        "--here", action="store_true", help="hash every artefact on disk; set aside what is damaged"
    )
    options = parser.parse_args()
    # what is installed works in the folder that it is called in
    base = Path() if ROOT.name == "_workflow" else ROOT
    results = base / "results" / options.scale
    if options.here:
        return here(results)
    listed = results / "checksums.txt"
    if not listed.is_file():
        print(f"{listed} does not exist: run `make SCALE={options.scale}` first", file=sys.stderr)
        return 2
    expected = read_checksums(listed)
    on_disk = {name: digest(results / name) for name in expected if (results / name).is_file()}
    faults = differences(expected, on_disk, "on disk")
    with tempfile.TemporaryDirectory(prefix="featlearn-verify-") as folder:
        command = [
            *(
                sys.executable,
                "-m",
                "snakemake",
                "--snakefile",
                str(ROOT / "workflow" / "Snakefile"),
            ),
            *("--workflow-profile", str(ROOT / "profiles" / "default")),
            *("--directory", folder, "--cores", options.cores),
            *("--config", f"scale={options.scale}"),
        ]
        run = subprocess.run(command, check=False)
        if run.returncode:
            print("the second run failed: nothing was compared", file=sys.stderr)
            return run.returncode
        again = read_checksums(Path(folder) / "results" / options.scale / "checksums.txt")
    faults += differences(expected, again, "in the second run")
    for line in faults:
        print(line)
    if faults:
        return 1
    print(f"{len(expected)} files of results/{options.scale}: every byte equal in a second run")
    return 0


if __name__ == "__main__":
    sys.exit(main())
