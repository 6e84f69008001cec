"""MoCo, NNCLR and fine-tuning with a pre-training loss, against losses written out by hand."""

import copy

import pytest
import torch
from torch import Tensor

from featlearn.core.seeds import seeded
from featlearn.images.augment import Augment
from featlearn.images.encoders import build_encoder
from featlearn.images.methods import build_two_view
from featlearn.images.methods.queued import Queue
from featlearn.images.methods.two_view import TwoViewObjective, untouched
from featlearn.images.train.loop import fit

AUGMENT = {"steps": [{"op": "random_resized_crop", "scale": (0.4, 1.0)}]}
METHODS = {
    "moco": {"kind": "moco", "head": "none", "queue": 24, "temperature": 0.2},
    "nnclr": {
        **{"kind": "nnclr", "projection": {"hidden": 12, "width": 8}, "head_hidden": 12},
        **{"support": 24, "temperature": 0.3},
    },
    "simclr": {"kind": "simclr", "projection": {"hidden": 12, "width": 8}},
    "simsiam": {
        **{"kind": "siamese", "projection": {"hidden": 12, "width": 8}},
        **{"head": "mlp", "output_norm": "l2"},
    },
}


def made(kind: str, **more: object) -> TwoViewObjective:
    with seeded(3, "methods"):
        encoder = build_encoder({"kind": "small_resnet", "widths": [4, 6], "stem_stride": 2}, 8)
        return build_two_view(METHODS[kind] | more, encoder, Augment(AUGMENT))


def views() -> tuple[Tensor, Tensor]:
    stream = torch.Generator().manual_seed(1)
    return tuple(torch.randn(10, 3, 8, 8, generator=stream) for _ in range(2))  # type: ignore


def unit(x: Tensor) -> Tensor:
    return x / x.norm(dim=1, keepdim=True)


def test_moco_is_the_sum_of_two_cross_entropies_over_the_queue():
    method = made("moco")
    first, second = views()
    queue = method.queue.rows.clone()
    loss = method.pair(first, second)["loss"]
    own = copy.deepcopy(method)
    q = [unit(own.encoder(view)) for view in (first, second)]
    k = [unit(own.target(view)) for view in (first, second)]
    expected = 0.0
    for query, key in ((q[0], k[1]), (q[1], k[0])):
        for n in range(10):
            scores = torch.cat([(query[n] @ key[n])[None], queue @ query[n]]) / 0.2
            expected = expected - scores[0] / 10 + scores.exp().sum().log() / 10
    torch.testing.assert_close(loss, expected)


def test_moco_moves_its_target_and_a_queue_keeps_the_last_rows():
    method = made("moco", momentum=0.75)
    before = [p.clone() for p in method.target.parameters()]
    with torch.no_grad():
        for parameter in method.encoder.parameters():
            parameter.add_(1.0)
    first, second = views()
    method.pair(first, second)
    method.after_step(1, 2)
    for old, new in zip(before, method.target.parameters(), strict=True):
        torch.testing.assert_close(new, old + 0.25)
        assert not new.requires_grad
    assert int(method.queue.place) == 20
    torch.testing.assert_close(method.queue.rows.norm(dim=1), torch.ones(24))
    queue = Queue(5, 2)
    angles = torch.arange(7.0)
    rows = torch.stack([angles.cos(), angles.sin()], 1)
    queue.put(rows[:4])
    queue.put(rows[4:])
    kept = queue.rows[queue.rows[:, 1].argsort()]
    torch.testing.assert_close(kept, rows[2:][rows[2:, 1].argsort()])
    torch.testing.assert_close(queue.nearest(rows[3:4] * 9), rows[3:4])


def test_nnclr_by_hand():
    method = made("nnclr")
    first, second = views()
    support = method.support.rows.clone()
    loss = method.pair(first, second)["loss"]
    z = [method.projection(method.encoder(view)) for view in (first, second)]
    p = [unit(method.head(own)) for own in z]
    near = [support[(unit(own) @ support.T).argmax(1)] for own in z]
    total = 0.0
    for anchor, other in ((near[0], p[1]), (near[1], p[0])):
        rows = torch.cat([anchor, other])
        for n in range(20):
            scores = rows @ rows[n] / 0.3
            rest = torch.cat([scores[:n], scores[n + 1 :]])
            total = total + (rest.exp().sum().log() - scores[(n + 10) % 20]) / 40
    torch.testing.assert_close(loss, total, rtol=1e-4, atol=1e-5)
    assert int(method.support.place) == 0
    method.after_step(1, 2)
    torch.testing.assert_close(method.support.rows[:10], unit(z[1]).detach())


@pytest.mark.parametrize("kind", METHODS)
def test_they_train(kind):
    images = torch.randint(256, (24, 3, 8, 8), dtype=torch.uint8)
    settings = {"steps": 3, "batch_size": 12, "learning_rate": 1e-3}
    history = fit(made(kind), images, None, untouched, settings, (0, "pre"))
    assert history["loss"].notna().all()
