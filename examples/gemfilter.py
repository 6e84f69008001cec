"""Theorem 9.3: GemFilter reads a long prompt with r of m layers, so about m / r times as fast.

A hand-wired network shows that an early layer can find the needle; the operations are counted.
"""

from featlearn.core.seeds import Streams
from featlearn.gemfilter.experiments.costs import counted
from featlearn.gemfilter.generation import answer
from featlearn.gemfilter.needles import Vocabulary, draw
from featlearn.gemfilter.selection import Method
from featlearn.gemfilter.wired import Wired

# data: eight prompts of 1,000 tokens with a needle in the middle; the weights are wired by hand
streams = Streams(0, "examples", "gemfilter", range(8))
vocabulary = Vocabulary(keys=16, values=32, fillers=64)
prompts = draw(vocabulary, 1000, 0.5, streams("prompts"))
network = Wired(vocabulary.size, (0, "examples", "gemfilter"))
for layer in range(6):
    said = answer(network, prompts.tokens, Method("gemfilter", 64, layer), prompts.answer.shape[1])
    right = (said.tokens == prompts.answer).float().mean()
    print(f"{right:.2f} of the answers with 64 of 1,000 tokens, chosen by layer {layer}")

# costs: of a prompt of 128,000 tokens at the sizes of Phi 3.5 Mini, without numbers
sizes = {"words": 32064, "width": 3072, "layers": 32, "heads": 32, "key_value_heads": 32}
sizes |= {"head_width": 96, "hidden": 8192}
flops = {}
for kind in ("full", "gemfilter"):
    phases = counted(sizes, Method(kind, 1024, 19), 128_000, 2)
    flops[kind] = sum(one["flops"] for name, one in phases.items() if name != "generation")
measured, predicted = flops["full"] / flops["gemfilter"], 32 / 19
print(f"operations, all layers over GemFilter: {measured:.3f}; m / r = {predicted:.3f}")
