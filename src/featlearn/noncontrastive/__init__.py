"""The prediction head: why non-contrastive learning does not collapse

Non-contrastive methods (SimSiam, BYOL) pull two views of an image together and push nothing apart. A
network that gives every image the same few outputs would do perfectly, and yet it is not what
training finds, if one branch has a *prediction head*. Wen & Li ask why, in a model small enough to
solve: data with a strong and a weak feature, two cubic neurons, batch normalisation, StopGrad, and a
linear head that starts at the identity.

Without the head each neuron goes its own way, and nearly all of them to the strong feature: of
random starts {{ value("outcomes", case="base", mode="frozen", outcome="diverse") | percent }} end with
both features. With the head it is
{{ value("outcomes", case="base", mode="head", outcome="diverse") | percent }}. What happens in between has
four phases: the faster neuron takes the strong feature; the head *substitutes* it for the strong
part of the slower neuron's output; normalisation then leaves the slower neuron nothing to gain there
and *accelerates* the weak feature; at last the head goes back to the identity. Each phase has a
length that a closed form predicts, over four orders of magnitude of the dimension. Take away StopGrad
or normalisation, and the second neuron collapses onto the strong feature although the head is there.

The loss does not tell: the collapsed network reaches the same optimum.

On images the same question is asked of a network that learns from two views: part-composed pictures,
whose background both views share, stand in for photographs. Without a head the neurons of the
projection correlate at
{{ value("image-heads", data_set="parts", run="none-batch-self", what="projection correlation") | number }} on average, with the
identity-initialised head at
{{ value("image-heads", data_set="parts", run="identity-batch-self", what="projection correlation") | number }}. A linear probe of the
encoder reads
{{ value("image-heads", data_set="parts", run="none-batch-self", what="accuracy") | percent }} of the classes without a head,
{{ value("image-heads", data_set="parts", run="identity-batch-self", what="accuracy") | percent }} with it and
{{ value("image-heads", data_set="parts", run="mlp-batch-self", what="accuracy") | percent }} with an MLP as head; the untrained encoder
gives {{ value("image-heads", data_set="parts", run="untrained", what="accuracy") | percent }}.
"""
