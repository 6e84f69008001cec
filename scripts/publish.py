"""Copy what is shown without a run from a finished one: ``results/published/<run>/``.

    python scripts/publish.py desk tour-portable
    python scripts/publish.py --pages desk
    python scripts/publish.py results/tour/sweeps/<keys>/<paper>/<claim>.png
    python scripts/publish.py results/desk/neighbours/<paper>/<experiment>.parquet

The fourth copies a figure of a sweep and its table to ``results/published/sweeps/``, the last one
what neighbours measured, to the published run. With ``--pages`` only the pages of what is published
are written again. Refused is a run that is not whole, not of a scale as it stands in config/scale/,
or of which the commit that is checked out would make anything again.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "src"))

from featlearn.core.errors import FeatlearnError
from featlearn.core.files import write_atomically
from featlearn.core.publishing.ledger import FRONT
from featlearn.core.publishing.markdown_pages import front
from featlearn.core.publishing.publish import (
    FINDINGS,
    publish,
    publish_neighbours,
    publish_sweep,
    rewrite,
)
from featlearn.core.run.commit import APART


def main(words: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("runs", nargs="+", help="folder below results/, or a figure or table")
    parser.add_argument("--pages", action="store_true", help="only the pages of published runs")
    options = parser.parse_args(words)
    try:
        runs = {run for run in options.runs if Path(run).suffix not in (".png", ".parquet")}
        for file in (Path(name).resolve() for name in options.runs if name not in runs):
            copied = (publish_sweep if file.suffix == ".png" else publish_neighbours)(ROOT, file)
            print(f"{APART}/{copied}: add it to git")
        # the front one last: the reports of others show its verdicts
        for run in sorted(runs, key=lambda run: (run == FRONT, run)):
            if options.pages:
                rewrite(ROOT, ROOT / APART / run)
                print(f"{APART}/{run}: pages")
                continue
            size = publish(ROOT, ROOT / "results" / run, ROOT / APART / run)
            print(f"{APART}/{run}: {size / 1e6:.1f} MB; add it to git")
        # after all runs: with a changed README the checkout is not its commit any more
        if (ROOT / APART / FRONT).is_dir():
            readme = ROOT / "README.md"
            text = readme.read_text(encoding="utf-8")
            text = front(text, ROOT / APART / FRONT, f"{APART}/{FRONT}/", ROOT / FINDINGS)
            write_atomically(readme, text.encode())
            print("README.md: counts, findings, works, limits")
    except FeatlearnError as error:
        print(error, file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main())
