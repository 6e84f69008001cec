"""A published report, which nobody makes again when the ledger beside it changes."""

from __future__ import annotations

import re

import pandas as pd

from featlearn.core.evidence.claims import THEOREM
from featlearn.core.publishing.ledger import records
from featlearn.core.publishing.summary import anchor, tally

#: Of a report: each claim with its verdict, and where the page begins to say what was found.
SHOWN = re.compile(r'id="(claim-[^"]+)"[^>]* data-verdict="([^"]*)"')
FIRST = '<ul class="first">'
START, END = "<!-- newer verdicts -->", "<!-- end of newer verdicts -->\n"


def with_newer(report: str, ledger: pd.DataFrame) -> str:
    """A report headed by the verdicts of a ledger that seeds and neighbours have changed since."""
    rows, shown = records(ledger), dict(SHOWN.findall(report))
    report = re.sub(f"{START}.*?{END}", "", report, flags=re.DOTALL)
    moved = [row for row in rows if shown.get(anchor(row), row["verdict"]) != row["verdict"]]
    if not moved:
        return report
    items = "".join(
        f'<li><a href="#{anchor(row)}"><code>{row["claim"]}</code></a>: {shown[anchor(row)]}, now '
        f"{row['verdict']}</li>\n"
        for row in moved
    )
    printed = [row for row in rows if row["kind"] == THEOREM]
    head = (
        "<p>Since this page was made, other seeds, neighbours or a withdrawal have changed "
        f'{len(moved)} of its verdicts. <a href="README.md">The ledger</a> has all: of '
        f"{len(printed)} claims {tally(printed)}; with our controls and observations there are "
        f"{len(rows)} claims: {tally(rows)}.</p>\n"
    )
    return report.replace(FIRST, f"{START}{head}<ul>\n{items}</ul>{END}{FIRST}", 1)
