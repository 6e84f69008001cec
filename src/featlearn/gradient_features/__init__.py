"""Gradient features: what the first step of training finds

Chapter 3 of the thesis (Shi, Wei & Liang) explains in one framework why two-layer ReLU networks learn where fixed
features do not. The first gradient step turns a share of the neurons into directions that the law of the data fixes,
its *gradient features*; small steps then combine them. A law has to answer three questions: how many neurons are hit
(p), how well (gamma), and how strongly (B_G). The chapter prints no figure and no experiment; all here is ours.

For six laws the gradient is known in closed form, and a sampled step does what it says. Of linearly separable data {{
value("cones", law="linear", quantity="sampled") | percent }} of the neurons are in a cone after one step, of the XOR
of four Gaussians {{ value("cones", law="xor", quantity="sampled") | percent }}, of uniform parity {{ value("cones",
law="uniform_parity", quantity="sampled") | percent }}. The proofs look only at starts that are sure to be hit, which
are rarer by orders of magnitude.

Two lemmas do not hold as printed. Neurons that are sure of a cluster of the XOR leave the cone of Lemma B.37 as the
dimension grows: {{ said("gradient_features/cones-xor-as-printed", holds="nearly all", fails="not nearly all") }} lie
in it at the largest, by their share. And the label of the structured parity has a linear part, which the proof of
Lemma B.47 takes for zero: with several blocks the partner of a sure neuron, of opposite sign, leaves its cone.
"""
