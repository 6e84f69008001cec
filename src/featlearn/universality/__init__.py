"""Universality against label efficiency: representations learned by contrast

Chapter 7 of the thesis (Shi, Chen, Li, Raghuram, Wu, Liang & Jha) pre-trains by contrast on more and
more diverse data. The average over many tasks should rise, and the accuracy on one task with few labels
fall, because the features that only this task has lose weight.

In the linear model that is exact: the weight of a private feature falls with the number of tasks,
and that of a shared one does not. It costs labels only while there are few and they are noisy.
"""
