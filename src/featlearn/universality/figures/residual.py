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
    network's map at its start. Dots are replicates, where they are few. With all labels, and differences in brackets,
    {{ said("universality/residual-target-falls", holds="the target falls as sets are added",
    fails="the target does not fall by .02 as sets are added") }} and {{ said("universality/residual-average-rises",
    holds="the average rises", fails="the average does not rise") }}. What was pre-trained on the target is compared with the best of what
    learns nothing: with 5 % of the labels {{ said("universality/residual-learned-not-raw", holds="it leads by .05 or more",
    fails="it does not lead by .05") }}, with all of them {{ said("universality/residual-learned-not-raw-all-labels",
    holds="it leads by .05 or more", fails="it does not lead by .05") }}. After all sets the lead is
    {{ value("residual-leads", after="all sets", percent=5) }} with 5 % of the labels and {{ value("residual-leads", after="all sets",
    percent=100) }} with all (below zero: random features or pixels are the better representation of the target).
    """
    return ladder(pictures)


@figure("residual-remedy")
def tuned(tuned: pd.DataFrame) -> Figure:
    """Residual networks: target accuracy against labels, after a pre-training on the target alone and on all sets

    Ours, on small grey pictures (MoCo, 8 dimensions); a converged linear probe (LP in tables), fine-tuning of the whole
    network (FT), and fine-tuning with the contrastive loss at the weight named (Ours); means and 95 % intervals, and at
    five replicates or fewer a dot each. From the pre-training on the target to that on all sets, with all labels,
    {{ said("universality/residual-tuning-falls-less", holds="networks tuned with the contrastive loss fall less than a probe",
    fails="networks tuned with the contrastive loss do not fall less than a probe by .02") }} (the difference of both falls in
    brackets). Dotted: fine-tuning without any pre-training; with 5 % of the labels
    {{ said("universality/residual-pre-training-helps-tuning", holds="the pre-training on the target is ahead of it by .02 or more",
    fails="the pre-training on the target is not ahead of it by .02") }}. Of their labels
    {{ said("universality/residual-tuned-to-the-end", holds="all networks have learned nine tenths or more",
    fails="not all networks have learned nine tenths") }} (the least share in brackets).
    """
    return drawn_by_labels(tuned, "sets")
