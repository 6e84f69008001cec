"""The end of `make`: counts of the claims, the first findings, and where the report is.

python scripts/summary.py results/tour
"""

from __future__ import annotations

import argparse
import json
import sys
import textwrap
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "src"))

from featlearn.core.errors import FeatlearnError
from featlearn.core.files import read_parquet
from featlearn.core.publishing.findings import of_run, read_findings, sentence_of
from featlearn.core.publishing.ledger import FRONT, beside_published
from featlearn.core.publishing.maths import plain
from featlearn.core.publishing.summary import number_as_in, tally, with_numbers
from featlearn.core.run.commit import APART

#: Findings that are shown, characters of a line, and those of them before its sentence.
SHOWN, WIDTH, LEAD = 5, 100, 7


def line(entry: dict[str, Any], row: dict[str, Any]) -> str:
    """Verdict, sentence and number of a finding; a number and its interval stay on one line."""
    sentence = plain(sentence_of(entry, row).replace("**", ""))
    shown = row["published"] if row["in_small"] else row
    text = with_numbers(sentence, shown, lambda number: number.replace(" ", "\N{NO-BREAK SPACE}"))
    if row["in_small"]:
        text += f" Here, in small: {number_as_in(sentence, row)}."
    verdict = row["verdict"] if row["verdict"] in ("holds", "fails") else "open"
    lines = textwrap.wrap(text, WIDTH - LEAD, break_on_hyphens=False)
    block = f"\n{' ' * LEAD}".join(lines).replace("\N{NO-BREAK SPACE}", " ")
    return f"{verdict:{LEAD}}{block}"


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("results", type=Path, help="folder of a finished run")
    parser.add_argument("--findings", type=Path, default=ROOT / "config/findings.yaml")
    parser.add_argument("--published", type=Path, default=ROOT / APART / FRONT)
    options = parser.parse_args(arguments)
    try:
        claims = read_parquet(options.results / "claims.parquet").to_dict("records")
        record = options.results / "provenance/report.html.json"
        config = json.loads(record.read_text(encoding="utf-8"))["config"]
        front = options.published if options.published.is_dir() else None
        ledger = beside_published(claims, config, front)
        rows = {row["claim"]: row for row in ledger}
        found = of_run(read_findings(options.findings), rows)[0]
        lines = [line(entry, rows[entry["claim"]]) for entry in found[:SHOWN]]
    except FeatlearnError as error:
        print(error, file=sys.stderr)
        return 1
    verdicts = ", by published verdict" if any(row["in_small"] for row in ledger) else ""
    print(f"{len(ledger)} claims{verdicts}: {tally(ledger)}. First findings:")
    print(*lines, f"Report: {options.results / 'report/index.html'}", sep="\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
