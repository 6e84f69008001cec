"""The two stand-ins as networks, and the prompts that each of them reads."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from torch import Tensor

from featlearn.gemfilter.needles import Vocabulary
from featlearn.gemfilter.networks import Network, Ours
from featlearn.gemfilter.stand_in import shape_of
from featlearn.gemfilter.wired import Wired
from featlearn.transformers.decoder import Decoder


class Stand(NamedTuple):
    network: Network
    replicates: int  #: networks; 1 of the hand-wired one, whose replicates are prompts
    vocabulary: Vocabulary


def wired(config: Mapping[str, Any], seed: int) -> Stand:
    """Of the section ``gemfilter.wired``."""
    vocabulary = Vocabulary(**config["vocabulary"])
    network = Wired(vocabulary.size, (seed, "gemfilter", "wired"), config["width"])
    return Stand(network, 1, vocabulary)


def trained(config: Mapping[str, Any], weights: Mapping[str, Tensor]) -> Stand:
    """Of the section ``gemfilter.trained`` and its weights."""
    network = Ours(Decoder(shape_of(config), weights))
    return Stand(network, network.decoder.replicates, Vocabulary(**config["vocabulary"]))
