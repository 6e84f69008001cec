"""Prediction heads on images: what is measured, how cells compare, what a config may say."""

import copy
from itertools import product

import numpy as np
import pandas as pd
import pytest
import torch

from featlearn.core.evidence.claims import FAILS, HOLDS, NOT_SHOWN, declared, ledger
from featlearn.core.evidence.frames import tidy
from featlearn.core.run.config import load
from featlearn.noncontrastive import config as paper_config
from featlearn.noncontrastive.analysis import images as images_analysis
from featlearn.noncontrastive.analysis import robust as robust_analysis
from featlearn.noncontrastive.experiments.robust import look_at
from featlearn.noncontrastive.images import experiment as measuring
from featlearn.noncontrastive.images.cells import (
    ROBUST_ARMS,
    UNTRAINED,
    WITH,
    WITHOUT,
    Cell,
    cell_of,
    cells,
    groups,
    runs,
    training_of,
)
from featlearn.noncontrastive.images.experiment import HeadExperiment
from unit import ROOT


def with_parts(scale, parts):
    own = {"scale": scale, "noncontrastive": {"images": {"parts": parts}}}
    return load(own, ROOT)["noncontrastive"]["images"]


@pytest.fixture(scope="module")
def smoke():
    own = load({"scale": "smoke"}, ROOT)["noncontrastive"]["images"]["digits"]
    del own["data"]
    world = {"classes": 3, "image_size": 16, "part_size": 6, "variants": 2, "part_kinds": ["both"]}
    world |= {"sparsity": 1.0, "background": 0.5, "noise": 0.03}
    return with_parts("smoke", {**own, "samples": {"train": 24, "test": 12}, "world": world})


@pytest.fixture(scope="module")
def desk():
    training = {"steps": 100, "batch_size": 128, "record_every": 5}
    world = {"classes": 6, "part_size": 8, "part_kinds": ["colour", "texture"]}
    robust = {"training": training, "encoder": {"wide_resnet": {"layers": 10}}}
    return with_parts("desk", {"world": world, "training": training, "robust": robust})


def test_ranks_and_correlations_of_known_and_of_collapsed_neurons():
    stream = torch.Generator().manual_seed(0)
    x = torch.randn(4000, 3, generator=stream)
    z = torch.stack([x[:, 0], -2 * x[:, 0] + 1, x[:, 1], x[:, 2], torch.full((4000,), 5.0)], 1)
    matrix = measuring.correlations(z)
    assert matrix[0, 1] == pytest.approx(-1, abs=1e-9)
    assert matrix[4].abs().max() == 0, "a neuron that does not vary correlates with none"
    # eigenvalues 2, 1, 1, 0 of the four that vary
    expected = np.exp(-(0.5 * np.log(0.5) + 2 * 0.25 * np.log(0.25)))
    rank = measuring.effective_rank(measuring.spectrum(matrix))
    assert rank == pytest.approx(expected, abs=0.02)
    assert measuring.mean_absolute(matrix) == pytest.approx(1 / 6, abs=0.02)
    counted = measuring.histogram(matrix)
    assert counted["pairs"].sum() == 4 * 3
    assert counted["pairs"].iloc[0] == 2, "one pair in both orders at minus one"
    still = torch.ones(50, 4)
    assert measuring.effective_rank(measuring.spectrum(measuring.correlations(still))) == 1
    assert measuring.mean_absolute(measuring.correlations(still)) == 1
    assert measuring.spread(still) == pytest.approx(0, abs=1e-6)
    around = torch.randn(20_000, 6, generator=torch.Generator().manual_seed(0))
    assert measuring.spread(around) == pytest.approx(1, abs=0.01)


def share(networks, *parts):
    return all(
        torch.equal(value, getattr(networks[1], part).state_dict()[name])
        for part in parts
        for name, value in getattr(networks[0], part).state_dict().items()
    )


def test_cells_and_arms_share_everything_but_head_norm_and_target(smoke):
    """Else bars of Figure 2, and pictures of Figure 5, would not compare in pairs."""
    experiment = HeadExperiment("parts", smoke["parts"], ".", 0, 0)
    two = [experiment.objective(Cell(*cell))
           for cell in (("none", "batch", "self"), ("mlp", "l2", "ema"))]  # fmt: skip
    assert share(two, "encoder", "projection")
    arms = [experiment.robust_objective(arm) for arm in (WITH, WITHOUT)]
    assert share(arms, "encoder", "projection", "target")
    heads = [sum(part.numel() for part in arm.head.parameters()) for arm in arms]
    assert heads[0] > heads[1] == 0
    other = HeadExperiment("parts", smoke["parts"], ".", 0, 1)
    assert not torch.equal(experiment.train.images, other.train.images)


