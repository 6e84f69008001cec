"""Chapter 3: the first step turns neurons into G(w, b) = E[y x 1[w·x > b]].

On the XOR of four Gaussians the closed form says which neurons end in a cone around a centre.
"""

from featlearn.core.seeds import Streams
from featlearn.gradient_features.cones import alignment
from featlearn.gradient_features.data import Xor
from featlearn.gradient_features.model import symmetric_start

NEURONS, SAMPLES, THRESHOLD, COSINE = 50, 100_000, 1.5, 0.9

# data: labels +1 at two opposite centres, -1 at the two others, in 10 dimensions
streams = Streams(0, "examples", "gradient_features", range(1))
law = Xor(dimension=10)
x, y = law.sample(SAMPLES, streams("samples"))[:2]  # (1, 100000, 10), (1, 100000)

# training: the gradient of the first step at a start whose output is zero, output weight aside
network = symmetric_start(streams("start"), NEURONS, law.dimension, THRESHOLD * law.signal_std)
w, b = network.w[0], network.b[0]  # (200, 10), (200,)
step = (y[0] * (w @ x[0].T > b[:, None])) @ x[0] / SAMPLES


def share(vectors):
    return float((alignment(law, vectors) >= COSINE).float().mean())


measured, predicted = share(step), share(law.gradient(w, b))
print(f"share of neurons within a cosine of {COSINE} of a centre: {share(w):.3f} before the step,")
print(f"{measured:.3f} after it, {predicted:.3f} by the closed form")
