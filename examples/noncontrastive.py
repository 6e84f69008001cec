"""Collapse is optimal: without a prediction head two neurons that are alike reach the least loss.

The flow of the population gradient, exact at dimension 100, ends at the closed form OPT.
"""

import torch

from featlearn.noncontrastive.data import PatchData
from featlearn.noncontrastive.flow import canonical_start, trajectory
from featlearn.noncontrastive.population import Law, loss, optimum

# data: a strong and a weak feature, one a sample, on 8 of 32 patches; the rest is noise
spec = PatchData(dimension=100, patches=32, feature_patches=8, strengths=(2.0, 1.0))
law = Law.of(spec)
start = canonical_start(spec.dimension)  # nine numbers describe two neurons and a head

# training: time is rate times steps
times = torch.logspace(0, 5, 4, dtype=torch.float64)
batch = type(start)(start.b[None], start.g[None], start.e[None])
for head in (True, False):
    path = trajectory(batch, law, torch.ones(1).double(), times, head=head).states
    b = path.b[0, -1].abs()
    print(
        f"{'with' if head else 'without'} a head: neuron and feature (rows: neurons)\n{b.numpy()}"
    )

end = type(start)(path.b[0, -1], path.g[0, -1], path.e[0, -1])
measured, predicted = loss(end, law).item(), optimum(law, 2).item()
print(f"loss of the collapsed network: {measured:.5f}, closed form {predicted:.5f}")
