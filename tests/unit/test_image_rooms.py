"""Shape-on-colour images; filters, pictures, firing, maps and colours of networks."""

import numpy as np
import pytest
import torch
from sklearn import metrics

from featlearn.core.seeds import seeded
from featlearn.images.activation_maximisation import (
    chroma_share,
    likeness,
    maximise_channels,
    roughness,
)
from featlearn.images.augment import Augment
from featlearn.images.encoders import build_encoder
from featlearn.images.probes import explained_share, purity, silhouette, tsne
from featlearn.images.sparsity import FilterTrace, distances_to_end, firing, hoyer
from featlearn.images.train.classifier import Classifier
from featlearn.images.train.loop import fit
from featlearn.images.worlds.shapes import ShapeDials, masks, sample

NAME = (0, "rooms")


def normal(*shape, seed=0):
    return torch.randn(*shape, generator=torch.Generator().manual_seed(seed))


def plain_net(width=3):
    with seeded(0, "plain"):
        return build_encoder({"kind": "plain", "width": width}, 16)


def test_an_image_is_its_latents_drawn():
    dials = ShapeDials(noise=0.0)
    made = sample(dials, 40, NAME)
    mask = masks(32, made.labels, made.size, made.corner)
    base = 0.1 + 0.5 * made.colour
    wanted = (base[:, :, None, None] + 0.35 * mask[:, None]).clamp(0, 1)
    assert float((made.images / 255 - wanted).abs().max()) <= 0.5 / 255 + 1e-6
    for number in range(40):
        top, left = made.corner[number].tolist()
        side = int(made.size[number])
        inside = mask[number, top : top + side, left : left + side]
        assert float(inside.sum()) == pytest.approx(float(mask[number].sum()))
        assert 10 <= side <= 16
        assert top + side <= 32
        assert left + side <= 32


def test_colour_and_class_are_independent_and_a_stream_each():
    made = sample(ShapeDials(), 4000, NAME)
    counts = torch.bincount(made.labels, minlength=8)
    assert int(counts.min()) > 400
    by_class = torch.stack([made.colour[made.labels == k].mean(0) for k in range(8)])
    assert float((by_class - 0.5).abs().max()) < 0.06
    brighter = sample(ShapeDials(contrast=0.2), 4000, NAME)
    assert torch.equal(brighter.colour, made.colour)
    assert torch.equal(brighter.corner, made.corner)


def test_first_filters_are_kept_at_even_moments_and_through_an_interruption(tmp_path):
    images = torch.randint(256, (12, 3, 16, 16), dtype=torch.uint8)
    labels = torch.arange(12) % 3
    plain = Augment({"preset": "none"})
    settings = {"steps": 6, "batch_size": 4, "learning_rate": 1e-2,
                "checkpoint_every": {"steps": 2}}  # fmt: skip

    def training(folder=None, report=None):
        with seeded(0, "head"):
            classifier = Classifier(plain_net(), 3)
            torch.nn.init.normal_(classifier.head.weight, std=0.1)
            traced = FilterTrace(classifier, 3)
        fit(traced, images, labels, plain, settings, NAME, folder=folder, report=report)
        return traced

    whole = training()
    start = plain_net().get_submodule("first.conv").weight.detach().flatten()
    torch.testing.assert_close(whole.trace[0], start, rtol=0, atol=0)
    torch.testing.assert_close(whole.trace[-1], whole.filters.flatten(), rtol=0, atol=0)
    assert whole.trace.shape == (4, 3 * 27)
    distance = distances_to_end(whole.trace)
    assert distance[0] == 1
    assert distance[-1] == 0
    assert bool((distance[1:-1] > 0).all())

    class Killed(Exception):
        pass

    def kill(step, _):
        if step == 5:
            raise Killed

    with pytest.raises(Killed):
        training(tmp_path, kill)
    assert torch.equal(training(tmp_path).trace, whole.trace)


def test_pictures_make_their_own_channel_large_and_do_not_depend_on_the_others():
    net = plain_net(4)
    mean, std = torch.tensor([0.5, 0.4, 0.3]), torch.tensor([0.2, 0.3, 0.25])
    options = {"steps": 15, "rate": 1.0}

    def seen(channels, steps):
        return maximise_channels(
            net, net.last_layer, channels, 16, mean, std, NAME, **(options | {"steps": steps})
        )

    def answers(images):
        inputs = (images - mean.view(3, 1, 1)) / std.view(3, 1, 1)
        return net.layer_maps(inputs, net.last_layer).mean((2, 3))

    channels = [0, 3, 5]
    start, end = seen(channels, 0), seen(channels, 15)
    assert float((start - 0.5).abs().max()) < 0.1
    assert bool((end >= 0).all() and (end <= 1).all())
    with torch.no_grad():
        grown = (answers(end) - answers(start))[torch.arange(3), channels]
    assert bool((grown > 0).all())
    torch.testing.assert_close(seen([3], 15)[0], end[1], rtol=1e-4, atol=1e-4)
    assert all(parameter.grad is None for parameter in net.parameters())


