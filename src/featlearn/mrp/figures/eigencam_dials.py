"""On what the use of parts depends, drawn."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pandas as pd

from featlearn.core.publish import figure
from featlearn.mrp.figures.images_phase_diagram import phase_diagrams

if TYPE_CHECKING:
    from matplotlib.figure import Figure

#: Quantities of the figure that turns the dials of the pictures, in words.
DIAL_QUANTITIES = {
    "hits": "parts hit\na picture",
    "entropy": "evenness of heat\nover the parts",
    "flipped": "wrong after\nerasing a part",
}


@figure()
def cam_phase_diagram(phase_diagram: pd.DataFrame) -> Figure:
    """On what the use of parts depends

    SimMIM and fine-tuning less supervised training of the same replicate: means with 95 % intervals, for each
    number of labelled pictures. A row is a setting: one dial of the pictures or of the pre-training is turned,
    the others stay; behind its name stands the value of supervised training in the first column. From left to
    right: parts that the map hits a multi-view picture, how evenly its heat lies over the parts, and the share
    of right answers that turn wrong when one part is erased. The replicates are those of the other phase
    diagram, and are used for nothing else. *What to see:* the theory predicts points to the right of the line
    in the first two panels and to the left of it in the third; only a row that has all three has maps and
    erasure tell the same story.
    That maps hit more parts after SimMIM, in the comparison with all labels,
    {{ verdict("mrp/cam-more-parts") }}; that erasing a part turns fewer answers wrong
    {{ verdict("mrp/cam-stands-erasure") }}.
    """
    return phase_diagrams(phase_diagram, DIAL_QUANTITIES)
