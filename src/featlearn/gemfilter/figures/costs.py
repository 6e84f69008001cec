"""Operations and memory by phase."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pandas as pd

from featlearn.core.plots import COLOURS, canvas
from featlearn.core.publish import figure
from featlearn.gemfilter.words import ARMS, MODELS

if TYPE_CHECKING:
    from matplotlib.figure import Figure

LOOKS = {"full": ("ink", "o", "-"), "snapkv": ("blue", "s", "--"), "gemfilter": ("red", "^", "-")}


@figure("fig-9-3", label="9.3")
@figure("fig-9-6", label="9.6")
def costs(costs: pd.DataFrame, label: str) -> Figure:
    """Figure {{ label }}: operations and memory of the prompt and of generation

    Over the length of the prompt, at the sizes of the thesis' models, or of those that the config names, in 16
    bits: left the floating-point
    operations of the matrix products while the prompt is read, GemFilter's second run included; middle and
    right the peak of weights of layers plus keys and values, in the prompt (of GemFilter with the layers
    beyond r not resident) and in generation. Counted on the code that generates, and not timed: the thesis
    has seconds and gigabytes of a GPU, which hold activations as well. Lines on each other: all keys and
    values and SnapKV in the operations, SnapKV and GemFilter in generation. *What to see,* at the longest
    n, means over all models: {{ said("gemfilter/speed-law", holds="GemFilter's prompt costs about (r + 1) / m of
    the operations; what it saves, over m / (r + 1), is", fails="GemFilter's prompt does not cost (r + 1) / m of the
    operations; what it saves, over m / (r + 1), is") }}; {{ said("gemfilter/memory-prompt", holds="while the prompt
    is read it needs at least 30 % less memory than SnapKV, by a ratio of", fails="while the prompt is read it does not
    need 30 % less memory than SnapKV, with a ratio of") }}; {{ said("gemfilter/memory-over-both-phases-as-printed",
    holds="it needs 30 % less at the peak over both phases, too, which is our reading, by a ratio of", fails="it does
    not need 30 % less at the peak over both phases, which is our reading, since it generates as SnapKV does, with
    a ratio of") }}; {{ said("gemfilter/speed-phi-as-printed", holds="of Phi 3.5 Mini it comes to the 2.4 times that
    Figure 9.6 prints, with a factor of operations of", fails="of Phi 3.5 Mini it does not come to the 2.4 times
    that Figure 9.6 prints, with a factor of operations of") }}.
    """
    names = list(dict.fromkeys(costs["model"]))
    shown = names[:1] if label == "9.3" else names[1:] or names
    drawn = canvas(8.4, 2.9 * len(shown) + 0.2)
    grid = drawn.subplots(len(shown), 3, squeeze=False)
    for row, name in zip(grid, shown, strict=True):
        own = costs[costs["model"] == name]
        for arm, (colour, marker, dash) in LOOKS.items():
            seen = own[own["arm"] == arm]
            prompt = seen[seen["phase"] != "generation"].groupby("n")["flops"].sum()
            style = {"color": COLOURS[colour], "marker": marker, "linestyle": dash,
                     "label": ARMS[arm], "markersize": 5}  # fmt: skip
            row[0].plot(prompt.index, prompt / 1e15, **style)
            for ax, phase in zip(row[1:], ("prompt", "generation"), strict=True):
                part = seen[seen["phase"] == phase].set_index("n")
                ax.plot(part.index, (part["weights"] + part["cache"]) / 1e9, **style)
        row[0].set(title=f"{MODELS.get(name, name)}\nprompt, operations", yscale="log",
                   ylabel="10¹⁵ operations")  # fmt: skip
        row[1].set(title="\nprompt, memory", ylabel="GB")
        row[2].set(title="\ngeneration, memory")
        for ax in row:
            ax.set(xscale="log", xlabel="tokens n")
            ax.set_xticks(
                sorted(own["n"].unique()), [f"{n // 1024}K" for n in sorted(own["n"].unique())]
            )
            ax.minorticks_off()
        for ax in row[1:]:
            ax.set_ylim(bottom=0)
    grid[0, 1].legend()
    return drawn
