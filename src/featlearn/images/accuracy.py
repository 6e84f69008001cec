"""Accuracy on multi-view and single-view images apart."""

from __future__ import annotations

from torch import Tensor


def accuracies(predicted: Tensor, labels: Tensor, view: Tensor | None = None) -> dict[str, float]:
    """Share of right predictions.

    Parameters
    ----------
    predicted, labels : int64 (N,)
    view : int64 (N,) or None
        Which part of its class a single-view image shows, -1 in a multi-view one; None for images
        of which this is not known.

    Returns
    -------
    dict
        ``all`` if ``view`` is None. Else, of the kinds of images that there are: ``multi_view``;
        ``single_view``; ``single_view_1``, ``single_view_2``, ... for each part alone (counted from
        1); and ``worst_view``, the least of these: low if one part of a class is all that was
        learned.
    """
    right = (predicted.cpu() == labels.cpu()).double()
    if view is None:
        return {"all": float(right.mean())}
    view = view.cpu()
    kinds = {"multi_view": view < 0, "single_view": view >= 0}
    found = {name: float(right[rows].mean()) for name, rows in kinds.items() if rows.any()}
    views = sorted(set(view.tolist()) - {-1})
    each = {f"single_view_{one + 1}": float(right[view == one].mean()) for one in views}
    worst = {"worst_view": min(each.values())} if each else {}
    return found | each | worst
