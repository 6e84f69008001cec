"""What arms and methods are called in figures and tables, in the order in which they are shown."""

ABLATIONS = {
    "construction": "the construction",
    "query sees itself": "query sees itself",
    "P = I": "P = I",
    "no mask": "no mask",
    "strictly causal": "causal mask, strict",
    "causal": "causal mask",
    "labels unseen": "Q without labels",
}
#: How many of the methods learn nothing, share their steps, read them off the prompt, solve it.
CLASSES = (1, 6, 5, 1)
METHODS = {
    "nothing": "output 0",
    "constant step": "constant step, validated",
    "steps": "steps learned",
    "best shared steps": "best shared steps",
    "all": "Q, P and steps learned",
    "steps, as printed": "steps learned on the task",
    "all, as printed": "Q, P and steps learned on the task",
    "one loop": "one loop, 1 / ‖y‖²",
    "1 / L": "construction, 1 / L",
    "best own step": "2 / (L + μ)",
    "Chebyshev": "Chebyshev",
    "conjugate gradients": "conjugate gradients",
    "least squares": "least squares",
}
