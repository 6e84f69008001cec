"""The general setting of appendix A.8, by level of noise; every band was fixed before the measurement."""

from __future__ import annotations

import pandas as pd

from featlearn.core.claim_methods import Claims, claim
from featlearn.core.claims import DIFFERENCE_OF_SHARES, OBSERVATION, needs
from featlearn.core.frames import pick
from featlearn.core.publish import Table, table
from featlearn.core.stats import side_by_side, summary
from featlearn.emergence.frames import ARMS, accuracies, by_replicate

#: Arms of the table, as people call them.
SHOWN = {
    "network": "network", "two_step": "head after two steps", "ntk": "NTK",
    "rf": "random features", "rbf": "RBF kernel", "linear": "linear on the input",
    "threshold": "best threshold on the count", "known patterns": "least squares on the patterns",
    "cosine": "cosine after two steps", "mu": "incoherence (mu)",
}  # fmt: skip


@table("general")
def general(values: pd.DataFrame) -> Table:
    r"""The general setting: patterns that overlap, inputs with noise

    *What to see:* {{ said("emergence/general-beats-fixed", holds="at noise 0.1 the network is ahead of all these fixed
    features", fails="at noise 0.1 the network is not ahead of all these fixed features") }}. Test accuracies on parity
    labels by the noise $\sigma_\zeta$ in each coordinate. Below: what least squares with the true dictionary recovers;
    cosine of the median neuron with the sum of relevant patterns; overlap of patterns ($\sqrt{d}$ times their largest
    inner product).
    """
    rows, others = [], {"cosine": ("two_step", "median_cosine"), "mu": ("dictionary", "mu")}
    for cell, own in values.groupby("cell", sort=False):
        for arm in SHOWN:
            name, quantity = others.get(arm, (arm, "test"))
            seen = (accuracies(own, str(cell), arm, "test") if arm in ARMS
                    else by_replicate(pick(own, arm=name), quantity))  # fmt: skip
            each = seen.rename("value").reset_index()
            rows.append(each.assign(noise=float(own["noise"].iloc[0]), arm=arm))
    result = summary(pd.concat(rows).sort_values("noise", kind="stable"), ["arm", "noise"])
    words = result["noise"].map(lambda noise: f"noise {noise:g}")
    named = result.assign(arm=result["arm"].map(SHOWN), noise=words)
    shown = side_by_side(named, ["arm"], "noise", {name: name for name in words.unique()})
    return Table(result, shown)


class OfTheGeneralSetting(Claims):
    """The network against fixed features."""

    paper, kind = "emergence", OBSERVATION
    artefact = "emergence/measurements/general/0.1.parquet"
    out_of_reach = needs("general", replicates=5, pairs=100, samples__train=10000, data__patterns=100,
                         data__relevant=5, dimension=200, spread=0.3, steps=800)  # fmt: skip

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
