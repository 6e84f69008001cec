"""Theorem 4.9: training on modular addition comes to the maximum margin, in closed form."""

from itertools import repeat

import torch

from featlearn.core.seeds import Streams
from featlearn.fourier.closed_forms import maximum_margin, width
from featlearn.fourier.data import tuples
from featlearn.fourier.network import look, normal_start
from featlearn.fourier.train import Training, train

K, P, STEPS = 2, 7, 1500

# data: all 49 pairs of numbers modulo 7, the same for both replicates
streams = Streams(0, "examples", "fourier", range(2))
inputs = tuples(torch.arange(P**K), K, P).expand(2, -1, -1)  # (2, 49, 2)

# training: cross-entropy plus a small multiple of the norm
start = normal_start(K, P, 2 * width(K, P), 0.1, streams("start"))
training = Training(steps=STEPS, rate=0.01, batch_size="all", schedule="cosine")
strength = torch.full((2,), 1e-3)
network, _ = train(start, repeat(inputs, STEPS), training, strength, 0 * strength, lambda *_: None)

predicted = maximum_margin(K, P)
measured = look(network).margins.least.min().item() * predicted  # over the norm to the power K + 1
print(f"margin of the worst input: {measured:.6f}, maximum in closed form {predicted:.6f}")
