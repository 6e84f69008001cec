r"""Looped transformers: gradient descent in context

Chapter 8 of the thesis (Chen, Li, Liang, Shi & Song) writes down the weights of a layer of linear attention which,
looped, does a step of gradient descent on the examples of its prompt with each loop. Run as a transformer, it does:
Figure 8.1, which the thesis made with plain gradient descent, is made here with the transformer itself. The bounds
hold; {{ said("looped/tight-as-printed", holds="they are tight", fails="they are loose") }}, by the slope of the error
over theirs. In logarithms the gap to the bound widens with more examples, where the thesis says that it narrows; it
narrows where the error of a run in float64 ends at its rounding.

The task that the chapter defines is easier than it says: after one loop with step $1/|y|^2$ it is solved exactly,
from one example on, by an output that is no estimate of $\theta^*$. The chapter bounds the estimate. Our addition:
weights and steps learned through the loops. Learned steps are the best that all prompts can share; trained on the
task as printed, the layer leaves gradient descent for attention by labels.
"""
