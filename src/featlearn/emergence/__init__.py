"""Emergence: features come from the structure of the inputs

Chapter 2 of Shi's thesis asks what gradient descent on a two-layer network has that fixed features lack. Inputs are
sums of hidden patterns, a few of which decide the label. The first gradient steps turn every neuron towards the sum of
those few, as far as they correlate with the label; a classifier on such neurons is then easy. No features fixed before
the data can do so for all choices of the few, and without the correlation, the structure of the inputs, nothing can.

On parity labels the network reaches a test accuracy of {{ value("table-a-1", arm="network", quantity="test") |
percent }}, its Taylor model at the start {{ value("table-a-1", arm="ntk", quantity="test") | percent }}, a converged
head on its random features {{ value("table-a-1", arm="rf", quantity="test") | percent }} and one on the raw input {{
value("table-a-1", arm="linear", quantity="test") | percent }}; the best threshold on the number of relevant patterns
has {{ value("table-a-1", arm="threshold", quantity="test") | percent }}. With inputs of fair bits the network is left
with {{ value("table-a-1", arm="flat", quantity="test") | percent }}.

On pictures the start, the rate and the size of the pictures decide how far neurons turn. On small zeros and ones in
place of MNIST, from the usual random start and at the rate of this run, of {{ value("neuron-directions",
pictures="mnist", which="largest start", moment="start", quantity="directions") | number }} directions {{
value("neuron-directions", pictures="mnist", which="largest start", moment="end", quantity="directions") | number }}
are left, and from a far smaller start {{ value("neuron-directions", pictures="mnist", which="smallest start",
moment="end", quantity="directions") | number }}; two opposite groups would be one. A student that learns a teacher's
labels of digits and of Gaussian inputs agrees with it on {{ value("student-accuracies", pictures="mnist",
mixture="gaussian", arm="mixture", part="original") | percent }} of new digits and on {{ value("student-accuracies",
pictures="mnist", mixture="gaussian", arm="mixture", part="injected") | percent }} of new Gaussian inputs, where the
most frequent label agrees on {{ value("student-accuracies", pictures="mnist", mixture="gaussian", arm="majority",
part="injected") | percent }}. A linear classifier, which learns no features, has such a gap as well.
"""
