"""GemFilter: early layers select the tokens of a prompt

Chapter 9 of the thesis (Shi, Ming, Nguyen, Liang & Joty) reads a long prompt with the first layers of a
language model only, keeps the tokens that the last one points at, and lets the whole model answer from
these alone. Without language models at hand, the method runs here on two stand-ins, next to SnapKV, H2O
and a window with sinks: a network of hand-written weights, in which an early layer points at the needle
by construction, and, at desk, small Llamas that learned to find needles. The first shows how the method
works; only the second shows learned weights. Costs are counted on the code that generates, at the sizes
of the thesis' models: operations and bytes, not seconds.
"""
