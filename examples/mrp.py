"""Theorem 1 of mask reconstruction: MAE training without labels captures every feature.

Beside it, the share that training on labels captures from the same kernels (Lemma 1: not all).
"""

from featlearn.core.seeds import Streams
from featlearn.mrp.data import MultiView, orthonormal_features, sample
from featlearn.mrp.kernels import capture
from featlearn.mrp.model import Activation, initial_kernels
from featlearn.mrp.train import pretrain

# data: three replicates on one tensor axis; a class has two features, a sample eight patches
streams = Streams(0, "examples", "mrp", range(3))
spec = MultiView(classes=4, dimension=20, patches=8, sparsity=1, q=4)
features = orthonormal_features(spec, streams("features")).float()  # (3, 4, 2, 20)
data = sample(spec, features, 80, streams("train-data"))  # data.x: (3, 80, 8, 20)

# training: full-batch descent on the exact expectation over masks that keep half of the patches
kernels = initial_kernels(24, spec.dimension, 0.05, streams("initial-kernels"))  # (3, 24, 20)
activation = Activation(q=4, varrho=0.3)
done = pretrain(data.x, features, kernels, activation, theta=0.5, learning_rate=0.5, max_steps=800)

measured = capture(done.w, features, activation).captured().float().mean().item()
predicted = 1.0
before = capture(kernels, features, activation).captured().float().mean().item()
print(f"share of the features captured: {before:.2f} at the start, {measured:.2f} at the end")
print(f"Theorem 1: {predicted:.2f}; the last capture, by replicate: {done.hit.flatten(1).amax(1)}")
