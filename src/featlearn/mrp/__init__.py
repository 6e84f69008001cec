"""Mask-reconstruction pre-training: why it helps

A class can often be told by more than one feature: a car by its wheels or by its window. Data are
*multi-view*: most images show both features of their class, some (*single-view*) only one. A network
trained on labels stops looking once it can tell the classes apart, and one feature is enough for
that. Pan, Zhou & Yan argue that pre-training by mask reconstruction has no such reason to stop:
it must rebuild every feature, so it keeps them all, and fine-tuning inherits them.

Here this happens in the paper's own model, at a finite size, on data that need features: feature
noise in many patches drowns a linear classifier, which is right on
{{ value("headline", "mean", model="raw_linear", quantity="accuracy_single_view") | percent }} of the single-view images.
The supervised network captures
{{ value("headline", "mean", model="supervised", quantity="captured") | percent }} of the features; it is right on
{{ value("headline", "mean", model="supervised", quantity="accuracy_multi_view") | percent }} of the multi-view images but only on
{{ value("headline", "mean", model="supervised", quantity="accuracy_single_view") | percent }} of the single-view ones, and on
{{ value("headline", "mean", model="supervised_head", quantity="accuracy_single_view") | percent }} with a new head, trained to
its optimum. The same head on random kernels reaches
{{ value("headline", "mean", model="random", quantity="accuracy_single_view") | percent }}. After mask-reconstruction
pre-training {{ value("headline", "mean", model="pretrained", quantity="captured") | percent }} of the features are captured, and
the head is right on {{ value("headline", "mean", model="pretrained", quantity="accuracy_single_view") | percent }} of the
single-view images. With hardly any noise a linear classifier does as well: such data, at which the steps
of the proofs are checked here, do not show what features are good for. The paper's limit, an error of one
half, is not reached at this number of classes; the ledger says so.
"""
