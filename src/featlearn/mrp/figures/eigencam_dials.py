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

    Each column turns one dial of the pictures or of the pre-training and leaves the others; rows of a panel
    are its positions, columns the numbers of labelled pictures. A cell gives the value of supervised
    training, then that of SimMIM with fine-tuning; blue means more after pre-training, red less. From top to
    bottom: parts that the map hits a multi-view picture, how evenly its heat lies over the parts, and the
    share of right answers that turn wrong when one part is erased (here red is what the theory predicts).
    The replicates are those of the other phase diagram, and are used for nothing else. *What to see:* at
    which positions maps and erasure tell the same story.
    """
    return phase_diagrams(phase_diagram, DIAL_QUANTITIES)
