"""Copy what is shown without a run from a finished one: ``results/published/<run>/``.

    python scripts/publish.py desk tour-portable
    python scripts/publish.py --pages desk

The front page of the repository tells what `desk` found, with pictures. With ``--pages`` nothing is
copied: the pages of what is published are written anew, after a change of findings or templates.

Not a rule: it writes outside of the run's folder. Refused is a run that is not whole, not of a
scale as it stands in config/scale/, or of which the commit that is checked out, as it is there,
would make anything anew.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "src"))

from featlearn.core.commit import APART
from featlearn.core.errors import FeatlearnError
from featlearn.core.front import FRONT, front, put_in_front
from featlearn.core.publication import FINDINGS, publish, rewrite


def main(words: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("runs", nargs="+", metavar="run", help="folder below results/")
    parser.add_argument("--pages", action="store_true", help="only the pages of published runs")
    options = parser.parse_args(words)
    try:
        for run in options.runs:
            if options.pages:
                rewrite(ROOT, ROOT / APART / run)
                print(f"{APART}/{run}: pages")
                continue
            size = publish(ROOT, ROOT / "results" / run, ROOT / APART / run)
            print(f"{APART}/{run}: {size / 1e6:.1f} MB; add it to git")
        # at last: with a README that is changed the checkout is not its commit any more
        if (ROOT / APART / FRONT).is_dir():  # it tells of the costs of the other runs, too
            told = front(ROOT / APART / FRONT, f"{APART}/{FRONT}/", ROOT / FINDINGS)
            put_in_front(ROOT / "README.md", told)
            print("README.md: what it found")
    except FeatlearnError as error:
        print(error, file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main())
