"""Ours: what is learned through the loops, held against closed forms that bound it.

Bands come from these closed forms and not from a training. In units of 1 / n, with theta* uniform,
steps that all prompts share are a polynomial whose optimum is known; and a layer that attends by
labels alone and updates its own (Q = diag(0, 1), P = I) leaves prod(1 - eta |y|^2) of the
prediction, whose optimum over T steps and Gaussian prompts is 1 / binomial(T + n / 2, T).
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from functools import partial
from typing import Any

import numpy as np
import pandas as pd

from featlearn.core.claims import OBSERVATION, POSITIVE, Claim, needs


def _log_ratio(
    frames: Mapping[str, pd.DataFrame], first: str, second: str, loss: str, of: str
) -> np.ndarray:
    """log10 of the ratio of two methods' errors; ``of`` the numbers of examples, a replicate."""
    own = frames["errors"][frames["errors"]["loss"] == loss]
    above, below = (
        own[own["method"] == name].pivot_table(
            index="replicate", columns="examples", values="value"
        )
        for name in (first, second)
    )
    return (above / below).map(np.log10).agg(of, axis=1).to_numpy()


def claims(config: Mapping[str, Any]) -> tuple[Claim, ...]:
    """At the sizes of the config; bands do not depend on it."""
    claim = partial(
        Claim,
        kind=OBSERVATION,
        source="ours",
        artefact="looped/measurements/learned/errors.parquet",
        out_of_reach=needs(
            learned__replicates=5, learned__iterations=100, learned__loops=3,
            learned__prompts__train=6000, learned__prompts__test=4000,
        ),
    )  # fmt: skip
    return (
        claim("looped/learned-steps", possible=POSITIVE,
              statement="Steps learned through the loops, Q and P as constructed, are the best "
              "that all prompts can share.", quantity="held-out squared error of theta over that "
              "of the optimal polynomial, mean over the numbers of examples, geometric",
              low=0.97, high=1.1, reason="The optimum of the law cannot be beaten but by the "
              "scatter of test prompts, common to both; a tenth for the training's own.",
              measure=lambda frames: 10 ** _log_ratio(
                  frames, "steps", "best shared steps", "parameter", "mean")),
        claim("looped/learned-steps-against-own",
              statement="Steps learned through the loops, which read no prompt, leave less error "
              "than the theorem's 1 / L, which does.", quantity="log10 of the ratio of squared "
              "errors of theta, largest over the numbers of examples", low=-math.inf, high=0.0,
              reason="Below 0 is less. Steps of different lengths are what Chebyshev gains by.",
              measure=partial(_log_ratio, first="steps", second="1 / L", loss="parameter",
                              of="max")),
        claim("looped/learned-task",
              statement="Trained on the task as printed, Q and P leave gradient descent for what "
              "answers it better than any shared steps of gradient descent.",
              quantity="log10 of the ratio of squared errors of the prediction, learned over "
              "best shared steps, largest over the numbers of examples", low=-math.inf, high=-0.2,
              reason="Three loops that attend by labels alone leave 1 / binomial(11, 3) = .0061 "
              "at n = 16, the best shared steps .0135, which is -.35; training on finitely many "
              "prompts may cost some of it. Of two runs of five replicates one was undecided, "
              "-.27 +- .13: fifteen, fresh streams.",
              measure=partial(_log_ratio, first="all, as printed", second="best shared steps",
                              loss="prediction", of="max"),
              changed="Three loops and bands from closed forms, after pilots of five loops, which "
              "fit rare prompts. Fifteen replicates in place of five and fresh streams, after one "
              "of two seeds was undecided; band kept."),
        claim("looped/learned-task-not-theta",
              statement="Weights learned on the task as printed give no estimate of theta*.",
              quantity="log10 of the ratio of squared errors of theta, trained on the task over "
              "trained on theta*, least over the numbers of examples", low=0.5, high=math.inf,
              reason="Three times. X^T y / |y|^2 is off by .21 at n = 16, where three best shared "
              "steps leave .031.",
              measure=partial(_log_ratio, first="all, as printed", second="all",
                              loss="parameter", of="min"),
              changed="Three loops and bands from closed forms, after pilots of five loops, which "
              "fit rare prompts."),
    )  # fmt: skip
