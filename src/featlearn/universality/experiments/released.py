"""Released networks for CIFAR-10 whole: as they came, probed, fine-tuned, compared, looked into.

They were trained on every training image of CIFAR-10. On a hold-out of these they test that files,
shortcuts, normalisation and pixels are read rightly, not generalisation.
"""

from __future__ import annotations

from itertools import product
from pathlib import Path
from typing import TYPE_CHECKING

import pandas as pd
from torch import Tensor

from featlearn.core.errors import FeatlearnError
from featlearn.core.seeds import seeded
from featlearn.images.api import heat_maps
from featlearn.images.augment import Augment
from featlearn.images.data.datasets import ImageSet, in_turn, open_splits
from featlearn.images.encoders.convolutional import CifarResNet
from featlearn.images.figures import Panel, enlarged, maps_figure
from featlearn.images.probes import choose_probe, score
from featlearn.images.train.classifier import Classifier
from featlearn.images.train.features import extract
from featlearn.images.train.loop import fit
from featlearn.images.weights import load_weights
from featlearn.universality.similarity import alike

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from featlearn.core.run.job import Job
    from featlearn.core.run.outputs import Results

#: The network from scratch, how many layers it has, and how much longer it trains.
OURS, LAYERS, LONGER = "from scratch", 8, 10
#: Augmentation of the training, without a flip, which would turn traffic signs into others.
CHANGED, PLAIN = Augment({"steps": [{"op": "pad_crop"}]}), Augment({"preset": "none"})


class _Laid:
    """Networks of a job, and the images of their targets."""

    def __init__(self, job: Job):
        self.models = job.config["models"]
        self.name = (job.seed, "universality", "released")
        targets = next(iter(self.models.values()))["targets"]
        self.targets: dict[str, dict[str, ImageSet]] = {}
        for target, data in targets.items():
            parts = open_splits(data, job.results / job.params["cache"], *self.name)
            if lost := {"train", "validation", "test"} - {*parts}:
                raise FeatlearnError(f"{target}: expected a {min(lost)} split, got none")
            self.targets[target] = parts
        self.first = next(iter(targets))

    def network(self, name: str, target: str) -> Classifier:
        """With weights of its file and, on the first target, its head; ``OURS`` at random."""
        classes = len(self.targets[target]["train"].classes)
        own = None if name == OURS else self.models[name]
        with seeded(*self.name, name):
            made = Classifier(CifarResNet(own["encoder"]["layers"] if own else LAYERS), classes)
        if own:
            head = load_weights(made.encoder, Path(own["weights"]).expanduser())
            if target == self.first:
                made.head.load_state_dict(head)
        return made


def measure(job: Job) -> Results:
    """Train on each target and compare.

    ``scores``: accuracy on test images; columns network, target, quantity, value. ``alike``: linear
    CKA of features on those of the first target, of released networks as they came; columns
    network, other, value. ``weights``: of the network from scratch on that target.
    """
    laid, training = _Laid(job), job.config["training"]
    rows, features, kept = [], dict[str, Tensor](), dict[str, Tensor]()
    for (target, parts), name in product(laid.targets.items(), (*laid.models, OURS)):
        one, train, test = laid.network(name, target), parts["train"], parts["test"]

        def right(one: Classifier = one, test: ImageSet = test) -> float:
            return score(extract(one, test.images, PLAIN, outputs=one.scores), test.labels)

        if name != OURS:
            seen = {part: (extract(one.encoder, own.images, PLAIN), own.labels)
                    for part, own in parts.items()}  # fmt: skip
            probe = choose_probe(seen["train"], seen["validation"], one.classes)
            value = score(probe.scores(seen["test"][0]), test.labels)
            rows.append((name, target, "linear probe", value))
        if name != OURS and target == laid.first:
            rows.append((name, target, "as released", right()))
            features[name] = seen["test"][0]
        steps = training["steps"] * (LONGER if name == OURS else 1)
        fit(one, train.images, train.labels, CHANGED, {**training, "steps": steps},
            (*laid.name, target, name))  # fmt: skip
        rows.append((name, target, "trained here", right()))
        job.tell(f"{name}, {target}: {rows[-1][-1]:.3f}")
        if name == OURS and target == laid.first:
            features[name], kept = extract(one.encoder, test.images, PLAIN), one.state_dict()
    pairs = pd.DataFrame(product(features, features), columns=["network", "other"])
    return {
        "scores": pd.DataFrame(rows, columns=["network", "target", "quantity", "value"]),
        "alike": pairs.assign(value=alike([*features.values()]).flatten().tolist()),
        "weights": kept,
    }


def maps(job: Job) -> Figure:
    """What released networks look at

    *What to see:* whether maps of deep networks are warm on more of the object than those of a
    small one. Eigen-CAM of released ResNets, and of a ResNet-8 trained here, on the first image of
    each class of the hold-out, which only the former have seen. Below: wrong answers.
    """
    laid = _Laid(job)
    test = laid.targets[laid.first]["test"]
    rows = in_turn(test.labels)[: job.config["shown"]]
    images, overlays, said = test.images[rows], {}, {}
    for name in (*laid.models, OURS):
        one = laid.network(name, laid.first)
        if name == OURS:
            one.load_state_dict(job.tensors("weights"))
        overlays[name] = enlarged(images, heat_maps(one.encoder, PLAIN.normalise(images)))
        scores = extract(one, images, PLAIN, outputs=one.scores)
        said[name] = [test.classes[label] for label in scores.argmax(1).tolist()]
    truth = [[test.classes[label]] for label in test.labels[rows].tolist()]
    return maps_figure([Panel(f"{laid.first}, test images", images, truth, overlays, said)])
