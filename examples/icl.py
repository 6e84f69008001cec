"""Theorem 5.4.1: linear attention of rank r learns the r leading directions, and no more."""

import torch

from featlearn.core.seeds import Streams
from featlearn.icl.linear import reduced
from featlearn.icl.regression import draw, eigenvalues, least_loss, loss, rotation

DIMENSION, RANK, EXAMPLES, STEPS = 6, 2, 20, 600

# data: prompts of 20 examples of a random linear map, inputs with falling variances
streams = Streams(0, "examples", "icl", range(1))
values, basis = eigenvalues(DIMENSION, 2.0, 0.7), rotation(DIMENSION, streams("basis")[0])
prompts = streams("prompts")

# training: Adam on fresh prompts, of a product A = K Q^T of rank two
start = 0.3 * torch.randn(2, DIMENSION, RANK, generator=streams("start")[0])
keys, queries = weights = [one.double().requires_grad_() for one in start]
optimiser = torch.optim.Adam(weights, lr=0.02)
schedule = torch.optim.lr_scheduler.CosineAnnealingLR(optimiser, STEPS)
for _ in range(STEPS):
    batch = draw(values, basis, 256, EXAMPLES, prompts)
    error = (reduced(batch, keys @ queries.T) - batch.target).square().mean() / 2
    optimiser.zero_grad()
    error.backward()
    optimiser.step()
    schedule.step()

measured = loss((keys @ queries.T).detach(), (basis * values) @ basis.T, EXAMPLES).item()
predicted = least_loss(values, RANK, EXAMPLES).item()
print(f"population loss at rank {RANK}: {measured:.4f}, least loss in closed form {predicted:.4f}")
