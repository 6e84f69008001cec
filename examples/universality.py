"""Proposition F.9: how far fine-tuning near a universal representation brings private features.

Pre-training on T tasks leaves the target's private features the weight 1 / T.
"""

import numpy as np

from featlearn.universality.closed_forms import predicted as closed_form
from featlearn.universality.closed_forms import regularised

FEATURES, TASKS = 2, 4  # shared features, and as many private ones of each task

for radius in (0.0, 0.2, 0.4):
    # data: latent samples of the target; training: projected descent within this distance
    weights = regularised(FEATURES, TASKS, radius, np.random.default_rng(0))
    measured = float(weights[FEATURES : 2 * FEATURES].mean())
    predicted = closed_form(FEATURES, TASKS, radius)
    others = float(weights[2 * FEATURES :].mean())
    print(
        f"radius {radius}: weight of private features {measured:.3f}, closed form {predicted:.3f};"
    )
    print(f"    of other tasks' features {others:.3f}, unchanged")
