"""Counted operations and memory by phase, beside the numbers of Theorem 9.3 and the figures."""

from __future__ import annotations

import numpy as np
import pandas as pd
from matplotlib.figure import Figure

from featlearn.core.drawing.plots import COLOURS, canvas
from featlearn.core.evidence.claim_methods import Claims, claim
from featlearn.core.evidence.claims import POSITIVE, THEOREM, needs
from featlearn.core.evidence.frames import pick
from featlearn.core.run.exhibits import figure
from featlearn.gemfilter.words import ARMS, MODELS

LOOKS = {"full": ("ink", "o", "-"), "snapkv": ("blue", "s", "--"), "gemfilter": ("red", "^", "-")}


@figure("fig-9-3", label="9.3")
@figure("fig-9-6", label="9.6")
def costs(costs: pd.DataFrame, label: str) -> Figure:
    """Figure {{ label }}: what does GemFilter save, in operations and memory?

    *What to see,* at the longest prompt: {{ said("gemfilter/memory-prompt", holds="reading takes 30 % less memory than
    SnapKV, ratio", fails="reading does not take 30 % less memory than SnapKV, ratio") }}; {{
    said("gemfilter/memory-bottleneck-as-printed", holds="reading takes most of GemFilter's memory, over the rest",
    fails="reading takes less of GemFilter's memory than the answer, over it") }}; {{
    said("gemfilter/speed-phi-as-printed", holds="Phi 3.5 Mini comes to the printed 2.4 times", fails="Phi 3.5 Mini does
    not come to the printed 2.4 times") }}. Operations of the prompt; peak memory in prompt and generation.

    ---

    Counted at 16 bits, both runs of GemFilter; memory of weights, keys and values, in the prompt up to layer $r$.
    """
    names = list(dict.fromkeys(costs["model"]))
    shown = names[:1] if label == "9.3" else names[1:] or names
    drawn = canvas(8.4, 2.9 * len(shown) + 0.2)
    grid = drawn.subplots(len(shown), 3, squeeze=False)
    for row, name in zip(grid, shown, strict=True):
        own = pick(costs, model=name)
        for arm, (colour, marker, dash) in LOOKS.items():
            seen = pick(own, arm=arm)
            prompt = seen[seen["phase"] != "generation"].groupby("n")["flops"].sum()
            style = {"color": COLOURS[colour], "marker": marker, "linestyle": dash,
                     "label": ARMS[arm], "markersize": 5}  # fmt: skip
            row[0].plot(prompt.index, prompt / 1e15, **style)
            for ax, phase in zip(row[1:], ("prompt", "generation"), strict=True):
                part = pick(seen, phase=phase).set_index("n")
                ax.plot(part.index, (part["weights"] + part["cache"]) / 1e9, **style)
        row[0].set(title=f"{MODELS.get(name, name)}\nprompt, operations", yscale="log",
                   ylabel="10¹⁵ operations")  # fmt: skip
        row[1].set(title="\nprompt, memory", ylabel="GB")
        row[2].set(title="\ngeneration, memory")
        lengths = sorted(own["n"].unique())
        for ax in row:
            ax.set(xscale="log", xlabel="tokens n")
            ax.set_xticks(lengths, [f"{n // 1024}K" for n in lengths])
            ax.minorticks_off()
        for ax in row[1:]:
            ax.set_ylim(bottom=0)
    grid[0, 1].legend()
    return drawn


class Costs(Claims):
    """At the longest prompt."""

    paper, kind, possible, statistic = "gemfilter", THEOREM, POSITIVE, "exact"
    out_of_reach = needs(costs__lengths=131072)

    def peaks(self, columns, **where):
        """Weights, keys and values together: a row for each model."""
        own = pick(self.costs, n=self.costs["n"].max(), **where)
        peak = own.assign(peak=own["weights"] + own["cache"])
        return peak.pivot_table(index="model", columns=columns, values="peak")

    @claim("section 9.3.2", "GemFilter's peak in the prompt over that after it, largest of the models", low=1,
           paper_says="“for other methods, the memory bottleneck arises during prompt computation due to the reduced "
           "KV cache”", failure="one word too strong",
           changed="In place of memory-over-both-phases-as-printed, which judged our reading of another sentence; "
           "its run was known.")  # fmt: skip
    def memory_bottleneck_as_printed(self):
        """GemFilter needs most memory while it reads the prompt.

        1: as much. Expected to fail: the first run needs some layers' weights alone, the second all.
        """
        peak = self.peaks("phase", arm="gemfilter")
        return (peak["prompt"] / peak[["second prompt", "generation"]].max(axis=1)).max()

    @claim("Theorem 9.3, section 9.3", "GemFilter's peak in the prompt over SnapKV's, largest", low=0,
           high=0.7,
           paper_says="“reduces GPU memory usage by 30% compared to SnapKV”")  # fmt: skip
    def memory_prompt(self):
        """Without the layers beyond $r$ resident, GemFilter reads a prompt with 30 % less memory than SnapKV.

        30 % less; .42 to .64 by the formulas.
        """
        peak = self.peaks("arm", phase="prompt")
        return (peak["gemfilter"] / peak["snapkv"]).max()


class Phi(Claims):
    """Claims on Phi 3.5 Mini, where the config has it."""

    paper, kind, possible, statistic = "gemfilter", THEOREM, POSITIVE, "exact"
    out_of_reach = Costs.out_of_reach

    @classmethod
    def made(cls, config):
        models = config["language"]["models"] or config["costs"]["models"]
        return [cls(config)] if "phi-3.5-mini" in models else []

    @claim("Figure 9.6", "operations of the prompt, full over GemFilter", low=2.2, high=2.6,
           paper_says=r"“It achieves a $2.4\times$ speedup and reduces GPU memory usage by 30% compared "
           "to SnapKV.”", failure="printed number")  # fmt: skip
    def speed_phi_as_printed(self):
        """By counted operations GemFilter is 2.4 times as fast on Phi 3.5 Mini, with $r = 19$ of 32 layers.

        2.4 and its rounding. Expected to fail, as far as operations are time: Theorem 9.3 has $m/r = 1.68$.
        """
        own = pick(self.costs, model="phi-3.5-mini", n=self.costs["n"].max(),
                   phase=("prompt", "second prompt"))  # fmt: skip
        flops = own.groupby("arm")["flops"].sum()
        return np.array([flops["full"] / flops["gemfilter"]])
