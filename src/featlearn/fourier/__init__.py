"""Fourier circuits: a network adds numbers modulo p by cosines

Chapter 4 of the thesis (Li, Liang, Shi, Song & Zhou) asks what a network with one hidden layer and the
activation $z^k$ learns of $a_1 + ... + a_k$ modulo $p$. Its answer: at the largest margin, every neuron is a
cosine of one frequency in all of its weight vectors, and every frequency is used.

The margin is right to the last digit: the construction of the thesis attains it at all sizes that can
be enumerated. The construction is not the smallest, though: with three inputs
{{ value("maximum-margin", "neurons", construction="grid", k=3, p=7) | number }} neurons attain what
takes {{ value("maximum-margin", "neurons", construction="thesis", k=3, p=7) | number }} there.
"""
