"""Images of a user through the comparison: pre-train without labels, then probe and fine-tune."""

from __future__ import annotations

import contextlib
import io
from collections.abc import Callable, Iterator, Mapping
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple

import pandas as pd
import torch
from torch import Tensor

from featlearn.core.errors import FeatlearnError
from featlearn.core.evidence.frames import tidy
from featlearn.core.files import PathLike
from featlearn.core.run.progress import Progress
from featlearn.core.seeds import seeded
from featlearn.images.data.datasets import (
    ImageSet,
    digests,
    fraction_rows,
    open_images,
    open_splits,
    repeats,
    split_rows,
    together,
)
from featlearn.images.data.on_disk import as_opened, look, sources
from featlearn.images.encoders import Encoder
from featlearn.images.methods import build_method
from featlearn.images.probes import FINE_TUNED, NEIGHBOURS, PROBE, Frozen, accuracies, score
from featlearn.images.saved import described
from featlearn.images.train.classifier import Classifier
from featlearn.images.train.features import extract
from featlearn.images.train.loop import Report
from featlearn.images.train.plan import Plan, Training
from featlearn.images.train.replicate import Replicate, Weights
from featlearn.images.weights import load_weights
from featlearn.own_images.config import PRETRAINED, changes, given_weights

#: Why a picture is left out that no reader looks at.
UNREAD = "a kind of picture that is not read; convert it, for example to .jpg"
#: Of pictures that a set holds twice; equal ``same``, equal pixels.
TWICE = ["same", "role", "class", "file"]
ACCURACY, PRECISION = "accuracy", "mean average precision"


class Judged(NamedTuple):
    """How good scores are, and the class (M,) that they give each test image, if it has one."""

    value: float
    said: Tensor | None


def as_on_disk(data: Mapping[str, Any]) -> dict[str, Any]:
    """The group as the readers get it, with what the cache of decoded images goes by as well."""
    return as_opened(data) | {"changed": changes(sources(data))}


def open_roles(
    data: Mapping[str, Any], cache: PathLike, seed: int, name: str
) -> dict[str, ImageSet]:
    """Training and test images; the same for all replicates, and for all sets of the same data."""
    # the stream has no name of the set: sets of the same data share their test images
    opened = open_splits(as_on_disk(data), cache, seed, "mrp", "real-images")
    classes = opened["train"].classes
    if len(classes) < 2:
        found = f"one, {classes[0]!r}" if classes else "none"
        raise FeatlearnError(
            f"real_images.{name}.data: classes: {found}; expected two or more, as one folder a "
            "class"
        )
    return opened


@contextlib.contextmanager
def reported_already() -> Iterator[None]:
    """A decoded set reports its broken images once: to whoever decodes it."""
    with contextlib.redirect_stderr(io.StringIO()):
        yield


def describe(
    data: Mapping[str, Any], cache: PathLike, seed: int, name: str
) -> tuple[pd.DataFrame, pd.DataFrame, pd.DataFrame]:
    """What was decoded, what could not be, and what is there twice.

    ``summary``: columns role (``train``, ``test``), class, images; repeated: how many of them are, pixel for pixel, in
    the other role as well; contradicted: how many have another class somewhere; pixels: the SHA-256 of all pixels that
    the role's images were taken from. ``faults``: columns split, file, reason: one row an image that is left out.
    ``twice``: columns of ``TWICE``: one row an image whose pixels stand in another role or class as well.
    """
    settings = as_on_disk(data)
    opened = open_roles(data, cache, seed, name)
    pixels, faults = {}, []
    for role, split in settings["splits"].items():
        taken = (settings.get("rows") or {}).get(role)
        with reported_already():
            whole = open_images(settings, cache, split, opened["train"].classes, taken)
        pixels[role] = whole.sha256
        faults.append(whole.faults.assign(split=split)[["split", "file", "reason"]])
    if data["kind"] == "folder":
        faults += [pd.DataFrame({"split": seen.part, "file": list(seen.unread), "reason": UNREAD})
                   for seen in look(data)]  # fmt: skip
    again = repeats({role: (images.images, images.labels) for role, images in opened.items()})
    summaries: list[pd.DataFrame] = []
    rows: list[tuple[str, ...]] = []
    for role, images in opened.items():
        repeated, contradicted = again[role]
        counts = {"images": _counts(images), "repeated": _counts(images, repeated),
                  "contradicted": _counts(images, contradicted)}  # fmt: skip
        summaries.append(tidy({"role": [role], "class": images.classes}, **counts))
        summaries[-1]["pixels"] = pixels.get(role, pixels["train"])
        rows += _twice(role, images, repeated | contradicted)
    return (pd.concat(summaries, ignore_index=True), pd.concat(faults, ignore_index=True),
            pd.DataFrame(rows, columns=TWICE).astype(str).sort_values(TWICE, ignore_index=True))  # fmt: skip


