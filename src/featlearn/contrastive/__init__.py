"""Contrastive learning: why augmentation lets features emerge

A sample is a sparse combination of a few atoms, the *signal*, plus dense noise that is larger and belongs to
this sample alone. To tell samples apart the noise is perfect; to say anything about them it is useless.
Wen & Li show that contrastive learning without augmentation learns the noise, and that an augmentation which
makes the noise of two views independent, here a random mask and its complement, leaves only the signal to
be learned. Then neurons grow in the span of the atoms, thresholds rise, and each neuron ends up with
one atom.

The paper proves this and runs no experiment with numbers; here it gets its numbers. With RandomMask and
thresholds a linear probe reaches an error of
{{ value("downstream", model="masked", quantity="nmse") | number }}, where the best linear predictor has
{{ value("downstream", model="linear-exact", quantity="nmse") | number }} and no estimator can have less than
{{ value("downstream", model="bayes-exact", quantity="nmse") | number }}. Mask and thresholds are then taken away
one at a time, all else the same. With the mask but without thresholds the network is linear, and the error is
{{ value("downstream", model="masked-zero", quantity="nmse") | number }}. With thresholds but without the mask it
is {{ value("downstream", model="unmasked", quantity="nmse") | number }} at the end, at ten times the length of the
first two stages, and {{ value("downstream", model="unmasked-kept", quantity="nmse") | number }} where hardly any neuron
dies. Soon after the second stage it is as low as with the mask: that is a transient.

Not all of the paper survives finite sizes. Its schedule of the thresholds kills every neuron, its gradient
has a wrong sign in print, and its bounds on the loss meet a floor that no code of the signal can pass; the
ledger says which.

The paper's figures are on images, where it argues by eye. Here each of them has numbers. A made image is a
glyph, which is its class, on a colour that is its own. Without augmentation, and with crops alone, the colour
is enough to tell images apart. Colour distortion takes that way, and {{
said("contrastive/shapes-fig-2-full-over-crop", holds="a probe for the class gains much accuracy", fails="a probe for the
class gains little accuracy") }}. {{ said("contrastive/shapes-fig-1-shape", holds="Supervised, contrastive and
adversarial training are all ahead of an untrained network", fails="Not all trained networks are ahead of an untrained
one") }}.
"""
