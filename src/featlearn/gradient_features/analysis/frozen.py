"""One step, then the output layer alone: Theorem 3.4, Algorithms 6 and 7, and the inputs they need."""

from __future__ import annotations

from functools import partial

import numpy as np
import pandas as pd
from matplotlib.figure import Figure

from featlearn.core.drawing.intervals import Look, lines
from featlearn.core.drawing.plots import COLOURS, canvas
from featlearn.core.evidence.claim_methods import Claims, claim, premise
from featlearn.core.evidence.claims import DIFFERENCE_OF_SHARES, OBSERVATION, THEOREM, needs
from featlearn.core.evidence.frames import pick
from featlearn.core.evidence.stats import per_replicate
from featlearn.core.run.exhibits import figure
from featlearn.gradient_features import printed
from featlearn.gradient_features.analysis import best_of_panel

#: How Algorithm 6 is run for the claims: see ``experiments.frozen.READINGS``.
FITTING = "twice the rate, step 2/k"
#: Of odds, an input; it is of the order of 1 / d^2.
LEAST_GAIN = 1e-9
SHADES = ("sky", "blue", "green", "orange", "red", "purple")


@figure()
def sample_size(scan: pd.DataFrame) -> Figure:
    r"""How many inputs does the first step of Algorithm 7 need?

    *What to see:* left, {{ said("gradient_features/multi-index-samples", holds="over $n / d^2$ the dimensions lie on
    one curve", fails="over $n / d^2$ the dimensions do not lie on one curve") }}, by the power of $d$ that they need.
    Dashed: closed form. Middle: over $n / d$. Right: energy that a head on the step's features misses.
    """
    drawn = canvas(8.6, 3.4)
    axes = drawn.subplots(1, 3)
    dimensions = sorted(scan["dimension"].unique())
    looks = {d: Look(f"d = {d}", COLOURS[shade])
             for d, shade in zip(dimensions, SHADES, strict=False)}  # fmt: skip
    words = {"share": "energy in the relevant space", "error": "energy missed by a head"}
    for ax, power, column in zip(axes, (2, 1, 2), ("share", "share", "error"), strict=True):
        shown = scan.assign(ratio=scan["samples"] / scan["dimension"] ** power)
        lines(ax, shown, "ratio", "dimension", looks=looks, value=column)
        ax.set(xscale="log", ylim=(0, 1), xlabel=r"$n / d^2$" if power == 2 else r"$n / d$",
               ylabel=words[column])  # fmt: skip
        if power == 2:  # the values that were tried
            ax.set_xticks(sorted(shown["ratio"].round(2).unique()))
            ax.get_xaxis().set_major_formatter("{x:g}")
        ax.minorticks_off()
    ratios = scan["samples"] / scan["dimension"] ** 2
    grid = np.geomspace(ratios.min(), ratios.max(), 50)
    axes[0].plot(grid, 1 / (1 + np.pi / (2 * grid)), color=COLOURS["ink"], linestyle="--",
                 linewidth=1, label="closed form")  # fmt: skip
    drawn.legend(*axes[0].get_legend_handles_labels(), loc="outside lower center", ncols=6)
    return drawn


reach = partial(needs, "frozen", replicates=5)


