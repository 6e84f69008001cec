"""The prediction head: why non-contrastive learning does not collapse

Non-contrastive methods (SimSiam, BYOL) pull two views of an image together and push nothing apart. A network that
gives every image the same few outputs would be optimal, yet training does not find it if one branch has a *prediction
head*. Wen & Li ask why, in a model small enough to solve: data with a strong and a weak feature, two cubic neurons,
batch normalisation, StopGrad, and a linear head that starts at the identity.

Without the head each neuron goes its own way, mostly to the strong feature. {{
said("noncontrastive/starts-head-diverse", holds="With it most random starts end with both features", fails="With it too
few random starts end with both features") }}; {{ said("noncontrastive/starts-large-dimension", holds="at a dimension of
10,000 there are more", fails="at a dimension of 10,000 there are no more") }}. In between there are
four phases: the faster neuron takes the strong feature; the head *substitutes* it for the strong part of the slower
neuron's output; normalisation then leaves the slower neuron nothing to gain there and *accelerates* the weak feature;
at last the head goes back to the identity. The first phase is as long as a closed form predicts, and all four lengths
grow with the dimension by powers near the printed ones. Without StopGrad or normalisation the second neuron collapses
onto the strong feature although the head is there.

The loss does not show collapse: the collapsed network reaches the same optimum.

On images a small network learns from two views of digits of 8 × 8 pixels. The effective rank of its projection falls
from {{ value("image-heads", data_set="digits", run="untrained", what="projection effective_rank") | number }} at the
random start to {{ value("image-heads", data_set="digits", run="none-batch-self", what="projection effective_rank") |
number }} without a head, {{ value("image-heads", data_set="digits", run="identity-batch-self", what="projection effective_rank") | number }} with the identity-initialised one and {{ value("image-heads", data_set="digits",
run="mlp-batch-self", what="projection effective_rank") | number }} with an MLP: a head slows the collapse, and does
not prevent it. No claim is made of accuracies, as a linear classifier on the pixels reads nearly all of these digits.
"""
