"""Mask-reconstruction pre-training: why it helps

A class often has more than one feature: a car has wheels and a window. Most images (*multi-view*) show both features
of their class, some (*single-view*) only one. A network trained on labels stops looking once it can tell the classes
apart, and one feature is enough for that. Pan, Zhou & Yan argue that pre-training by mask reconstruction has no such
reason to stop: it must rebuild every feature, so it keeps them all, and fine-tuning inherits them.

Here this happens in the paper's model, at a finite size, under feature noise in many patches. The noise drowns a
linear classifier on the sum of the patches. The supervised network captures {{ value("headline", "mean",
model="supervised", quantity="captured") | percent }} of the features; it is right on {{ value("headline", "mean",
model="supervised", quantity="accuracy_multi_view") | percent }} of the multi-view images but only on {{
value("headline", "mean", model="supervised", quantity="accuracy_single_view") | percent }} of the single-view ones.
After mask-reconstruction pre-training {{ value("headline", "mean", model="pretrained", quantity="captured") | percent
}} are captured, and a new head is right on {{ value("headline", "mean", model="pretrained",
quantity="accuracy_single_view") | percent }} of the single-view images.

This is a lead over supervised training of the same kernels, also under the same masks ({{ value("headline", "mean",
model="supervised_masked_head", quantity="accuracy_single_view") | percent }}, new head). The data need no learned
features: a head on the second moments of the patches is right on {{ value("headline", "mean", model="moments",
quantity="accuracy_single_view") | percent }}, and with hardly any noise, where the steps of the proofs are checked, a
linear classifier is enough. The paper's limit, an error of one half, is out of reach at this number of classes.
"""
