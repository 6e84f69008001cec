"""Chapter 2: the first gradient step turns every neuron towards the patterns that decide the label.

With infinitely many samples the cosine with their sum is 1.
"""

from featlearn.core.seeds import Streams
from featlearn.emergence.data import Law, World, sample
from featlearn.emergence.model import cosines, medians, symmetric_start, with_one
from featlearn.emergence.train import Schedule, class_weights, start_stds, two_steps

PAIRS, SAMPLES = 100, 10_000

# data: 50 patterns; the label is the parity of five, which agree in half of the inputs
streams = Streams(0, "examples", "emergence", range(2))
law = Law(kind="parity", patterns=50, relevant=5)
world = World.draw(law, streams("world"))
drawn = sample(world, SAMPLES, streams("samples"))
x, y = with_one(drawn.phi), drawn.y  # (2, 10000, 51), (2, 10000)

# training: one full-batch step on the hinge loss that forgets the start, and a second one
start = symmetric_start(PAIRS, law.patterns, start_stds(law), streams("start"))
steps = two_steps(start, x, y, class_weights(law, y), Schedule.of(law, PAIRS, "theory"))

for name, network in zip(("start", "step 1", "step 2"), (start, *steps), strict=True):
    found = medians(cosines(network, world.direction(), 0 * network.a).abs())
    print(f"{name}: median cosine with the relevant patterns {found.mean():.3f}")
measured, predicted = found.mean().item(), 1.0
