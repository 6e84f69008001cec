"""Stage I of contrastive learning (Induction Hypothesis C.4): weights grow along the atoms alone.

The closed form gives their growth; random masks keep the noise from growing.
"""

import math

import torch

from featlearn.contrastive.closed_forms import stage_one_rates
from featlearn.contrastive.data import SparseCoding, draw_dictionary, positives, sample
from featlearn.contrastive.model import Batch, initial_weights, weight_descent
from featlearn.core.seeds import Streams

STEPS, RATE, NEGATIVES = 60, 1.0, 64

# data: sparse codes of 16 atoms in 256 dimensions, plus dense noise
streams = Streams(0, "examples", "contrastive", range(1))
spec = SparseCoding(atoms=16, dimension=256)
atoms = draw_dictionary(spec, streams("dictionary")).atoms.float()  # (1, 256, 16)
w = initial_weights(64, spec.dimension, 1e-3, streams("weights"))  # (1, 64, 256)
b = torch.zeros(1, 64)  # no thresholds in stage I
start = w @ atoms

# training: two views of each anchor see complementary halves of its coordinates
draws, masks = streams("samples"), streams("masks")
for _ in range(STEPS):
    first, second = positives(sample(spec, atoms, 512, draws).x, masks, "complementary")
    batch = Batch(first, second, sample(spec, atoms, NEGATIVES, draws).x)
    w += RATE * weight_descent(batch, w, b, tau=1.0)

measured = ((w @ atoms * start).sum() / start.square().sum()).log().item()
along, across = stage_one_rates(spec, "complementary", NEGATIVES, decay=0.0)
predicted = STEPS * math.log1p(RATE * along)
print(f"log growth along the atoms: {measured:.3f}, closed form {predicted:.3f}")
