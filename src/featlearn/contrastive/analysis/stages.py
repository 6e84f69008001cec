"""Sections 3 and 4 on trained networks: the three stages, with RandomMask and without.

Orders such as ``O(log d)`` are read with a constant that the statement names. The four trainings
(RandomMask or not, thresholds raised or kept at zero) share start, length, samples and labels.
"""

from __future__ import annotations

import math

import numpy as np
import pandas as pd
from matplotlib.colors import TwoSlopeNorm
from matplotlib.figure import Figure

from featlearn.contrastive.analysis import EXCUSED, OfModels, lines, nmse, ten_times
from featlearn.core.drawing.plots import COLOURS, PALETTE, canvas
from featlearn.core.evidence.claim_methods import claim, premise
from featlearn.core.evidence.claims import OBSERVATION, POSITIVE, SHARE, needs
from featlearn.core.evidence.frames import pick
from featlearn.core.evidence.stats import per_replicate, side_by_side, summary
from featlearn.core.run.exhibits import Table, figure, table

MERGED = "on 2026-11-25 after their results were seen; the band is"
KEPT = "on 2026-11-26 after the results of both were seen; the band is theirs."
#: ``1 / (gamma c0)``, by which norms grow until T1 of the main text, both being .01.
GROWTH = 1e4
#: A sample with z = 0 has a code of which nothing tells the positive from the N negatives.
FLOOR = (
    "A code of z cannot tell the positive from N negatives where z = 0, which has the chance "
    "(1 - p)^d: loss over tau, times log d, is at least (1 - p)^d log d log(1 + N), with the 256 "
    "negatives of these runs 5.4 at d = 32 and 5.5 at d = 10^6, and more with more of them."
)
ARMS = {"masked": "RandomMask", "unmasked": "No mask"}
#: Fewer than elsewhere: eight of ten times T2 cost what ten of 2.5 times did.
LEAST_REPLICATES = 8
#: Assumptions of statements on the end of training.
LONG = (*OfModels.premises, "long_enough")
#: Panels of the curves: title, then quantity -> (colour, label).
PANELS: dict[str, dict[str, tuple[str, str]]] = {
    "Norm of a neuron": {
        "signal_norm": (COLOURS["blue"], "within span(M)"),
        "dense_norm": (COLOURS["orange"], "outside, noise"),
    },
    "Singletons": {
        "singletons": (COLOURS["blue"], "share of neurons"),
        "covered": (COLOURS["green"], "share of atoms covered"),
    },
    "Threshold": {"bias_over_norm": (COLOURS["purple"], r"$b/\|w\|$, mean")},
    "Loss": {
        "objective": (COLOURS["grey"], "with the regulariser"),
        "loss": (COLOURS["ink"], "contrastive loss"),
    },
}
MOMENTS = {"start": "start", "t1": "T1", "t2": "T2", "end": "end"}


@figure()
def stages(histories: pd.DataFrame, moments: pd.DataFrame) -> Figure:
    r"""The three stages of contrastive training

    *What to see:* with RandomMask (above) neurons turn to $\mathrm{span}(M)$ until T1, and become singletons until T2
    and after; {{ said("contrastive/no-augmentation-no-singletons", holds="without a mask (below) hardly any neuron is
    one at the end", fails="without a mask (below) some neurons are at the end") }}. Both shares fall as neurons die.

    Thick lines: means; thin lines: replicates. A *singleton* has more than half of its squared norm along one atom.
    """
    drawn = canvas(8.2, 4.8)
    axes = drawn.subplots(len(ARMS), len(PANELS), sharey="col")
    for row, (arm, name) in enumerate(ARMS.items()):
        own, times = pick(histories, arm=arm), _times(moments, arm)
        for ax, (title, shown) in zip(axes[row], PANELS.items(), strict=True):
            for quantity, (colour, label) in shown.items():
                lines(ax, own, colour, label, quantity=quantity)
            # stages I and II are a tenth of the way
            ax.set_xscale("symlog", linthresh=100, linscale=0.6)
            ax.set(xlim=(0, None), **({"xlabel": "step"} if row else {"title": title}))
            for moment, step in times.items():
                ax.axvline(step, color=COLOURS["ink"], linewidth=0.8, linestyle=":")
                if title == "Norm of a neuron":
                    ax.annotate(MOMENTS[moment], (step, 0.02), xycoords=("data", "axes fraction"),
                                xytext=(2, 0), textcoords="offset points", fontsize=8)  # fmt: skip
        axes[row, 0].set_ylabel(name, fontweight="bold")
    axes[0, 0].set(yscale="log")
    axes[0, 1].set(ylim=(-0.03, 1.05))
    floor = pick(moments, quantity="floor", arm="masked")["value"].mean()
    for ax in axes[:, 3]:
        ax.axhline(floor, color=COLOURS["grey"], linewidth=0.9, linestyle="--",
                   label="floor of a code of z")  # fmt: skip
    for ax in axes[-1]:  # below the panels, where no line is
        ax.legend(fontsize=8, loc="upper center", bbox_to_anchor=(0.5, -0.26))
    return drawn


