"""The comparison in full: its arms, their names, and which baseline is the strongest."""

import pandas as pd
import pytest

from featlearn.mrp.analysis.images_gain import Gain
from featlearn.mrp.images.labels import AUGMENTED, PIXELS, PLAIN, PRETRAINED, SUPERVISED, Arm, arms

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
