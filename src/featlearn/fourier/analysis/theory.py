"""The maximum margin by construction, and the neuron that has it (Theorem 4.9, Lemma 4.10)."""

from __future__ import annotations

import pandas as pd

from featlearn.core.evidence.claim_methods import Claims, claim
from featlearn.core.evidence.claims import POSITIVE, THEOREM, needs
from featlearn.core.evidence.frames import pick
from featlearn.core.run.exhibits import Table, table
from featlearn.fourier.analysis import task


@table()
def maximum_margin(constructions: pd.DataFrame) -> Table:
    """Two constructions of maximum margin: the thesis', and one of fewer neurons"""
    wide = constructions.pivot_table(
        index=["k", "p", "maximum"], columns="construction", values=["neurons", "value", "wrong"]
    ).reset_index()
    shown = pd.DataFrame({
        "task": [task(k, p) for k, p in zip(wide["k"], wide["p"], strict=True)],
        "γ*": [f"{value:.6g}" for value in wide["maximum"]],
    })  # fmt: skip
    for name in ("thesis", "grid"):
        shown[f"{name}: neurons"] = wide["neurons", name].astype(int)
        shown[f"{name}: margin / γ*"] = [f"{value:.10f}" for value in wide["value", name]]
    shown["wrong logits apart"] = [f"{value:.2f}" for value in wide["wrong"].to_numpy().max(1)]
    return Table(
        constructions,
        shown,
        "Least normalised margin over all $p^k$ inputs, over the formula of Theorem 4.9; of wrong "
        "logits the largest minus the smallest, in mean margins, of either. The theorem is about odd p. Of an "
        "even one both leave out the frequency p / 2, wrong logits differ, and the margin is smaller.",
    )


class Theory(Claims):
    paper, kind, possible = "fourier", THEOREM, POSITIVE

    @claim("Lemma 4.10; that no start ends elsewhere is ours", r"objective over $\gamma^*$ that a start ends at, the "
           r"least of all sizes; 0 if its vectors are not pure and of one frequency", low=0.9999, high=1 + 1e-9,
           out_of_reach=needs(theory__ascent__starts=50, theory__ascent__steps=200),
           paper_says="“they assume a specific cosine form with phase offsets satisfying certain conditions”")  # fmt: skip
    def best_neuron(self):
        """The best neuron of norm 1 is one cosine in all its vectors, which ascent from random starts reaches
        and never exceeds.

        The maximum, and the rest of the way after a few hundred steps.
        """
        keys = ["replicate", "k", "p"]
        last = pick(self.ascent, step=self.ascent["step"].max())
        ends = pick(self.neurons, moment="end")[[*keys, "single"]]
        both = last.merge(ends, on=keys, validate="one_to_one")
        reached = both["value"].where(both["single"], 0.0)
        return reached.groupby(both["replicate"]).min()
