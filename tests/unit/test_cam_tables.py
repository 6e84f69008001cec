"""Part use, Table 1 and the gain on made pictures, from planted measurements."""

import numpy as np
import pandas as pd
import pytest

from featlearn.core.evidence.frames import tidy
from featlearn.core.evidence.paper_values import paper_table
from featlearn.core.run.config import read_yaml
from featlearn.mrp.analysis.eigencam import Maps, part_use_gains
from featlearn.mrp.analysis.images_gain import Gain
from featlearn.mrp.analysis.table_1 import beside_the_paper, table_1
from featlearn.mrp.analysis.table_1_real import with_cifar10
from featlearn.mrp.images.labels import AUGMENTED, PIXELS, PLAIN, PRETRAINED, SUPERVISED, Arm, arms
from unit import ROOT

VALUES = read_yaml(ROOT / "config/paper_values/mrp.yaml")


def planted(columns, model, gain):
    """Each replicate has a level of its own; the pre-trained model is better by ``gain``."""
    axes = {**columns, model[0]: model[1], "replicate": range(3)}
    better = gain * (np.arange(len(model[1])) > 0)[:, None]
    return tidy(axes, value=0.5 + 0.1 * np.arange(3) + better)


@pytest.fixture
def frames():
    quantities = ["multi_view", "single_view"]
    evaluations = ["fine-tuned", "linear probe"]
    comparison = {"evaluation": evaluations, "labels": [6, 12], "quantity": quantities}
    both = ("method", ["supervised", "SimMIM, then labels"])
    gain = planted(
        {"quantity": ["multi_view", "worst_view"]}, ("start", ["supervised", "SimMIM"]), 0.05
    )
    epochs = 40 * (gain["start"] == "SimMIM")
    longest = gain.assign(augmentation="augmented", steps=10, epochs=epochs)
    shorter = longest.assign(epochs=longest["epochs"] / 4, steps=30, value=0)
    return {
        "comparison": planted(comparison, ("start", ["random-cnn", "simmim"]), 0.02),
        "gain": pd.concat([longest, shorter, longest.assign(augmentation="plain", value=0)]),
        "transfer": planted({"classes": ["mixed", "new"], "quantity": quantities}, both, 0.03),
        "detection": planted({"quantity": ["ap50", "ap75"]}, both, -0.01),
    }


def test_table_1_puts_what_was_measured_beside_each_number_of_the_paper(frames):
    quoted, _ = paper_table(VALUES, "table-1")
    table = table_1(quoted, frames)
    assert set(table["paper_value"]) == set(quoted["paper_value"])
    gains = table[table["model"] == "mask reconstruction"].set_index("measured_on")
    assert gains["gain"].to_dict() == pytest.approx(
        {
            "multi-view pictures": 2, "single-view pictures": 2,
            "the worse part alone, few labels": 5, "scenes of objects": -1,
            "new classes, multi-view": 3, "new classes, single-view": 3,
        }
    )  # fmt: skip
    # what is common to a replicate cancels in the paired gain only
    assert (gains["gain_half_width"] < 1e-9).all()
    assert (gains["half_width"] > 1).all()
    assert table[table["model"] == "supervised"]["gain"].isna().all()


def test_table_1_on_real_images_has_a_column_for_what_learns_no_features(frames):
    sizes = {"labels": [250, 1000]}
    networks = planted(
        {"evaluation": ["fine-tuned"], **sizes}, ("start", ["random", "pretrained"]), 0
    )
    named = [networks.assign(data_set=name) for name in ("cifar10", "cifar10-longer")]
    learnless = planted(sizes, ("baseline", ["linear on pixels", "other"]), -0.2)
    made = with_cifar10(VALUES, **frames, evaluations=pd.concat(named), baselines=learnless,
                        which="table-1")  # fmt: skip
    cells = made.shown.set_index("stand-in")["linear on pixels"]
    assert cells["CIFAR-10, 250 labels"].startswith("60 ±")
    assert set(cells.drop([f"CIFAR-10, {count} labels" for count in ("250", "1,000")])) == {""}
    other = made.frame[
        (made.frame["model"] == "other") & (made.frame["measured_on"] == cells.index[0])
    ]
    assert other["measured"].item() == pytest.approx(40)