def _times(moments: pd.DataFrame, arm: str) -> dict[str, float]:
    """Mean steps of T1 and T2, over the replicates in which they came."""
    steps = pick(moments, arm=arm, quantity="step")
    return dict(steps[steps["value"] >= 0].groupby("moment")["value"].mean())


#: Panels of the plateau: title, then arm -> (colour, style, label).
COURSES = {
    "Thresholds raised or at zero": {
        "unmasked-zero": (PALETTE["contrastive, no threshold"], "--", "no mask, b = 0"),
        "masked-zero": (PALETTE["contrastive, weak augmentation"], "--", "mask, b = 0"),
        "unmasked": (PALETTE["contrastive, no augmentation"], "-", "no mask, b raised"),
        "masked": (PALETTE["contrastive"], "-", "mask, b raised"),
    },
    "Thresholds raised, hardly any dies": {
        "unmasked-kept": (PALETTE["contrastive, no augmentation"], "-", "no mask"),
        "masked-kept": (PALETTE["contrastive"], "-", "mask"),
    },
}


@figure()
def plateau(histories: pd.DataFrame, moments: pd.DataFrame, evaluation: pd.DataFrame) -> Figure:
    """Does the effect of the mask last?

    *What to see:* soon after T2 the errors with and without RandomMask are close; then the one without rises,
    to {{ value("downstream", model="unmasked", quantity="nmse") | number }} where neurons die and to
    {{ value("downstream", model="unmasked-kept", quantity="nmse") | number }} where hardly any does.

    Thick lines: means; thin lines: replicates; dashed black: the best linear predictor; green: Bayes floor.
    """
    drawn = canvas(8.6, 3.4)
    panels = drawn.subplots(1, len(COURSES), sharey=True)
    t2 = _times(moments, "masked").get("t2")
    linear = nmse(evaluation, "linear-exact")
    for ax, (title, arms) in zip(panels, COURSES.items(), strict=True):
        for arm, (colour, style, label) in arms.items():
            lines(ax, histories, colour, label, style, arm=arm, quantity="nmse")
        ax.axhline(linear, color=COLOURS["ink"], linewidth=0.9, linestyle="--")
        ax.axhline(nmse(evaluation, "bayes-exact"), color=COLOURS["green"], linewidth=1.2)
        ax.set(title=title, xlabel="step", ylim=(0, 1.6 * linear))
        if t2:
            over = ax.secondary_xaxis(-0.22, functions=(lambda x: x / t2, lambda x: x * t2))
            over.set_xlabel("step / T2")
        ax.legend(fontsize=8, ncols=2, loc="upper right")
    panels[0].set_ylabel("NMSE of the probe")
    return drawn


MASKINGS = {
    "complementary": "RandomMask",
    "independent": "Two independent masks",
    "none": "No augmentation",
}