def test_cells_side_by_side_end_as_if_each_were_trained_alone(smoke):
    settings = copy.deepcopy(smoke["parts"])
    # gradients are clipped for each by its own norm
    settings["training"] |= {"clip": 0.05}
    experiment = HeadExperiment("parts", settings, ".", 0, 0)
    together = ["none-batch-self", "identity-l2-ema", "mlp-batch-self"]
    networks, histories = experiment.fit(together)
    for run in together:
        alone, history = experiment.fit([run])
        own, expected = networks[run].state_dict(), alone[run].state_dict()
        assert own.keys() == expected.keys()
        assert all(torch.equal(own[name], expected[name]) for name in own), run
        pd.testing.assert_frame_equal(histories[run], history[run])
        assert {"loss", "gradient_norm", "correlation"} < {*histories[run]}
    assert "off_diagonal" in histories["identity-l2-ema"]
    assert "off_diagonal" not in histories["none-batch-self"]


def test_trainings_of_other_lengths_are_not_run_side_by_side(smoke):
    experiment = HeadExperiment("parts", {**smoke["parts"], "long": {"steps": 9}}, ".", 0, 0)
    with pytest.raises(ValueError, match="none-batch-self, long: expected"):
        experiment.fit(["none-batch-self", "long"])


def test_all_cells_of_figure_2_are_trained_at_desk(desk):
    settings = desk["parts"]
    names = {cell.name for cell in cells(settings)}
    assert len(names) == 4 * 2 * 2
    assert all(cell_of(name).name == name for name in names)
    assert {*runs(settings)} == names
    side_by_side = groups({**settings, "long": {"steps": 9}})
    assert [len(names) for names in side_by_side.values()] == [4, 4, 4, 4, 1]
    assert {run for names in side_by_side.values() for run in names} == names | {"long"}
    # the long training differs by its keys only
    settings = {**settings, "long": {"epochs": 70, "weight_decay": 1e-4}}
    longer, common = training_of("long", settings), settings["training"]
    assert "steps" not in longer, "a length is given once"
    assert (longer["epochs"], longer["weight_decay"]) == (70, 1e-4)
    assert longer["batch_size"] == common["batch_size"]
    assert training_of("none-batch-self", settings) == common


def test_missing_images_can_be_planned(smoke):
    absent = {"kind": "torchvision", "name": "CIFAR10", "root": "no/such/folder", "size": 32}
    states, lines = paper_config.states({**smoke, "cifar10": {**smoke["parts"], "data": absent}})
    assert states["cifar10"] == "" != states["digits"]
    (line,) = lines
    assert line.startswith("noncontrastive.images.cifar10.data: ")


def frames(sets, worth):
    layers, of_layers = ("encoder", "projection"), ("correlation", "effective_rank", "spread")
    measured = [("", "accuracy"), ("", "part 2"), *product(layers, of_layers)]
    values, history = [], []
    for name, settings in sets.items():
        names = (UNTRAINED, *runs(settings))
        axes = {"data_set": [name], "replicate": range(3), "run": names}
        values += [tidy({"layer": [layer], "quantity": [quantity]} | axes,
                        value=[worth(run, layer, quantity) for run in names])
                   for layer, quantity in measured]  # fmt: skip
        sizes = np.array([[0.1, 1.0, worth(run, "head", "last")] for run in names])
        history.append(tidy(axes | {"step": range(3)}, off_diagonal=sizes, asymmetry=1.2 * sizes,
                            correlation=0.5))  # fmt: skip
    return {"values": pd.concat(values), "history": pd.concat(history)}


def claims_of(config):
    return declared(images_analysis, config)


def as_the_paper(run, layer, quantity):
    headless = run.startswith("none")
    table = {
        "accuracy": 0.3 if run == UNTRAINED else 0.6 if headless else 0.8,
        "part 2": 0.5 if headless else 0.9,
        "correlation": 0.4 if layer == "encoder" else 0.99 if headless else 0.4,
        "effective_rank": 9.0 if run == UNTRAINED else 1.0 if headless else 5.0,
        "spread": 1.0,
        "last": 0.5,
    }
    return table[quantity]


