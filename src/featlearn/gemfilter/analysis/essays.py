"""Needles in essays that people wrote, found by small networks that are trained on other essays.

The band is that of made tokens and was fixed before the first run.
"""

from __future__ import annotations

import pandas as pd
from matplotlib.figure import Figure

from featlearn.core.claim_methods import Claims, claim
from featlearn.core.claims import DIFFERENCE_OF_SHARES, OBSERVATION, needs
from featlearn.core.frames import pick
from featlearn.core.publish import figure
from featlearn.gemfilter import figures


@figure("fig-9-1")
def pipeline(texts: pd.DataFrame, maps: pd.DataFrame) -> Figure:
    """Figure 9.1: a prompt of an essay, the words that the filter layer keeps, and the answer

    *What to see:* whether the kept words (blue) cover the needle (orange), by the rule as printed. One prompt of a
    trained network, needle in the middle; below, the kept words, the needle in brackets, a bar for a gap, a dash for
    an unknown word.

    ---

    Essays are Paul Graham's, of which every third is asked and the others are learned from. A needle is a city and
    three frequent words, as the thesis' sentence cannot be asked of a network with 516 tokens: LLaMA 3.1 8B, which it
    asks, needs a larger machine.
    """
    return figures.pipeline(texts, maps)


@figure("fig-9-2")
def last_rows(rows: pd.DataFrame) -> Figure:
    """Figure 9.2: where the last word of a prompt of essays points, layer by layer

    *What to see:* whether the needle, between the orange lines, stands out. Products of the last query with all keys,
    summed over heads, over the layer's largest; one of the shortest prompts; place 0 is BOS. A small network, trained on
    essays, with needles of a city and three words.
    """
    return figures.last_rows(rows)


@figure(
    "fig-9-4",
    arms="full,snapkv,gemfilter,sinks",
    what="Figure 9.4: needles in essays by all keys and values, SnapKV and GemFilter, and by a window",
)
@figure(
    "fig-g-1",
    arms="next layer,safe next layer",
    what="Figure G.1: needles in essays with the next layer as the filter",
)
@figure(
    "fig-g-2",
    arms="full,snapkv,gemfilter,safe",
    what="Figure G.2: needles in essays by GemFilter as printed and by our safe variant",
)
@figure(
    "fig-g-3",
    arms="gemfilter middle row,gemfilter largest row,safe middle row",
    what="Figure G.3: needles in essays by other rows than the last",
)
@figure(
    "fig-g-4",
    arms="gemfilter,gemfilter one run,safe,safe one run",
    what="Figure G.4: needles in essays by two runs and one",
)
def heat_maps(scores: pd.DataFrame, arms: str, what: str) -> Figure:
    """{{ what }}

    *What to see:* beyond the training's length {{ said("gemfilter/essays-beats-snapkv", holds="safe beats SnapKV,
    difference", fails="safe does not beat SnapKV by .2, difference") }}. Cells: mean share of the answer's words;
    titles: mean of all cells, 95 % interval over networks. *Safe* is ours: softmax, BOS and question kept. A lookup of the
    city that is asked for is always right, without a network.

    ---

    Haystacks are running words of 16 of Paul Graham's essays. Networks of four layers learned from 33 others, at up to
    240 words; a needle is a city and three frequent words, among three others. The thesis asks models of 4B to 12B for
    one sentence in up to 120,000 tokens, which takes a larger machine.
    """
    return figures.heat_maps(scores, arms)


@figure("fig-9-5")
def layers(layers: pd.DataFrame) -> Figure:
    """Figure 9.5: does each layer select the needle in essays?

    *What to see:* whether the distance falls to 0 in a middle layer. Above: words from the needle's city to the nearest
    selected one, by the rule as printed. Below: exact answers with that layer as the filter. Means over depths, 95 %
    intervals over networks of four layers, trained on other essays; the thesis has models of 32 and 40 layers.
    """
    return figures.layers(layers)


@figure("fig-g-5", place=0, label="G.5")
@figure("fig-g-6", place=1, label="G.6")
@figure("fig-g-7", place=2, label="G.7")
def index_maps(maps: pd.DataFrame, place: int, label: str) -> Figure:
    """Figure {{ label }}: the places in an essay that GemFilter and SnapKV select, layer by layer

    *What to see:* GemFilter selects one set a layer, SnapKV one a head. One prompt of essays, needle (orange) in the
    middle; a small network, trained on other essays. The thesis' three models are three lengths here.
    """
    return figures.index_maps(maps, place)


class Essays(Claims):
    """Of trained networks in essays that they did not learn from."""

    paper, kind, possible = "gemfilter", OBSERVATION, DIFFERENCE_OF_SHARES
    out_of_reach = needs(
        essays__replicates=3, trained__layers=4, trained__lengths=480, trained__kept=32, prompts=6
    )

    @claim("ours, behind Figure 9.4", "exact answers, safe minus SnapKV, n = {beyond}", low=0.2)
    def essays_beats_snapkv(self):
        """In essays longer than those of the training our variant of GemFilter beats SnapKV.

        The band is that of prompts of made tokens. Networks that find nothing have 0.
        """
        own = pick(self.scores, n=self.words["beyond"])
        wide = own.pivot_table(index="replicate", columns="arm", values="exact")
        return wide["safe"] - wide["snapkv"]

    def __init__(self, config):
        super().__init__(config)
        self.words = {"beyond": max(config["trained"]["lengths"])}