@figure()
def decoupling(decoupling: pd.DataFrame) -> Figure:
    """Two views under RandomMask share the atoms and no noise

    *What to see:* only under RandomMask is the lower right block, the noise, pale.

    A cell is the mean product of the two views' coordinates along two directions: four atoms, then four dense ones.
    Below: means of the diagonal, and their exact values.
    """
    drawn = canvas(8.2, 3.2)
    axes = drawn.subplots(1, len(MASKINGS))
    names = list(dict.fromkeys(decoupling["first"]))
    where = ["masking", "first", "second"]
    top = float(decoupling.groupby(where)["measured"].mean().abs().max())
    for ax, (masking, title) in zip(axes, MASKINGS.items(), strict=True):
        own = pick(decoupling, masking=masking)
        grid, exact = (own.pivot_table(index="first", columns="second", values=column)
                       .loc[names, names].to_numpy() for column in ("measured", "exact"))  # fmt: skip
        image = ax.imshow(grid, cmap="RdBu_r", norm=TwoSlopeNorm(0, -top, top))
        half = len(grid) // 2
        for axis, edge in ((ax.xaxis, ax.axvline), (ax.yaxis, ax.axhline)):
            axis.set_ticks([half / 2 - 0.5, 1.5 * half - 0.5], ["atoms", "dense"])
            edge(half - 0.5, color=COLOURS["ink"], linewidth=0.8)
        ax.tick_params(length=0)
        ax.grid(visible=False)
        ax.set_title(title)
        pairs = np.stack([grid.diagonal(), exact.diagonal()], -1)
        words = "atom: {:.4f} (exact {:.4f})\ndense: {:.4f} (exact {:.4f})"
        means = words.format(*pairs[:half].mean(0), *pairs[half:].mean(0))
        ax.set_xlabel(means.replace("-", "−"), fontsize=8)
    bar = drawn.colorbar(image, ax=axes, shrink=0.85, pad=0.01)
    bar.set_label(r"$E\,\langle x^+,v\rangle\langle x^{++},v'\rangle$")
    return drawn


#: Models in the order of the story, with the words that a reader sees.
TABLE_MODELS = {
    "raw": "Samples themselves",
    "atoms": "Samples along the atoms",
    "linear-exact": "Best linear predictor, exact",
    "initial": "Random weights, thresholds at zero",
    "random-features": "Random weights, thresholds raised",
    "unmasked-zero": "No mask, thresholds at zero",
    "masked-zero": "RandomMask, thresholds at zero",
    "unmasked": "No mask, thresholds raised",
    "masked": "RandomMask, thresholds raised",
    "unmasked-kept": "No mask, thresholds raised, none dies",
    "masked-kept": "RandomMask, thresholds raised, none dies",
    "sampled": "RandomMask, thresholds raised, stage I sampled, a quarter of the steps",
    "panel": "Samples: the best of kernels and 1,000 random features",
    "bayes": "Bayes estimate",
    "bayes-exact": "Bayes floor, exact",
}
PROBE_HEADS = {"nmse": "NMSE", "accuracy": "accuracy", "train_nmse": "NMSE, training",
               "train_accuracy": "accuracy, training"}  # fmt: skip


@table("downstream")
def downstream_table(evaluation: pd.DataFrame, panel: pd.DataFrame) -> Table:
    """Linear probes on every representation

    *NMSE*: mean squared error over the mean square of the response. Chance has 1, and 0.5 right.
    """
    chosen = panel[panel["best"]].assign(model="panel", quantity="nmse")
    trained = chosen.assign(quantity="train_nmse", value=chosen["train"])
    seen = pd.concat([evaluation, chosen, trained])
    ordered = pd.concat([seen[seen["model"] == model] for model in TABLE_MODELS])
    result = summary(ordered, ["model", "quantity"])
    result = result.assign(label=result["model"].map(TABLE_MODELS))
    return Table(result, side_by_side(result, ["label"], "quantity", PROBE_HEADS))