def test_part_use_is_compared_with_supervised_training_of_the_same_network():
    rows = [
        (start, start[-3:] if start.startswith("random") else kind, 6, "multi_view", "hits",
         level + 0.1 * replicate, replicate)
        for start, kind, level in (("random-cnn", "cnn", 1.0), ("simmim", "cnn", 1.5),
                                   ("random-vit", "vit", 0.2), ("mae", "vit", 0.1))
        for replicate in range(3)
    ]  # fmt: skip
    columns = ["start", "encoder", "labels", "test_set", "quantity", "value", "replicate"]
    gains = part_use_gains(pd.DataFrame(rows, columns=columns)).set_index("start")["difference"]
    assert gains.to_dict() == pytest.approx({"simmim": 0.5, "mae": -0.1})


def test_claims_on_maps_read_the_fewest_labels_on_multi_view_pictures():
    levels = {"random-cnn": 0.6, "simmim": 0.9, "random-vit": 0.2, "mae": 0.3}
    axes = {"start": [*levels], "quantity": ["hits", "matched", "flipped"], "labels": [6, 12],
            "test_set": ["multi_view", "single_view"], "replicate": range(2)}  # fmt: skip
    fewest = np.array([[1, 0], [0, 0]])[..., None]
    level = np.array([*levels.values()])[:, None, None, None, None]
    frames = {"values": tidy(axes, value=level * fewest)}
    found = {one.claim: one.measure(frames).tolist() for one in [*Maps({})]}
    assert found["mrp/cam-more-parts"] == pytest.approx([0.3, 0.3])
    assert found["mrp/cam-more-parts-mae"] == pytest.approx([0.1, 0.1])
    assert found["mrp/cam-agrees"] == pytest.approx([0.1, 0.1])  # the lower one, less a coin's
    assert found["mrp/cam-stands-erasure"] == pytest.approx([-0.3, -0.3])


def test_one_replicate_has_means_and_no_spread(frames):
    alone = {name: frame[frame["replicate"] == 0] for name, frame in frames.items()}
    wide = beside_the_paper(VALUES, **alone, version="later version").shown
    assert not wide.astype(str).map(lambda cell: "nan" in cell or "±" in cell).to_numpy().any()


ARMS = [*arms([10, 40], 150, {10: 320, 40: 1280}), Arm(PIXELS, 0, PLAIN, 0)]
GAIN = {claim.claim: claim.measure for claim in Gain({})}


def frame(worst, multi=None):
    """Two replicates; worse part and multi-view accuracy by arm, 0.5 and 1 if not given."""
    rows = [
        {**vars(arm), "quantity": quantity, "replicate": replicate,
         "value": given.get(arm, other) + 0.01 * replicate * (quantity == "worst_view")}
        for arm in ARMS
        for replicate in range(2)
        for quantity, given, other in (("worst_view", worst, 0.5), ("multi_view", multi or {}, 1))
    ]  # fmt: skip
    return {"gain": pd.DataFrame(rows)}


def test_supervised_training_gets_the_steps_of_the_longest_pretraining_too():
    supervised = {(one.augmentation, one.steps) for one in ARMS if one.start == SUPERVISED}
    assert supervised == {(sight, steps) for sight in (PLAIN, AUGMENTED) for steps in (150, 1430)}
    others = {(one.augmentation, one.epochs) for one in ARMS if one.start == PRETRAINED}
    assert others == {(sight, epochs) for sight in (PLAIN, AUGMENTED) for epochs in (10, 40)}


@pytest.mark.parametrize("baseline", [arm for arm in ARMS if arm.start != PRETRAINED])
def test_the_gain_is_over_the_strongest_of_all_baselines(baseline):
    own = Arm(PRETRAINED, 40, AUGMENTED, 150)
    found = GAIN["mrp/images-gain-worse-part"](frame({own: 0.9, baseline: 0.8}))
    assert found.tolist() == pytest.approx([0.1, 0.1])


@pytest.mark.parametrize("start", [(PRETRAINED, 40), (SUPERVISED, 0)])
def test_a_gain_without_a_fit_of_the_pictures_with_all_parts_is_none(start):
    judged = Arm(*start, AUGMENTED, 150)
    found = frame({Arm(PRETRAINED, 40, AUGMENTED, 150): 0.9}, {judged: 0.9})
    assert GAIN["mrp/images-gain-worse-part"](found).tolist() == [0, 0]


def test_the_lottery_and_the_length_are_told_of_the_augmented():
    worst = {(SUPERVISED, 0): 0.7, (PRETRAINED, 40): 0.9, (PRETRAINED, 10): 0.6}
    found = frame({Arm(*start, AUGMENTED, 150): value for start, value in worst.items()})
    assert GAIN["mrp/images-gain-lottery"](found).tolist() == pytest.approx([0.3, 0.29])
    assert GAIN["mrp/images-gain-length"](found).tolist() == pytest.approx([0.3, 0.3])
