"""Tables of the paper that are quoted, not measured."""

from __future__ import annotations

from typing import Any

from featlearn.core.publish import Table, table
from featlearn.core.quoted import quoted_table


@table("appendix-b")
def appendix_b(values: dict[str, Any]) -> Table:
    """Appendix B, numbers that the paper quotes from others

    The paper quotes these from two other papers and did not run them. Quoted here from the paper, not
    measured. *What to see:* the AP75 of supervised training on VOC, 58.8, is the one that Table 1 prints
    as well, while mask reconstruction has 63.2 there and 64.4 here.
    """
    frame, about = quoted_table(values, "appendix-b")
    shown = frame.drop(columns=["measured", "source"])
    return Table(frame, shown, f"Quoted from {about['source']}. Not measured by this run.")
