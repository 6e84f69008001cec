"""XOR of four Gaussians: the network against the panel of baselines (Theorem B.42).

Sizes and bands come from a pilot of one replicate on other random streams.
"""

from __future__ import annotations

from math import log, sqrt

import numpy as np
import pandas as pd
from matplotlib.figure import Figure

from featlearn.core.drawing.intervals import Look, lines, share_interval
from featlearn.core.drawing.plots import COLOURS, FILLS, PAGE, PALETTE, canvas
from featlearn.core.evidence.claim_methods import Claims, claim, premise
from featlearn.core.evidence.claims import DIFFERENCE_OF_SHARES, OBSERVATION, THEOREM, needs
from featlearn.core.evidence.frames import pick
from featlearn.core.evidence.stats import per_replicate
from featlearn.core.run.exhibits import Config, figure
from featlearn.gradient_features.analysis import best_of_panel

#: Drawn; of the panel the best on validation data is drawn as well, whichever it is.
LOOKS = {
    "bayes": Look("Bayes", PALETTE["bayes"], "D", (4, 2)),
    "network": Look("network", PALETTE["network"]),
    "best of the panel": Look("best of the panel", COLOURS["ink"], "P", (2, 1)),
    "quadratic kernel": Look("quadratic kernel", COLOURS["purple"], "p"),
    "RBF kernel": Look("RBF kernel", PALETTE["kernel"], "s"),
    "tangent kernel": Look("tangent kernel", PALETTE["tangent kernel"], "^"),
    "own start": Look("own start", PALETTE["random features"], "v"),
    "linear": Look("linear", PALETTE["raw input"], "X"),
    "shuffled labels": Look("shuffled labels", COLOURS["grey"], "*"),
}


@figure()
def xor_opponents(accuracies: pd.DataFrame, config: Config) -> Figure:
    r"""Does the network learn the XOR of four Gaussians better than fixed features do?

    *What to see:* at the judged noise and dimension (shaded) {{ said("gradient_features/xor-beats-best-opponent",
    holds="the network leads the best of the panel", fails="the network does not lead the best of the panel") }}; {{
    said("gradient_features/xor-beats-own-start", holds="it leads its start and tangent kernel", fails="it does not lead
    its start and tangent kernel") }}. Test accuracy from the same inputs, 95 % intervals; a panel a noise $\sigma_B$.
    """
    best = accuracies[accuracies["best"]].assign(method="best of the panel")
    shown = pd.concat([accuracies[accuracies["method"].isin(LOOKS)], best])
    noises = sorted(accuracies["noise"].unique())
    drawn = canvas(min(PAGE, 3.7 * len(noises)), 3.7)
    axes = drawn.subplots(1, len(noises), sharey=True, squeeze=False)[0]
    for ax, noise in zip(axes, noises, strict=True):
        lines(ax, pick(shown, noise=noise), "dimension", "method", looks=LOOKS,
              errorbar=share_interval)  # fmt: skip
        ax.axhline(0.5, color=COLOURS["ink"], linewidth=0.8, linestyle=":")
        if noise == config["judged"]["noise"]:
            ax.axvline(config["judged"]["dimension"], color=FILLS["light"], linewidth=8, zorder=0)
        ax.set(xscale="log", xlabel="dimension d", ylim=(0.42, 1.02))
        ax.set_xticks(sorted(accuracies["dimension"].unique()))
        ax.get_xaxis().set_major_formatter("{x:.0f}")
        ax.minorticks_off()
        ax.set_title(rf"$\sigma_B$ = {noise:g}")
    axes[0].set_ylabel("test accuracy")
    drawn.legend(*axes[0].get_legend_handles_labels(), loc="outside lower center", ncols=5)
    return drawn


