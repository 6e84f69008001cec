"""The general setting of appendix A.8, by level of noise; every band was fixed before the measurement."""

from __future__ import annotations

import pandas as pd

from featlearn.core.evidence.claim_methods import Claims, claim
from featlearn.core.evidence.claims import DIFFERENCE_OF_SHARES, OBSERVATION, needs
from featlearn.emergence.frames import accuracies


class OfTheGeneralSetting(Claims):
    paper, kind = "emergence", OBSERVATION
    artefact = "emergence/measurements/general/0.1.parquet"
    out_of_reach = needs("general", {"data__patterns": 100, "data__relevant": 5, "spread": 0.3}, replicates=5,
                         pairs=100, samples__train=10000, dimension=200, steps=800)  # fmt: skip

    @claim("ours, behind appendix A.8", "test accuracy of the network minus that of the best of NTK, random "
           "features, 300 Fourier features of an RBF kernel and raw input, noise 0.1", low=0.06, high=1.0,
           possible=DIFFERENCE_OF_SHARES, changed="800 steps for network and NTK after desk with 400 had .104 [.024, "
           ".184] with networks that were still learning, and .155 with 800; fresh streams since, band kept. The "
           "statement names the features and the noise since a published run: at 0.2 the lead was .012.")  # fmt: skip
    def general_beats_fixed(self):
        """With overlapping patterns and input noise 0.1, a trained network is ahead of all fixed features tried.

        The best threshold on the count, which needs no features, has 27/32. The sum of the relevant patterns, read
        through this noise, gives some 0.98 of the labels, 0.13 more; half of it is left to overlap.
        """
        test = {arm: accuracies(self.values, "general-0.1", arm, "test")
                for arm in ("network", "ntk", "rf", "rbf", "linear")}  # fmt: skip
        network = test.pop("network")
        return network - pd.concat(test.values(), axis=1).max(axis=1)