class Stages(OfModels):
    paper, section = "contrastive", "stages"
    changed = (
        "On 2026-11-25, after results at 600 steps and with stage I sampled from 256 anchors had "
        "been seen: ten times T2, stage I by its population map, eight replicates."
    )
    out_of_reach = needs(
        stages__data__atoms=32, stages__training__steps=2400, stages__replicates=LEAST_REPLICATES
    )

    def at(self, quantity, moment="end", arm="masked"):
        return per_replicate(self.moments, arm=arm, moment=moment, quantity=quantity)

    @premise(">=")
    def long_enough(self):
        r"""$t \geq \mathrm{poly}(d) / \eta$, read as ten times T2 with the mask"""
        return self.setting()[1]["steps"], ten_times(self.at("step", "t2"))

    @premise("<=")
    def trained(self):
        """The loss is o(1) without a mask, read as a tenth: the larger of both trainings"""
        ends = (self.at("loss", arm=arm) for arm in ("unmasked", "unmasked-kept"))
        return max(float(loss.mean()) for loss in ends), 0.1

    @premise(">=")
    def exact_gradient(self):
        r"""Fact A.1 in stage I: $K = \mathrm{poly}(d)$ anchors; the population map has no sampling error"""
        return math.inf, self.anchors()[1]

    @premise(">=")
    def printed_t1(self):
        r"""$\|w_i^{(T_1)}\| \geq \|w_i^{(0)}\| / (\gamma c_0)$, as in the main text"""
        return float(self.at("growth", "t1", "population").min()), GROWTH * (1 - 1e-5)

    @claim("Theorem C.1(2)", r"share of lucky pairs above $(1 + \gamma c_0) \sqrt{2 \log d / d} \|w_i\|$ at T1 of "
           r"the main text, by the population map", low=0.99, high=1.0, possible=SHARE,
           premises=("exact_gradient", "printed_t1"), changed="Theorem C.1(3) is a claim of its own again.",
           paper_says=r"“each $i \in \mathcal{M}_j^*$, we have $|\langle w_i^{(T_1)}, \mathbf{M}_j \rangle| \geq "
           r"(1 + \gamma c_0) \frac{\sqrt{2 \log d}}{\sqrt{d}} \|w_i^{(T_1)}\|_2$”")  # fmt: skip
    def theorem_c1_2(self):
        """Lucky pairs of neuron and atom lie above the line of the theorem at T1.

        The theorem says all; one in a hundred is allowed for rounding.
        """
        return self.at("lucky_above", "t1", "population")

    @claim("Theorem C.1(3)", r"share of neurons of which every pair outside $M_j$ is below $(1 - \gamma c_0) "
           r"\sqrt{2 \log d / d} \|w_i\|$ at T1 of the main text, by the population map", low=0.99, high=1.0,
           possible=SHARE, premises=("exact_gradient", "printed_t1"), paper_says=r"“each $i \notin \mathcal{M}_j$, "
           r"we have $|\langle w_i^{(T_1)}, \mathbf{M}_j \rangle| \leq (1 - \gamma c_0) \frac{\sqrt{2 \log "
           r"d}}{\sqrt{d}} \|w_i^{(T_1)}\|_2$”")  # fmt: skip
    def theorem_c1_3(self):
        r"""Pairs outside $M_j$ lie below the line of the theorem at T1.

        As for (2). With the printed constants the two exclude each other: (2) needs at least .9904 of $\|w_i\|^2$
        in $\mathrm{span}(M)$ and (3) at most .9900, as $c_2 > 2$. By the Gaussian tail .9895 is left where all of
        it is there.
        """
        return self.at("others_below", "t1", "population")

    @claim("Induction Hypothesis D.1(a); Theorem D.5(a); definition of $M_j^*$", r"least of three shares of lucky "
           r"pairs (i, j): $|\alpha_{ij}| \geq (1 + c_0) b_i$ at T2; i is a singleton of j at T2; at the end",
           low=0.8, high=1.0, possible=SHARE,
           changed=f"Merged from d1-lucky, theorem-d5-singletons and lottery-precision {MERGED} that "
           "of the latter two, that of d1-lucky began at .9.", paper_says=r"“if $i \in \mathcal{M}_j^*$, then "
           r"$|\langle w_i^{(T_2)}, \mathbf{M}_j \rangle| \geq \Omega(1)\|w_i^{(T_2)}\|_2$”")  # fmt: skip
    def theorem_d5_singletons(self):
        """Lucky neurons stay above their threshold and become singletons of their atoms.

        The theorem says all; pairs that were barely lucky may lose. A neuron that has died is no singleton.
        """
        shares = (self.at("lucky_above_bias", "t2"), self.at("lucky_came_true", "t2"),
                  self.at("lucky_came_true"))  # fmt: skip
        return np.min(shares, axis=0)

    @claim(r"Theorem 3.4(a), $\lambda \in [d^{-1.499}, d^{-1.001}]$", "share of atoms with a living singleton at the "
           r"end, the smaller of two: with a decay below that of the theorem; with $\lambda = d^{-1.499}$, kb = 0",
           low=0.97, high=1.0, possible=SHARE, id="theorem-3.4-coverage",
           changed=f"Merged with theorem-3.4-decay {KEPT}", paper_says=r"“at least $\Omega(1)$ many $i \in [m]$ such "
           r"that $\mathcal{N}_i = \{j\}$”", failure="rate or constant")  # fmt: skip
    def theorem_3_4_coverage(self):
        """Every atom is learned by some singleton, with the decay that the theorem allows, too.

        The theorem says all; one miss in 32 is allowed. In a pilot with the theorem's decay most neurons died, though
        the thresholds grew with the norms only; a failure is expected.
        """
        return np.minimum(self.at("covered"), self.at("covered", arm="theory-decay"))

    @claim("Induction Hypothesis D.1(b); definition of $M_j^*$, converse (as the proof suggests)", r"lesser of two "
           r"shares: of neurons, those of which every pair outside $M_j$ has $|\alpha_{ij}| \leq (1 - c_0) b_i$ at T2; "
           "of singletons at the end, those that were lucky for their atom", low=0.98, high=1.0, possible=SHARE,
           changed="Merged with d1-others on 2026-11-27 after the results of both were seen; the band is that of "
           "d1-others, the stricter one: that of lottery-recall began at .9.", paper_says=r"“if $i \notin "
           r"\mathcal{M}_j$, then $|\langle w_i^{(t)}, \mathbf{M}_j \rangle| \leq (1 - c_0) b_i^{(t)}$”",
           failure="limit only")  # fmt: skip
    def lottery_recall(self):
        r"""Who was not lucky does not win: pairs outside $M_j$ stay below their threshold, and singletons were lucky.

        The hypothesis says all; one in fifty is allowed. With hard gates the others could not grow. The gates are
        smooth at finite d, so that some below the threshold still make it.
        """
        return np.minimum(self.at("others_below_bias", "t2"), self.at("singletons_foreseen"))

    @claim("Theorem 3.4(d), E.1(d); Lemma E.11", "larger of two, over tau, times log d: the loss at the end, the "
           "pseudo-loss of the comparator", low=0.0, high=3.0, possible=POSITIVE, premises=(), asymptotic=FLOOR,
           changed=f"{EXCUSED} Merged from theorem-3.4d-as-printed and lemma-e11-as-printed {MERGED} theirs.",
           id="theorem-3.4d-as-printed", paper_says=r"“we have objective guarantees $\mathbf{Obj}(f_t), L(f_t) "
           r"\leq o(1)$”", failure="rate or constant")  # fmt: skip
    def theorem_3_4d_as_printed(self):
        """The loss of the network and the pseudo-loss of the comparator end at O(1 / log d).

        Constant 3. Negatives with the same code on the support of z leave a floor of 2-3 at these sizes; a failure
        is expected.
        """
        return np.maximum(self.at("loss_times_log"), self.at("comparator_loss_times_log"))

    @claim("Fact E.3", "share of the firings of singletons in which the atom is active, at the end", low=0.5,
           high=1.0, possible=SHARE, changed=EXCUSED, paper_says=r"“$\max_{x \in \{x_p, x_p^+, x_p^{++}\}} "
           r"\mathbb{1}_{h_{i,t}(x) \neq 0} \leq \sum_{j \in \mathcal{N}_i} \mathbb{1}_{z_{p,j} \neq 0}$”",
           failure="one word too strong")  # fmt: skip
    def fact_e3_precision(self):
        """A singleton fires only if its atom is active.

        Only if, read as more often than not. Samples in which the atom is silent are far more frequent, and noise
        passes the threshold in some of them; a failure is expected.
        """
        return self.at("firing_precision")

    @claim("Lemma E.9", r"$|\Phi| / \|w_i\|$ at the end over that at T2, root mean squares over the singletons of "
           r"either moment; 1 without singletons at T2", low=0.0, high=0.5, changed="A difference below 0, which "
           "any fall met (desk: -.0015), until a run at smoke had no singletons at T2 to divide by; the ratio was "
           "declared before it was seen.", paper_says=r"“reduction of $\Phi^{(t)}$ to the bounds of $\Psi^{(t)}$”",
           failure="rate or constant")  # fmt: skip
    def lemma_e9(self):
        """Phi, the part that the rest of a sample adds, falls to half or less in stage III.

        The lemma's bound falls from d^-1.5 to d^-1.98, by a factor of 5 at d = 32; half is clear.
        """
        before, after = self.at("phi_over_norm", "t2"), self.at("phi_over_norm")
        return np.divide(after, before, out=np.ones_like(after), where=before > 0)

    @claim("Lemma E.11, against the floor (ours)", "(pseudo-loss - floor) of the comparator over (loss - floor) of "
           "the network, end", kind=OBSERVATION, low=0.0, high=1.0, premises=())  # fmt: skip
    def lemma_e11(self):
        """The comparator is at least as good as the network that training found.

        It has the same features without what is left of noise. But its gates are those of the network: they open on
        noise, and thresholds are subtracted that do not match its sizes. Validation gave 1.4; a failure is
        expected.
        """
        start, floor = self.at("loss", "start"), self.at("floor")
        left = [(self.at(loss) - floor) / (start - floor) for loss in ("comparator_loss", "loss")]
        return left[0] / left[1]

    def panel_over_linear(self):
        """NMSE of each member of the panel over that of the best linear predictor."""
        linear = self.of_model("linear-exact")
        return {f"{name} over the best linear predictor": part["value"].to_numpy() / linear
                for name, part in self.panel.sort_values("replicate").groupby("method")}  # fmt: skip

    @claim("Corollary 3.5, finite form", "NMSE over the smaller one of the best linear predictor and of the best "
           "of the panel, chosen on validation data", low=0.0, high=0.6, possible=POSITIVE, id="corollary-3.5",
           baselines="panel_over_linear", premises=LONG, changed="Against the whole panel of baselines since "
           "2026-11-26, band kept, before the panel had run.", paper_says="“obtained by contrastive learning "
           "perform well in all the downstream tasks defined in Definition 3.1”")  # fmt: skip
    def corollary_3_5(self):
        """A linear probe on the masked, thresholded network beats every linear predictor and kernel.

        Four tenths less is a clear gap.
        """
        linear, panel = self.of_model("linear-exact"), per_replicate(self.panel, best=True)
        return self.of_model("masked") / np.minimum(linear, panel)

    @claim("Sections 3 and 4, the message", "NMSE without minus with RandomMask, thresholds raised in both, the "
           "smaller of two: by the schedule; without decay and with kb = 0", low=0.04, high=1.0, premises=LONG,
           changed=f"Merged with mask-own-effect-kept {KEPT}", paper_says="“the augmentation should be able to "
           "making the dense signals completely different between the positive samples”")  # fmt: skip
    def mask_own_effect(self):
        """RandomMask lowers the error of the probe where thresholds are raised, also where hardly any neuron dies.

        More than sampling error. The baseline is the strongest one, the same training without the mask. With the
        schedule most of its neurons die.
        """
        return np.minimum(*(self.of_model(f"unmasked{how}") - self.of_model(f"masked{how}")
                            for how in ("", "-kept")))  # fmt: skip

    def by_schedule(self):
        """The same where neurons die, which footnote 3 excludes."""
        return {"by the schedule": self.nmse_over_linear("unmasked")}

    @claim("Corollary 3.3 with footnote 3, finite form", "NMSE over that of the best linear predictor, no mask, "
           "thresholds raised, without decay and with kb = 0", low=0.97, high=5.0, possible=POSITIVE,
           id="corollary-3.3", premises=(*LONG, "trained"), baselines="by_schedule",
           changed="Only-both (share of the gain over linear prediction) and corollary-3.3-accuracy were merged "
           "into it. From 2026-11-26 to 2026-11-27 the smaller of this, which it was, and of the baseline was judged, "
           "after both had been seen. That the loss is small is a premise since 2026-11-27.", paper_says="“no matter how many labeled data we have "
           "for downstream linear evaluation”")  # fmt: skip
    def corollary_3_3(self):
        """The probe without augmentation is no better than a linear predictor, though thresholds are raised and hardly
        any neuron dies.

        With thresholds at zero this is algebra. Three in a hundred are allowed for the probe.
        """
        return self.nmse_over_linear("unmasked-kept")

    @claim("Corollary 3.3, Pr[correct] = o(1), a misprint", "accuracy, no mask, thresholds at zero", low=0.0,
           high=0.5, possible=SHARE, out_of_reach=None, premises=(), id="corollary-3.3-as-printed",
           paper_says=r"“$\Pr_{x \sim \mathcal{D}_x} [y = \text{sign}(\langle w^*, f_t^{\text{NA}}(x) \rangle)] = "
           r"o(1)$”", failure="misprint")  # fmt: skip
    def corollary_3_3_as_printed(self):
        """The accuracy without augmentation vanishes (as printed).

        A binary classifier below 1/2 is a better one with its sign turned, so this is a misprint of no consequence,
        and no failure of the theory; a failure is expected.
        """
        return self.of_model("unmasked-zero", "accuracy")

    @claim("Theorem 3.2 with footnote 3", "share of singletons at the end, no mask, thresholds raised", low=0.0,
           high=0.01, possible=SHARE, premises=(*LONG, "trained"), paper_says="“fail to emphasize sparse features”",
           changed="Length and loss are premises since 2026-11-27.")  # fmt: skip
    def no_augmentation_no_singletons(self):
        """No neuron learns an atom without augmentation, though thresholds are raised.

        None, read as one in a hundred. With thresholds at zero there could be none whatever the mask.
        """
        return self.at("singletons", arm="unmasked")
