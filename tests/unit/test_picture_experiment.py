"""The experiments on part-composed images: their streams, evaluations, claims, tables, figures."""

from itertools import product

import pandas as pd
import pytest
import torch

from featlearn.core.evidence.claims import FAILS, HOLDS, NOT_SHOWN, ledger
from featlearn.core.run.config import load
from featlearn.images.train import replicate as room
from featlearn.images.worlds.world import World
from featlearn.mrp.analysis.images_comparison import Comparison
from featlearn.mrp.analysis.images_transfer import METHOD_COLOURS, Transfer
from featlearn.mrp.experiments.images_transfer import detected, started, transferred
from featlearn.mrp.images import downstream
from featlearn.mrp.images.downstream import encoder_of, evaluate, fine_tuned
from featlearn.mrp.images.experiment import PictureExperiment, balanced
from featlearn.mrp.images.labels import STARTS
from unit import ROOT

COMPARISON_CLAIMS, TRANSFER_CLAIMS = [*Comparison({})], [*Transfer({})]
EVALUATIONS = (downstream.FINE_TUNED, downstream.PROBE, downstream.NEIGHBOURS)
QUANTITIES = ("multi_view", "single_view", "single_view_1", "single_view_2", "worst_view")


@pytest.fixture(scope="module")
def config() -> dict:
    return load({"scale": "smoke"}, ROOT)["images"]


@pytest.fixture
def experiment(config) -> PictureExperiment:
    return PictureExperiment("images", config, 0, 0)


def same(one, other) -> bool:
    return list(one) == list(other) and all(torch.equal(one[name], other[name]) for name in one)


@pytest.mark.parametrize(
    ("name", "seed", "replicate"), [("images-validation", 0, 0), ("images", 1, 0), ("images", 0, 1)]
)
def test_validation_seeds_and_replicates_have_pictures_parts_and_weights_of_their_own(
    experiment, config, name, seed, replicate
):
    other = PictureExperiment(name, config, seed, replicate)
    again = PictureExperiment("images", config, 0, 0)
    assert torch.equal(experiment.train.images, again.train.images)
    assert torch.equal(experiment.train.labels, again.train.labels)
    for first, second in zip(experiment.test, again.test, strict=True):
        assert torch.equal(first.images, second.images)
    assert experiment.looks != other.looks
    assert not torch.equal(experiment.world.stamps.pixels, other.world.stamps.pixels)
    assert not torch.equal(experiment.train.images, other.train.images)
    assert not torch.equal(experiment.test[0].images, other.test[0].images)
    ours, theirs = experiment.encoder("cnn"), other.encoder("cnn")
    assert not torch.equal(ours.conv1.weight, theirs.conv1.weight)


def test_test_pictures_are_fresh_and_show_what_they_are_said_to(experiment):
    multi, *single = experiment.test
    assert not multi.single_view.any()
    assert [set(own.view.tolist()) for own in single] == [{0}, {1}]
    train = {image.numpy().tobytes() for image in experiment.train.images}
    for own in experiment.test:
        assert train.isdisjoint(image.numpy().tobytes() for image in own.images)


def test_labelled_subsets_are_balanced_and_nested_and_only_in_another_order(experiment, config):
    pictures = balanced(World({"classes": 5, "image_size": 16, "part_size": 6}).sample(200, (0,)))
    least = int(pictures.labels.bincount().min())
    for count in (5, 7, 10, 13, 5 * least):  # no multiple of the classes: as even as can be
        found = pictures.labels[:count].bincount(minlength=5)
        assert int(found.max() - found.min()) == (count % 5 > 0)
    drawn = experiment.world.sample(config["samples"]["train"], (*experiment.name, "train"))
    rows = experiment.train.recipe.number
    assert sorted(rows.tolist()) == list(range(len(drawn)))
    assert torch.equal(drawn.images[rows], experiment.train.images)
    assert torch.equal(drawn.labels[rows], experiment.train.labels)


def test_other_worlds_have_the_same_parts(experiment):
    other = experiment.other_world(class_parts="mixed")
    assert other.names == experiment.world.names
    assert torch.equal(other.stamps.pixels, experiment.world.stamps.pixels)
    assert not torch.equal(other.parts_of_class, experiment.world.parts_of_class)


class Recorder:
    """In the place of ``fit``: keeps what it was given, trains nothing."""

    def __init__(self):
        self.calls = []

    def __call__(self, objective, images, labels, augment, settings, name, *_, **__):
        weights = {key: value.clone() for key, value in objective.state_dict().items()}
        self.calls.append((weights, images, labels, settings, name))
        return pd.DataFrame()


