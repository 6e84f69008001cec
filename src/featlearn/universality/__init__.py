"""Universality against label efficiency: representations learned by contrast

Chapter 7 of the thesis (Shi, Chen, Li, Raghuram, Wu, Liang & Jha) pre-trains by contrast on more and
more diverse data. The average over many tasks should rise, and the accuracy on one task with few labels
fall, because the features that only this task has lose weight.

In the linear model that is exact: at
{{ value("allocations", "tasks", case="four even tasks") | number }} tasks each private feature keeps a
weight of {{ value("allocations", "least private", case="four even tasks") | number }} and each shared
one {{ value("allocations", "shared", case="four even tasks") | number }}. It costs labels only while
there are few and they are noisy.
"""
