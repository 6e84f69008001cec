"""Figures 5.1 to 5.3 of small transformers on sentences that people wrote.

The bands are of pilots on another seed with one network of either size.
"""

from __future__ import annotations

import pandas as pd
from matplotlib.figure import Figure

from featlearn.core.claim_methods import Claims, claim
from featlearn.core.claims import DIFFERENCE_OF_SHARES, OBSERVATION, needs
from featlearn.core.frames import pick
from featlearn.core.publish import figure
from featlearn.icl.points import accuracies_drawn, attention_drawn, looks, of_family


@figure("fig-5-1", family="chat")
@figure("fig-5-2", family="base")
def accuracies(flips: pd.DataFrame, family: str) -> Figure:
    """Do larger models follow flipped labels further, on reviews that people wrote? ({{ family }} models)

    *What to see:* with all labels flipped, base models: {{ said("icl/sentences-small-falls-less", holds="the smallest
    falls less, by the difference", fails="the smallest does not fall less, by the difference") }}. Dots are seeds, lines
    means with 95 % intervals; dashed is chance. Crosses need no network: naive Bayes reads the words of each
    review, and the majority of the prompt's labels decides whether they are inverted.

    ---

    Prompts hold 16 reviews of SST-2 and a query of its test part, each beside a sentence of an essay. Small
    transformers learned from its 67,000 other phrases, with fewer (chat) or more (base) inverted prompts. They see
    sums of word vectors, so no order of words. The thesis has Llama of 3B to 70B, which no laptop holds, on five sets,
    of which only SST-2 is named.
    """
    return accuracies_drawn(flips, family)


@figure("fig-5-3")
def attention(attention: pd.DataFrame) -> Figure:
    """Does a larger model attend more to an irrelevant sentence? (reviews and essays)

    *What to see:* the percentage above each pair: the share of the irrelevant sentence, of the smallest model and of
    the largest. The relevant sentence is a review of SST-2, the irrelevant one comes from an essay, where the thesis has
    GSM-IC. Boxes: norm of the last layer's attention to either, over all prompts; diamonds: means of replicates. Small
    transformers stand for Llama 2 13B and 70B, and attend from where the label is asked.
    """
    return attention_drawn(attention)


class Sentences(Claims):
    """Of the smallest and the largest base model."""

    paper, kind, possible = "icl", OBSERVATION, DIFFERENCE_OF_SHARES
    out_of_reach = needs(
        sentences__training__steps=1500, sentences__replicates=3, sentences__prompts=1000
    )

    @claim("after Figure 5.2, on SST-2", "accuracy of the smallest minus that of the largest, all labels flipped",
           low=0.2, high=1, paper_says="“larger models are more easily affected by noise (flipped labels) and override "
           "pretrained biases than smaller models”")  # fmt: skip
    def sentences_small_falls_less(self):
        """On reviews of SST-2, with all labels flipped, the smallest model keeps more accuracy than the largest.

        A pilot on another seed had .64 and .22; the band asks for half of that, as words alone tell .82 of reviews.
        """
        own = of_family(pick(self.flips, noise="labels", share=1))
        models = list(looks(own))
        wide = own.pivot_table(index="replicate", columns="model", values="value")
        return wide[models[0]] - wide[models[-1]]