@pytest.fixture
def recorder(monkeypatch) -> Recorder:
    made = Recorder()
    monkeypatch.setattr(room, "fit", made)
    return made


def test_pre_training_begins_with_the_weights_of_supervised_training(experiment, config, recorder):
    for method, settings in config["pretraining"].items():
        encoder, _ = experiment.pretrain(method, settings)
        assert same(encoder.state_dict(), experiment.encoder(settings["encoder"]).state_dict())
    names = [call[4] for call in recorder.calls]
    assert len(set(names)) == len(names)
    for _, images, labels, _, _ in recorder.calls:
        assert torch.equal(images, experiment.train.images)
        assert labels is None


def test_fine_tuning_differs_between_starts_in_the_encoder_alone(experiment, config, recorder):
    settings = config["comparison"]["finetuning"]
    random = experiment.encoder("cnn")
    trained = {name: value + 1 for name, value in random.state_dict().items()}
    fine_tuned(experiment, random, 12, settings)
    fine_tuned(experiment, experiment.encoder("cnn", trained), 12, settings)
    fine_tuned(experiment, experiment.encoder("cnn"), 24, settings)
    (one, *alike), (other, *too), (_, _, _, _, name) = recorder.calls
    assert torch.equal(alike[0], too[0])
    assert torch.equal(alike[1], too[1])
    assert alike[2:] == too[2:]
    assert name != alike[3]
    assert torch.equal(one["head.weight"], other["head.weight"])
    assert not torch.equal(one["encoder.conv1.weight"], other["encoder.conv1.weight"])


def test_an_evaluation_holds_every_number(experiment, config):
    found, trained = evaluate(experiment, "cnn", None, config["comparison"])
    assert list(found) == ["evaluation", "labels", "quantity", "value"]
    keys = [*found[["evaluation", "labels", "quantity"]].itertuples(index=False, name=None)]
    assert sorted(keys) == sorted(product(EVALUATIONS, (12, 24), QUANTITIES))
    assert found["value"].between(0, 1).all()
    one, other = (encoder_of(trained, count) for count in (12, 24))
    assert not torch.equal(one["conv1.weight"], other["conv1.weight"])
    assert same(experiment.encoder("cnn", one).state_dict(), one)
    assert encoder_of(trained, 6) == {}
    # and depends on the weights that it starts with
    _, again = evaluate(experiment, "cnn", one, config["comparison"] | {"labels": [12]})
    assert not same(encoder_of(again, 12), one)


def test_a_classifier_that_reads_the_parts_is_right(experiment):
    """Accuracies belong to the pictures: multi-view ones first, then each part alone."""

    class Oracle(torch.nn.Module):
        classes = experiment.world.dials.classes

        def scores(self, images):
            start = self.seen
            self.seen += len(images)
            labels = torch.cat([own.labels for own in experiment.test])[start : self.seen]
            view = torch.cat([own.view for own in experiment.test])[start : self.seen]
            wrong = (labels + (view == 1)) % self.classes  # the second part is taken for another
            return torch.nn.functional.one_hot(wrong, self.classes).float()

    oracle = Oracle()
    oracle.seen = 0
    assert downstream.tested(experiment, oracle, experiment.test) == {
        "multi_view": 1.0, "single_view": 0.5, "single_view_1": 1.0, "single_view_2": 0.0,
        "worst_view": 0.0,
    }  # fmt: skip


def test_transfer_and_detection_hold_every_number(experiment, config):
    weights = experiment.encoder("cnn").state_dict()
    before = dict.fromkeys(METHOD_COLOURS, weights) | {"from scratch": None}
    methods = list(before)
    given = experiment, config, lambda: started(experiment, config, before, print)
    found = transferred(*given)
    assert found.groupby(["classes", "method"])["quantity"].agg(set).to_dict() == {
        ("mixed", method): set(QUANTITIES) for method in methods
    }
    # all start from the same weights here, and nothing else may differ between them
    wide = found.pivot_table(index="quantity", columns="method", values="value")
    for method in methods:
        assert (wide[method] == wide["from scratch"]).all()
    precision = detected(*given)
    assert precision.groupby("method", sort=False)["quantity"].agg(list).to_dict() == {
        method: ["ap", "ap50", "ap75"] for method in methods
    }
    assert precision["value"].between(-1, 1).all()


