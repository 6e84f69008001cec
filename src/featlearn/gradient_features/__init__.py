"""Gradient features: what the first step of training finds

Chapter 3 of the thesis (Shi, Wei & Liang) explains in one framework why two-layer ReLU networks learn
where fixed features do not: the first gradient step turns a share of the neurons into directions that
the law of the data fixes, and small steps then combine them.
"""