def test_chroma_roughness_likeness_and_sparsity_of_known_pictures():
    grey = normal(4, 1, 6, 6).expand(-1, 3, -1, -1)
    torch.testing.assert_close(chroma_share(grey), torch.zeros(4, dtype=torch.float64))
    opponent = normal(4, 1, 6, 6) * torch.tensor([1.0, -1.0, 0.0]).view(1, 3, 1, 1)
    torch.testing.assert_close(chroma_share(opponent), torch.ones(4, dtype=torch.float64))
    assert float(chroma_share(normal(1, 3, 200, 200))) == pytest.approx(2 / 3, abs=0.01)
    with pytest.raises(ValueError, match="signal: expected one that is not zero"):
        chroma_share(torch.zeros(1, 3, 4, 4))
    assert float(roughness(normal(1, 3, 200, 200))) == pytest.approx(0.75, abs=0.01)
    flat = torch.repeat_interleave(torch.repeat_interleave(normal(1, 3, 4, 4), 2, 2), 2, 3)
    assert float(roughness(flat)) == pytest.approx(0, abs=1e-6)
    rows = torch.tensor([[2.0, 2.0, 2.0, 2.0], [0.0, 5.0, 0.0, 0.0], [0.0, 0.0, 0.0, 0.0]])
    assert hoyer(rows).tolist() == [0, 1, 1]
    apart = torch.eye(12).view(12, 3, 2, 2)[:5]
    alike, distinct = likeness(apart)
    assert alike == pytest.approx(0, abs=1e-12)
    assert distinct == pytest.approx(5)
    one = torch.rand(1, 3, 4, 4, generator=torch.Generator().manual_seed(0))
    assert likeness(torch.cat([one, -3 * one, 0.1 * one])) == pytest.approx((1, 1))
    # two directions, of which one is there three times: shares 3/4 and 1/4
    mixed = torch.cat([apart[:1]] * 3 + [apart[1:2], torch.zeros(1, 3, 2, 2)])
    expected = np.exp(-(0.75 * np.log(0.75) + 0.25 * np.log(0.25)))
    assert likeness(mixed) == pytest.approx((3 / 6, expected)), "what is zero is left out"
    with pytest.raises(ValueError, match=r"1 pictures that are not zero; expected at least 2"):
        likeness(one)


def test_firing_is_counted_where_maps_are_above_zero():
    net, plain = plain_net(), Augment({"preset": "none"})
    images = torch.randint(256, (9, 3, 16, 16), dtype=torch.uint8)
    found = firing(net, net.rectified, images, plain, batch=4)
    with torch.no_grad():
        maps = net.layer_maps(plain.normalise(images), "layer_2.conv").relu()
    seen = found["layer_2.conv"]
    assert seen.rate == pytest.approx(float((maps > 0).double().mean()), abs=1e-6)
    assert seen.image_rate == pytest.approx(float((maps.amax((2, 3)) > 0).double().mean()))
    torch.testing.assert_close(seen.pooled, maps.mean((2, 3)))
    assert list(found) == list(net.rectified)
    assert not net.get_submodule("layer_2.conv")._forward_hooks


def test_silhouette_purity_and_maps_keep_clusters_apart():
    points, labels = normal(60, 2), torch.arange(60) % 3
    points[labels == 1] += 2
    wanted = metrics.silhouette_score(points.numpy(), labels.numpy())
    assert silhouette(points, labels) == pytest.approx(wanted, abs=1e-6)
    apart = torch.stack([labels * 100.0, torch.zeros(60)], 1) + 0.01 * points
    assert purity(apart, labels, 10) == 1
    assert purity(points, torch.arange(60), 10) == 0
    labels = torch.arange(60) % 3
    features = normal(60, 5) * 0.1 + torch.eye(5)[labels]
    first, second = (tsne(features, NAME, 10) for _ in range(2))
    assert np.array_equal(first, second)
    assert silhouette(torch.from_numpy(first), labels) > 0.5
    with pytest.raises(ValueError, match="features: 5 rows; expected more than 10"):
        tsne(features[:5], NAME, 10)


def test_explained_share_is_one_for_linear_and_none_for_foreign_targets():
    x = normal(300, 6)
    x[:, 5] = 1.0  # a feature that tells nothing
    y = x[:, :5] @ normal(5, 2, seed=1) + 3
    parts = [slice(0, 200), slice(200, 250), slice(250, 300)]
    assert explained_share(*[(x[one], y[one]) for one in parts]) > 0.9999
    foreign = normal(300, 2, seed=2)
    assert explained_share(*[(x[one], foreign[one]) for one in parts]) < 0.05
