"""Lemma 6.2 and Proposition 6.3: with many spurious features the l2 penalty fails when unseen.

By the central limit theorem it does so from r / (4 gamma^2) spurious features on.
"""

from featlearn.nuclear.model import laws, optimum, threshold

INVARIANT, GAMMA, PENALTY = 50, 0.3, 0.05


def right(spurious: int) -> float:
    """Accuracy in the unseen domain with so many spurious features."""
    # data: exact laws of the sums over both kinds of features; unseen, gamma has the other sign
    total = INVARIANT + spurious
    training, unseen = laws(INVARIANT, total, GAMMA), laws(INVARIANT, total, -GAMMA)
    # training: the optimum of the penalised logistic loss, by symmetry two weights
    alpha, beta = optimum(training, INVARIANT, total, PENALTY)
    score = alpha * unseen.invariant + beta * unseen.environment
    return float(((score > 0) * unseen.share).sum())


predicted = threshold(INVARIANT, GAMMA)
low, measured = 1, 4 * round(predicted)
while measured - low > 1:  # the accuracy falls with the number of spurious features
    middle = (low + measured) // 2
    low, measured = (middle, measured) if right(middle) > 0.5 else (low, middle)
    print(f"{middle:3} spurious features: {right(middle):.3f} right in the unseen domain")
print(f"below one half from {measured} spurious features on, closed form {predicted:.1f}")
