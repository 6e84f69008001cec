"""The table of the phases."""

from __future__ import annotations

import numpy as np
import pandas as pd

from featlearn.core.publish import Config, Table, table
from featlearn.core.stats import SPREAD_KIND, per_replicate, side_by_side, summary

LENGTHS = {
    "t1_predicted": "I, predicted", "phase_1": "I, measured", "phase_2": "II", "phase_3": "III",
    "phase_end": "head back", "largest_e21_of_bound": "largest E_21 / bound",
    "end_correlation": "correlation at the end",
}  # fmt: skip


@table()
def phase_times(times: pd.DataFrame) -> Table:
    """Phases over the dimension

    Predicted and measured lengths, the largest head against its bound, and the correlation of the two
    neurons at the end. *What to see:* the prediction of phase I is right to the last digits shown, the
    bound of the head is nearly reached, the correlation falls far faster than the corollary asks.
    """
    own = times[(times["case"] == "base") & times["quantity"].isin(list(LENGTHS))]
    means = summary(own, ["dimension", "quantity"])
    cells = means.assign(cell=[f"{mean:.3g}" for mean in means["mean"]]).pivot_table(
        index="dimension", columns="quantity", values="cell", aggfunc="first", sort=False
    )
    shown = cells[list(LENGTHS)].rename(columns=LENGTHS).reset_index()
    shown["dimension"] = [f"{d:.0e}" for d in shown["dimension"]]
    replicates = int(means["replicates"].max())
    return Table(
        means, shown, f"Means over {replicates} replicates; times in units of eta x steps."
    )


#: The exponents of the theory.
EXPONENTS = {"phase_1": "I (2)", "phase_2": "II (3/2)", "phase_3": "III (13/8)"}


@table()
def phase_exponents(times: pd.DataFrame, config: Config) -> Table:
    """Exponents of the phases for other strengths and speeds of the head

    Exponent of the length of each phase in d, between 10,000 and the largest d of a case (between its
    two ends, where it has none of these). *What to see:* the powers do not depend on the strengths of the
    features or on the speed of the head; phase III comes down to 13/8 slowly.
    """
    rows = []
    for case, own in times.groupby("case", sort=False):
        known = sorted(own["dimension"].unique())
        low, high = next((d for d in known if d >= 1e4 and d < known[-1]), known[0]), known[-1]
        for quantity in EXPONENTS:
            ends = [per_replicate(own, quantity=quantity, dimension=d) for d in (low, high)]
            for replicate, value in enumerate(np.log(ends[1] / ends[0]) / np.log(high / low)):
                rows.append((case, quantity, replicate, value))
    columns = ["case", "quantity", "replicate", "value"]
    means = summary(pd.DataFrame(rows, columns=columns), ["case", "quantity"])
    shown = side_by_side(means, ["case"], "quantity", EXPONENTS)
    cases = {"base": {"strengths": config["data"]["strengths"], "kappa": config["kappa"]}}
    cases |= config["others"]
    told = [cases[case] for case in shown.pop("case")]
    shown.insert(0, "strengths", ["{:g} : {:g}".format(*case["strengths"]) for case in told])
    shown.insert(1, "eta_E / eta", [f"{case['kappa']:g}" for case in told])
    return Table(
        means, shown,
        f"{int(means['replicates'].max())} replicates, the same starts in every case; after the "
        f"sign: {SPREAD_KIND}. In brackets the exponents of the theory.",
    )  # fmt: skip