class Baselines(Claims):
    paper, possible = "gradient_features", DIFFERENCE_OF_SHARES
    out_of_reach = needs("opponents", {"judged__dimension": 200, "judged__noise": 4}, replicates=5, dimensions=400,
                         steps=200, judged__replicates=5, samples__train=1000)  # fmt: skip

    @classmethod
    def made(cls, config):
        judged = config["opponents"]["judged"]
        noise, dimension = f"{judged['noise']:g}", judged["dimension"]
        inputs = config["opponents"]["samples"]["train"]
        return (cls(config, noise=noise, dimension=dimension, inputs=inputs),)

    @premise("<=")
    def noise_within(self):
        r"""$\sigma_B \leq \sqrt{d / \log\log d}$ (Assumption B.36, $\tau = 1$)"""
        judged = self.config["opponents"]["judged"]
        return judged["noise"], sqrt(judged["dimension"] / log(log(judged["dimension"])))

    @premise(">=")
    def neurons_enough(self):
        r"""$m \geq \sigma_B (\log d)^{\sigma_B^2}$ (Theorem B.42, constants as 1)"""
        of = self.config["opponents"]
        noise, dimension = of["judged"]["noise"], of["judged"]["dimension"]
        return of["neurons"], noise * log(dimension) ** noise**2

    @premise(">=")
    def inputs_enough(self):
        r"""$n \geq d^{1.5}$ (Section 3.4.1, constant as 1)"""
        of = self.config["opponents"]
        return of["samples"]["train"], of["judged"]["dimension"] ** 1.5

    def here(self):
        judged = self.config["opponents"]["judged"]
        return pick(self.accuracies, noise=judged["noise"], dimension=judged["dimension"])

    def leads(self):
        """Of the network over each other method."""
        network = per_replicate(self.here(), method="network")
        return {f"lead over {name}": network - per_replicate(self.here(), method=name)
                for name in self.here()["method"].unique() if name != "network"}  # fmt: skip

    @claim("Theorem B.42", r"test accuracy minus the better of own start and tangent kernel, $\sigma_B = {noise}$, "
           r"$d = {dimension}$, same {inputs} inputs", low=0.1, high=0.5, kind=THEOREM, baselines="leads",
           premises=("noise_within", "neurons_enough", "inputs_enough"),
           changed="The sentence names noise and dimension since a run had been seen.",
           paper_says="“Our framework can show the advantage of network learning over kernel methods”")  # fmt: skip
    def xor_beats_own_start(self):
        r"""A trained network learns the XOR with noise {noise} in {dimension} dimensions; its start
        under a new head and its tangent kernel do not suffice.

        A tenth of the inputs; a pilot gave .23.
        """
        fixed = [
            per_replicate(self.here(), method=name) for name in ("own start", "tangent kernel")
        ]
        return per_replicate(self.here(), method="network") - np.max(fixed, axis=0)

    @claim("Theorem B.42", r"test accuracy minus that of the best of the panel, chosen on validation data, $\sigma_B "
           r"= {noise}$, $d = {dimension}$, same {inputs} inputs", low=0.03, high=0.5, kind=THEOREM,
           baselines="leads", premises=("noise_within", "neurons_enough", "inputs_enough"), paper_says=r"“fixed "
           r"feature methods need $\Omega(d^2)$ features and $\Omega(d^2)$ samples to achieve nontrivial errors”",
           changed="Twenty replicates in place of five and fresh streams, after .04 to .09 and -.01 to .10 with two "
           "seeds; band kept. The sentence names noise and dimension. Against the whole panel and not the RBF kernel "
           "alone since the quadratic kernel was known to lead by .02; band kept.")  # fmt: skip
    def xor_beats_best_opponent(self):
        r"""On the XOR with noise {noise} in {dimension} dimensions, a trained network beats every
        method of the panel of baselines.

        Three in a hundred. We expect it to fail: the label is a quadratic form of the input. A larger
        network comes nearer (four times the neurons: .003 behind); with the inputs that
        the theorem asks for the kernels err as little as Bayes.
        """
        return per_replicate(self.here(), method="network") - best_of_panel(self.here())

    @claim("Section 3.4.1, on Theorem B.42", r"test accuracy of the best of the panel at the largest dimension minus "
           r"that at the smallest, $\sigma_B = {noise}$, {inputs} inputs each", high=0.0, kind=OBSERVATION,
           premises=("noise_within",), paper_says=r"“fixed feature methods need $\Omega(d^2)$ features and "
           r"$\Omega(d^2)$ samples to achieve nontrivial errors”")  # fmt: skip
    def xor_fixed_features_need_samples(self):
        r"""With a fixed number of inputs, fixed features learn less of the XOR as the dimension grows.

        If they need of order $d^2$ inputs, the same {inputs} bring less and less. We expect it to
        fail: at fixed noise the centres move apart as $\sqrt{d}$. Refinetti et al. keep their distance.
        """
        noise, dimension = self.config["opponents"]["judged"]["noise"], self.accuracies["dimension"]
        least, most = (best_of_panel(pick(self.accuracies, noise=noise, dimension=at))
                       for at in (dimension.min(), dimension.max()))  # fmt: skip
        count = min(len(least), len(most))  # where the other claims compare there are more
        return most[:count] - least[:count]