def test_claims_hold_for_what_the_paper_says_and_fail_for_its_opposite(desk):
    # by its name the paper's own data: a miss on a stand-in refutes nothing
    config = {"images": {"cifar10": desk["parts"]}}
    desk = config["images"]
    held = ledger(claims_of(config), frames(desk, as_the_paper), config)
    assert set(held["verdict"]) == {HOLDS}
    assert held["claim"].is_unique

    def opposite(run, layer, quantity):
        if quantity == "last":
            return 1.0
        if quantity == "accuracy":
            return 1 - as_the_paper(run, layer, quantity) if run != "mlp-batch-self" else 0.9
        if quantity == "effective_rank":
            return 9.0 if run == UNTRAINED else 1.0
        return 0.5 if quantity == "correlation" else 1.0

    failed = ledger(claims_of(config), frames(desk, opposite), config).set_index("claim")["verdict"]
    stays = {"no-average-needed"}
    told = {name.removeprefix("noncontrastive/images-cifar10-"): v for name, v in failed.items()}
    assert {name for name, verdict in told.items() if verdict == HOLDS} == stays
    for name in ("head-rises-and-falls", "head-prevents-collapse"):
        assert told.pop(name) == NOT_SHOWN, "that takes thousands of steps"
    assert {verdict for name, verdict in told.items() if name not in stays} == {FAILS}
    config = {"images": {"parts": desk["cifar10"]}}
    failed = ledger(claims_of(config), frames(config["images"], opposite), config)
    assert set(failed["verdict"]) == {HOLDS, NOT_SHOWN}


def test_smoke_shows_nothing(smoke):
    nothing = frames(smoke, lambda run, *_: 1.0 if run == UNTRAINED else 0.0)
    found = ledger(claims_of({"images": smoke}), nothing, {"images": smoke}).set_index("claim")
    assert found.loc["noncontrastive/images-digits-collapse", "verdict"] == NOT_SHOWN
    # made pictures beside real ones are for Figure 2
    assert not any(name.startswith("noncontrastive/images-parts-collapse") for name in found.index)


def test_a_network_of_figure_5_is_trained_and_looked_at(smoke):
    experiment = HeadExperiment("parts", smoke["parts"], ".", 0, 0)
    network, history = experiment.fit_robust(WITH)
    assert list(history["step"]) == [1, 2, 3]
    quantities, pictures = look_at(experiment, network)
    values = quantities.set_index("quantity")["value"]
    assert values["live"] == 1
    assert 0 <= values["likeness"] < 1 < values["distinct"] <= 4
    size = smoke["parts"]["world"]["image_size"]
    assert len(pictures) == 4 * size * size
    # channels that cannot be raised make no pictures: all the same
    with torch.no_grad():
        for parameter in network.encoder.parameters():
            parameter.zero_()
    dead = look_at(experiment, network)[0].set_index("quantity")["value"]
    assert (dead["live"], dead["likeness"], dead["distinct"]) == (0, 1, 1)


def seen_by(worth):
    quantities = ("likeness", "accuracy", "distinct")
    values = np.array([[worth(arm, quantity) for quantity in quantities] for arm in ROBUST_ARMS])
    axes = {"data_set": ["parts"], "run": ROBUST_ARMS, "quantity": quantities}
    return tidy(axes | {"replicate": range(10)}, value=values[..., None] + 0.001 * np.arange(10))


def as_figure_5(arm, quantity):
    varied = {WITH: 0.2, WITHOUT: 0.6, UNTRAINED: 0.4}[arm]
    return varied if quantity == "likeness" else 1 - varied


def test_figure_5_holds_for_varied_pictures_and_fails_for_their_opposite(desk, smoke):
    sets = {"parts": desk["parts"]}
    held = ledger(declared(robust_analysis, sets), {"values": seen_by(as_figure_5)}, sets)
    assert set(held["verdict"]) == {HOLDS}
    opposite = seen_by(lambda arm, quantity: 1 - as_figure_5(arm, quantity))
    failed = ledger(declared(robust_analysis, sets), {"values": opposite}, sets)
    assert set(failed["verdict"]) == {FAILS}
    little = ledger(declared(robust_analysis, sets), {"values": opposite}, smoke)
    assert set(little["verdict"]) == {NOT_SHOWN}
