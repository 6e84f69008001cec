"""Trade-off and remedy with residual networks on sets of pictures."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pandas as pd

from featlearn.core.publish import figure
from featlearn.universality.figures.pictures import ladder
from featlearn.universality.figures.remedy import drawn_by_labels

if TYPE_CHECKING:
    from matplotlib.figure import Figure


@figure()
def residual(pictures: pd.DataFrame) -> Figure:
    """Residual networks: average and target accuracy on growing mixtures of sets of pictures

    Ours (MoCo): accuracy of converged linear probes against the number of sets in the pre-training, with 95 %
    intervals; a panel a share of the target's labels. By default sets and views are those of the figure
    *pictures*, and the network has one residual block of 16 channels. Random features are all cells of such a
    network's map at its start. As sets are added
    the target {{ said("universality/residual-target-falls", holds="falls", fails="does not fall by .02") }} and the average
    {{ said("universality/residual-average-rises", holds="rises", fails="does not rise") }}. With 5 % of the labels what was
    pre-trained on the target {{ said("universality/residual-learned-not-raw", holds="leads raw pixels and random features",
    fails="does not lead raw pixels and random features by .05") }}; with all of them it
    {{ said("universality/residual-learned-not-raw-all-labels", holds="leads them, too", fails="does not lead them by .05") }}.
    """
    return ladder(pictures)


@figure("residual-remedy")
def tuned(tuned: pd.DataFrame) -> Figure:
    """Residual networks: target accuracy against labels, after a pre-training on the target alone and on all sets

    Ours, on small grey pictures (MoCo, width 8). LP: a converged linear probe. FT: fine-tuning of the whole
    network. Ours: fine-tuning with the contrastive loss, at the weight named. 95 % intervals. With all labels
    and the contrastive loss, networks {{ said("universality/residual-tuning-falls-less",
    holds="fall less than a probe", fails="do not fall less than a probe by .02") }} as the pre-training grows; of the labels
    {{ said("universality/residual-tuned-to-the-end", holds="all networks have learned nine tenths or more",
    fails="not all networks have learned nine tenths") }}. Networks that were not pre-trained stand in `tables/residual-tuned.md`.
    """
    return drawn_by_labels(tuned, "sets")