def _twice(role: str, images: ImageSet, which: Tensor) -> Iterator[tuple[str, ...]]:
    """Rows of ``TWICE`` for the images where ``which`` (N,) is true."""
    rows = which.nonzero().flatten()
    for row, same in zip(rows.tolist(), digests(images.images[rows]), strict=True):
        here = (images.labels[row] > 0).nonzero() if images.labels.dim() > 1 else images.labels[row]
        classes = [images.classes[label] for label in here.flatten().tolist() if label >= 0]
        yield same.hex(), role, ", ".join(classes), images.names.iloc[row]


def _counts(images: ImageSet, rows: Tensor | None = None) -> list[int]:
    """Images of each class, of all or of those where ``rows`` (N,) is true."""
    labels = images.labels if rows is None else images.labels[rows]
    if labels.dim() > 1:
        return (labels != 0).sum(0).tolist()
    return torch.bincount(labels[labels >= 0], minlength=len(images.classes)).tolist()


class RealExperiment(Replicate):
    """One replicate on a data set of real images.

    Replicates differ in initial weights, in the order of the images, and in which training images
    keep their labels. ``name``: of the data set. ``settings``: a group of ``real_images``. The
    others: see :class:`~featlearn.images.train.replicate.Replicate`.
    """

    cache: PathLike

    def __init__(
        self, name: str, settings: Mapping[str, Any], cache: PathLike, seed: int, replicate: int,
        device: torch.device | str = "cpu",
    ):  # fmt: skip
        super().__init__(settings, (seed, "mrp", "real-images", name), replicate, device, cache)
        self.label: str | None = f"{name}-{replicate}"
        with reported_already():
            opened = open_roles(settings["data"], cache, seed, name)
        self.train, self.test = opened["train"], opened["test"]
        most = settings["train_images"]
        if most is not None and most < len(self.train):
            stream = (seed, "mrp", "real-images", "train-images")
            rows = fraction_rows(self.train.labels, most / len(self.train), *stream)
            self.train = self.train.subset(rows, cache)
        self.classes = len(self.train.classes)
        self.several = self.train.labels.dim() > 1
        self.augment, self.image_size = self.sight(self.train.images)
        self.plain = self.augment.plain()

    def encoder(self, weights: Weights | None = None) -> Encoder:
        """The encoder at its random start, or with ``weights``."""
        return self.network(self.settings["encoder"], self.image_size, weights=weights)

    def started(self, start: str, weights: Weights | None = None) -> Encoder:
        """The encoder at ``start``; ``weights`` are those of the pre-training."""
        made = self.encoder(weights if start == PRETRAINED else None)
        if source := given_weights(self.settings).get(start):
            load_weights(made, source if ":" in source else Path(source).expanduser())
        return made

    def report(self, what: str, training: Mapping[str, Any], images: int) -> Report | None:
        """Tells the progress of one training, unless ``label`` is None."""
        if self.label is None:
            return None
        return Progress(f"{self.label} {what}", Plan(Training.of(training), images).steps).report

    def pretrain(self, folder: Path | None = None) -> tuple[Encoder, pd.DataFrame]:
        """An encoder trained on all training images without labels, and the training's history."""
        settings = self.settings["pretraining"]
        encoder = self.encoder()
        with seeded(*self.name, "objective"):
            objective = build_method(settings["objective"], encoder)
        history = self.train_on(
            self.train.images, None, objective, self.augment, settings["training"], "pretraining",
            folder=folder,
            report=self.report("pre-training", settings["training"], len(self.train)),
            identity={"real_images": self.settings},
        )  # fmt: skip
        return encoder, history

    @cached_property
    def labelled_rows(self) -> dict[float, Tensor]:
        """Sorted training rows that keep their labels, by fraction; smaller sets lie in larger."""
        return {fraction: fraction_rows(self.train.labels, fraction, *self.name, "labels")
                for fraction in self.settings["label_fractions"]}  # fmt: skip

    def labelled(self, fraction: float) -> ImageSet:
        """The training images whose labels are used."""
        rows = self.labelled_rows[fraction]
        return self.train if len(rows) == len(self.train) else self.train.subset(rows, self.cache)

    def classifier(self, encoder: Encoder, weights: Weights | None = None) -> Classifier:
        """Encoder and a head at its start; or both with ``weights`` that :meth:`evaluate` gave."""
        options = self.settings["finetuning"]["objective"]
        with seeded(*self.name, "head"):
            made = Classifier(encoder, self.classes, several=self.several, **options)
        if weights is not None:
            made.load_state_dict(dict(weights))
        return made

    def fine_tuned(
        self, encoder: Encoder, fraction: float, report: Report | None = None
    ) -> tuple[Classifier, pd.DataFrame]:
        """Encoder and head after training on a share of the labels, and the history."""
        training = self.settings["finetuning"]["training"]
        images = self.labelled(fraction)
        made = self.classifier(encoder)
        stream = ("fine-tuning", fraction)
        return made, self.train_on(images.images, images.labels, made, self.augment, training, *stream,
                                   report=report)  # fmt: skip

    def evaluate(self, encoder: Callable[[], Encoder], tell: Callable[[str], None]) -> Evaluated:
        """Quality on the test images: frozen and fine-tuned, for every share of the labels.

        ``encoder``: makes a new encoder at its start at each call.
        """
        features = self.frozen(encoder())
        rows: list[tuple[str, float, int, float]] = []
        said, histories = [self._said("", 0.0, None)], []
        trained: dict[float, Classifier] = {}
        for fraction, labelled in self.labelled_rows.items():
            label, count = f"{len(labelled)} labels", len(labelled)
            tell(label)
            report = self.report(label, self.settings["finetuning"]["training"], count)
            trained[fraction], history = self.fine_tuned(encoder(), fraction, report)
            histories.append(history.assign(fraction=fraction, labels=count))
            seen = {FINE_TUNED: self.tested(trained[fraction]), **self.probed(features, fraction)}
            rows += [(how, fraction, count, one.value) for how, one in seen.items()]
            said += [self._said(how, fraction, one.said) for how, one in seen.items()]
        most = max(trained)
        measured = pd.DataFrame(rows, columns=["evaluation", "fraction", "labels", "value"])
        return Evaluated(
            measured.assign(quantity=PRECISION if self.several else ACCURACY,
                            test_images=len(self.judged)),
            described(trained[most], self.augment,
                      f"{FINE_TUNED} on {len(self.labelled_rows[most])} labels", self.origin,
                      self.train.classes),
            pd.concat(said, ignore_index=True),
            pd.concat(histories, ignore_index=True),
        )  # fmt: skip

    @cached_property
    def judged(self) -> Tensor:
        """Rows of the test images that have a label: all, where one may have several."""
        if self.several:
            return torch.arange(len(self.test))
        return (self.test.labels >= 0).nonzero()[:, 0]

    def _said(self, evaluation: str, fraction: float, said: Tensor | None) -> pd.DataFrame:
        """A row a test image: its class, and the one that it is given."""
        rows = [] if said is None else self.judged.tolist()
        names = self.train.classes
        return pd.DataFrame(
            {
                "evaluation": [evaluation] * len(rows),
                "fraction": [fraction] * len(rows),
                "image": pd.Series(rows, dtype="int64"),
                "file": pd.Series([str(self.test.names.iloc[row]) for row in rows], dtype="object"),
                "label": [names[int(self.test.labels[row])] for row in rows],
                "said": [] if said is None else [names[number] for number in said.tolist()],
            }
        )

    @property
    def origin(self) -> dict[str, Any]:
        """The settings that numbers follow from: over how many machines they came takes no part."""
        pretraining = {k: v for k, v in self.settings["pretraining"].items() if k != "nodes"}
        return {**self.settings, "pretraining": pretraining}

    def frozen(self, encoder: Encoder) -> Frozen[Judged]:
        """Features of the test images, and of those whose labels are used at the largest share."""
        labelled = self.labelled(max(self.labelled_rows))
        train, test = (extract(encoder, part.images, self.plain, device=self.device)
                       for part in (labelled, self.test))  # fmt: skip
        return Frozen(train, labelled.labels, test, self.classes, self.quality, self.device)

    def probed(self, features: Frozen[Judged], fraction: float) -> dict[str, Judged]:
        """Quality of the linear probe and, for single labels, of the nearest neighbours."""
        rows = self.labelled_rows
        # smaller sets lie in larger ones, and both are sorted
        own = torch.searchsorted(rows[max(rows)], rows[fraction])
        # of very few images at least one chooses
        share = max(self.settings["probe"]["validation_share"], 1 / len(own))
        stream = (*self.name, "probe", fraction)
        labelled = self.labelled(max(rows))
        groups = together(labelled.names.iloc[own.numpy()], self.settings["data"])
        split = split_rows(features.labels[own].cpu(), {"chosen": share}, *stream, groups=groups)
        found = {PROBE: features.probe(own[split["train"]], own[split["chosen"]])}
        if not self.several:
            found[NEIGHBOURS] = features.neighbours(own, self.settings["neighbours"])
        return found

    def tested(self, classifier: Classifier) -> Judged:
        """Quality of a classifier on the test images."""
        scores = extract(classifier, self.test.images, self.plain, outputs=classifier.scores,
                         device=self.device)  # fmt: skip
        return self.quality(scores)

    def quality(self, scores: Tensor) -> Judged:
        """Accuracy of scores (test images, classes); mean average precision of several labels."""
        labels = self.test.labels
        if self.several:
            return Judged(score(scores.cpu(), labels), None)
        said = scores.argmax(1).cpu()[self.judged]
        return Judged(accuracies(said, labels[self.judged])["all"], said)


class Evaluated(NamedTuple):
    """What :meth:`RealExperiment.evaluate` found.

    ``measured``: columns evaluation, fraction, labels (images that keep theirs), value, quantity, test_images.
    ``weights``: of the fine-tuned classifier with most labels. ``said``: of every evaluation a row a test image:
    columns evaluation, fraction, image, file, label, said; no row with several labels. ``histories``: of the
    fine-tunings: columns of :func:`~featlearn.images.train.loop.fit`, fraction, labels.
    """

    measured: pd.DataFrame
    weights: Weights
    said: pd.DataFrame
    histories: pd.DataFrame