class Frozen(Claims):
    paper, kind, possible = "gradient_features", THEOREM, DIFFERENCE_OF_SHARES

    @classmethod
    def made(cls, config):
        four = config["frozen"]["uniform_parity"]["four"]
        return (cls(config, dimension=four["dimension"], inputs=four["samples"]["train"]),)

    def last(self, law, reading, column="value"):
        curve = pick(self.curves, law=law, reading=reading)
        return per_replicate(curve, column, step=curve["step"].max())

    def panel(self, law):
        return best_of_panel(pick(self.heads, law=law))

    @premise(">=")
    def dimension_large(self):
        r"""$d \geq 2 k^2$ (Assumption B.53)"""
        four = self.config["frozen"]["uniform_parity"]["four"]
        return four["dimension"], 2 * four["block"] ** 2

    @premise(">=")
    def polynomial_inputs(self):
        r"""$n \geq d^2 r \kappa^2 \log(nmd)^{\tau + 1} + m$ (Theorem B.69, $\tau = 4$, constants as 1)"""
        of = self.config["frozen"]["multi_index"]
        n, m = of["samples"]["train"], of["neurons"]
        return n, printed.polynomial_inputs(of["dimension"], m, n)

    @premise(">=")
    def polynomial_width(self):
        r"""$m \geq \log(nmd)^{6 \tau + 1} / \epsilon$ (Theorem B.69, $\tau = 4$, $\epsilon = 0.1$)"""
        of = self.config["frozen"]["multi_index"]
        n, m = of["samples"]["train"], of["neurons"]
        return m, printed.polynomial_width(of["dimension"], m, n, 0.1)

    @claim("ours, against Theorem 3.4 in the main text", "log10 of the largest training loss along them; it is 0 at "
           "$a = 0$", low=0.3, kind=OBSERVATION, possible=(-np.inf, np.inf), out_of_reach=reach(),
           id="theorem-3.4-one-over-t", changed="The logarithm of the loss, after a tour.")  # fmt: skip
    def one_over_t(self):
        r"""Steps of $1 / t$, as the main text prints them, are no descent.

        A step beyond $2 / L$ need not descend; here $L$ is in the thousands and $t$ below it for as many
        steps. Twice the loss of no network at all is no descent.
        """
        return np.log10(pick(self.smooth, rule="1 / t").groupby("replicate")["train"].max())

    @claim("Theorem B.56", f"test error of the best of the panel, chosen on validation data, minus that of the "
           f"network after a first step on the population, last step, $d = {{dimension}}$, {FITTING}", low=0.4,
           high=1.0, kind=OBSERVATION, premises=("dimension_large",),
           artefact="gradient_features/measurements/frozen/curves.parquet",
           out_of_reach=reach(uniform_parity__four__dimension=51, uniform_parity__four__steps=2000),
           changed="Upper end of 1 in place of 1/2, after test sets had scattered across it, .48 to .502 with a "
           "second seed. The sentence names the closed form of the first step since 2026-11-25, which makes it an "
           "observation; the whole panel since.",
           paper_says=r"“there exists $t \in [T]$ such that $\Pr[\text{sign}(\mathbf{g}_{\Xi(t)})(\mathbf{x}) \neq "
           r"\mathbf{y}] \leq \mathcal{L}_{\mathcal{D}_{\text{parity-uniform}}} \mathbf{g}_{(\mathbf{a}^{(t)}, "
           r"\mathbf{W}^{(1)}, \mathbf{b})} \leq \epsilon$”")  # fmt: skip
    def uniform_parity_learned(self):
        r"""After a first step on the population, from infinitely many inputs, Algorithm 6 learns the parity
        of four; no method of the panel learns it from {inputs} inputs.

        From infinitely many inputs products of four would learn it too. The network's error is to
        vanish; the rest of the panel errs by 1/2. A tenth is for the finite training and test sets.
        """
        return self.panel("four") - self.last("four", FITTING)

    @claim("Theorem B.69", "share of the labels' energy that is missed: the best of the panel, chosen on validation "
           "data, minus the network, last step, same inputs", low=0.2, high=1.0, possible=(-np.inf, 1),
           premises=("polynomial_inputs", "polynomial_width"),
           artefact="gradient_features/measurements/frozen/curves.parquet",
           out_of_reach=reach(multi_index__samples__train=2000, multi_index__neurons=200),
           changed="200 neurons and fresh streams, after .16 ± .06 and .11 ± .16 with 50 and two seeds, and .24 in a "
           "pilot with 200; band kept. The whole panel since.",
           paper_says=r"“with high probability that there exists $t \in [T]$ such that $\mathcal{L}_{\mathcal{D}_X} "
           r"g_{(a^{(t)}, \mathbf{w}^{(1)}, b)} \leq \epsilon$”", failure="not reproduced")  # fmt: skip
    def multi_index_learned(self):
        r"""From inputs of order $d^2$, Algorithm 7 learns more of a polynomial of degree 4 of two
        projections than any method of the panel.

        The quartic part is most of the energy; a fifth of the whole is the least that tells that it found directions.
        """
        return self.panel("multi_index") - self.last("multi_index", "as printed")

    @claim("Theorem B.69", "exponent of $d$ in the inputs for a unit of signal over noise energy, 1 over the slope "
           "of share / (1 - share) over $n$", low=1.9, high=2.1, possible=(-np.inf, np.inf),
           out_of_reach=reach(scan__replicates=5, scan__dimensions=200, scan__neurons=200), changed="Ten replicates "
           "in place of five and fresh streams, after two seeds were undecided; band kept.",
           paper_says=r"“Assume $n \geq \Omega(d^2 r \kappa^2 (C_l \log(nmd))^{\tau+1} + m)$”")  # fmt: skip
    def multi_index_samples(self):
        r"""The first step needs inputs of order $d^2$: at equal $n / d^2$ its share in the relevant space
        is equal at all $d$.

        Signal $|G|^2 = 1 / (\pi d)$ against noise $(d - r) / (2 n)$: exponent 2 up to terms of order
        $1 / d$, .03 at these $d$. 200 neurons: 50 scatter by .24 and decide nothing.
        """
        scan = self.scan.assign(odds=self.scan["share"] / (1 - self.scan["share"]))
        exponents = []
        for _, own in scan.groupby("replicate"):
            parts = dict(iter(own.groupby("dimension")))
            gain = [np.polyfit(part["samples"], part["odds"], 1)[0] for part in parts.values()]
            # inputs that bring nothing cost without end: a wild exponent, which decides nothing
            cost = -np.log(np.maximum(gain, LEAST_GAIN))
            exponents.append(np.polyfit(np.log(list(parts)), cost, 1)[0])
        return np.array(exponents)