def claimed(replicates=5, epochs=100) -> dict:
    lengths = {name: {"training": {"epochs": epochs}} for name in ("simmim", "mae", "data2vec")}
    given = {"comparison": {"replicates": replicates}, "samples": {"train": 2000}}
    return {**given, "pretraining": lengths, "detection": {"training": {"steps": 10_000}}}


CLAIMED = claimed()


def rows(value, replicates=5, **axes) -> pd.DataFrame:
    axes["replicate"] = range(replicates)
    keys = [dict(zip(axes, one, strict=True)) for one in product(*axes.values())]
    return pd.DataFrame([{**key, "value": value(**key)} for key in keys])


def comparison_frame(replicates=5, value=lambda **_: 0.5) -> pd.DataFrame:
    return rows(value, replicates, start=STARTS, evaluation=EVALUATIONS, labels=(12, 60),
                quantity=QUANTITIES)  # fmt: skip


def transfer_frames(replicates=5, value=lambda **_: 0.5) -> dict[str, pd.DataFrame]:
    methods = [*METHOD_COLOURS]
    return {
        "transfer": rows(value, replicates, classes=("mixed", "half_new"), method=methods,
                         quantity=QUANTITIES),
        "detection": rows(value, replicates, method=methods, quantity=("ap", "ap50", "ap75")),
    }  # fmt: skip


def measured(frame: pd.DataFrame) -> pd.Series:
    shuffled = frame.sample(frac=1, random_state=0)
    found = ledger(COMPARISON_CLAIMS, {"comparison": shuffled}, CLAIMED)
    return found.set_index("claim")["measured"]


#: Claim, and the accuracies of SimMIM, fine-tuned, whose least gain it is: labels, quantities.
ABOUT = {
    "simmim-all-labels": (60, ("single_view", "worst_view")),
    "simmim-single-view-few-labels": (12, ("single_view",)),
    "multi-view-not-worse": (60, ("multi_view",)),
}


@pytest.mark.parametrize(
    ("multi", "single", "verdict"),
    [(0.98, 0.6, HOLDS), (0.98, 0.97, NOT_SHOWN), (0.38, 0.22, NOT_SHOWN)],
)
def test_a_lottery_is_lost_by_networks_that_fit_multi_view_pictures(multi, single, verdict):
    right = {"multi_view": multi, "single_view": single}
    frame = comparison_frame(value=lambda quantity, **_: right.get(quantity, 0.5))
    found = ledger(COMPARISON_CLAIMS, {"comparison": frame}, CLAIMED).set_index("claim")
    assert found.loc["mrp/images-supervised-lottery", "verdict"] == verdict


@pytest.mark.parametrize("name", ABOUT)
def test_a_claim_measures_what_it_says(name):
    assert {claim.claim for claim in COMPARISON_CLAIMS} == {
        f"mrp/images-{name}" for name in (*ABOUT, "supervised-lottery")
    }

    def value(start, evaluation, labels, quantity, replicate):
        count, quantities = ABOUT[name]
        own = (start, evaluation, labels) == ("simmim", "fine-tuned", count)
        raised = own and quantity in quantities
        return 0.5 + 0.01 * replicate + 0.3 * raised

    found = measured(comparison_frame(value=value))
    assert found[f"mrp/images-{name}"] == pytest.approx(0.3)
    assert (found > 0.29).sum() == 1  # no other claim


def test_transfer_claims_measure_gains_over_supervised_training():
    gains = {("mixed", "multi_view"): 0.1, (None, "ap75"): 0.3}

    def value(method, quantity, replicate, classes=None):
        gain = gains.get((classes, quantity), 0.7) if method == "SimMIM, then labels" else 0.0
        return 0.01 * replicate + gain + 0.9 * (method == "from scratch")

    found = ledger(TRANSFER_CLAIMS, transfer_frames(value=value), CLAIMED)
    assert found["measured"].tolist() == pytest.approx([0.1, 0.3])


def test_made_pictures_and_short_runs_refute_no_theorem():
    frames = {"comparison": comparison_frame()}
    found = ledger(COMPARISON_CLAIMS, frames, CLAIMED).set_index("claim")["verdict"]
    assert found["mrp/images-simmim-all-labels"] == NOT_SHOWN
    # an observation on the pictures themselves fails, but not after too short a training
    few = "mrp/images-simmim-single-view-few-labels"
    assert found[few] == FAILS
    short = ledger(COMPARISON_CLAIMS, frames, claimed(epochs=12)).set_index("claim")["verdict"]
    assert short[few] == NOT_SHOWN
    found = ledger(TRANSFER_CLAIMS, transfer_frames(), CLAIMED)
    assert set(found["verdict"]) == {NOT_SHOWN}
