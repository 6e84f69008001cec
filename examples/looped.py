"""Theorem 8.14: a loop of this transformer is a step of gradient descent on its prompt.

Its error follows from the spectrum of the prompt, in closed form; the printed bound is looser.
"""

import torch

from featlearn.core.seeds import Streams
from featlearn.looped.closed_forms import log_error
from featlearn.looped.data import draw, spectrum
from featlearn.looped.model import construction, loops, output

EXAMPLES, DIMENSION, LOOPS = 16, 4, 30

# data: 100 prompts of 16 noiseless linear examples and a query alpha
prompts = draw(EXAMPLES, DIMENSION, Streams(0, "examples", "looped", range(100))("prompts"))
seen = spectrum(prompts)

# the weights are constructed, so nothing is trained; the step is the prompt's 1 / L
step = 1 / seen.smoothness
*_, z = loops(prompts.tokens, construction(EXAMPLES, DIMENSION), [step] * LOOPS)

theta = output(z) / prompts.alpha[:, None]
measured = (theta - prompts.theta).square().sum(-1).log().mean().item()
predicted = log_error(seen, step, torch.tensor([float(LOOPS)])).mean().item()
bound = -LOOPS * (seen.convexity / seen.smoothness).mean().item()
print(f"mean log of the squared error after {LOOPS} loops: {measured:.4f},")
print(f"closed form {predicted:.4f}, bound of Theorem 8.25 {bound:.4f}")
