"""Values of a contrastive config that contradict each other; claims that say what and why."""

from __future__ import annotations

import copy
import importlib
from dataclasses import replace
from pathlib import Path

import pytest

from featlearn.contrastive.config import JUDGED_ARMS, faults, size_config
from featlearn.contrastive.experiment import Arm
from featlearn.contrastive.experiments.ablations import arm_config
from featlearn.contrastive.experiments.stages import arms
from featlearn.core.config import load

ROOT = Path(__file__).parents[2]
EXPERIMENTS = ("stages", "identities", "trained_thresholds", "ablations", "scaling")


@pytest.fixture
def section():
    return copy.deepcopy(load({"scale": "smoke"}, ROOT)["contrastive"])


def test_faults_name_their_key(section):
    section["stages"]["data"] |= {"atoms": 20, "dimension": 36}
    section["trained_thresholds"]["data"]["activity"] = 50.0
    section["scaling"]["sizes"].reverse()
    section["stages"]["probe"]["labels"] = [10**6]
    del section["ablations"]["arms"]["spiky"]
    found = list(faults(section))
    for expected in (
        "contrastive.stages.data.dimension: 36; expected at least 40",
        "contrastive.stages.data.dimension: 36; expected a power of 2",
        "contrastive.trained_thresholds.data.activity: 50.0; expected at most",
        "contrastive.scaling.sizes: atoms [16, 8]; expected from few to many",
        "contrastive.stages.probe.labels: [1000000]; expected at most train_samples (200)",
        "contrastive.ablations.arms.spiky: missing; a claim is about it",
    ):
        assert any(line.startswith(expected) for line in found), (expected, found)


def test_an_arm_changes_only_what_it_names(section):
    for name in JUDGED_ARMS:
        changed = arm_config(section["ablations"], name)
        reference = arm_config(section["ablations"], "reference")
        own = section["ablations"]["arms"][name]
        differ = {group for group in reference if changed[group] != reference[group]}
        assert differ <= set(own), name
    assert Arm.of(arm_config(section["ablations"], "printed-schedule")).thresholds.rate == 1.0


def test_mask_and_thresholds_are_compared_from_one_start_and_over_one_length(section):
    found = arms(section["stages"])
    assert len({(found[arm].norm, found[arm].training.steps) for arm in found}) == 1
    reference = found["masked"]
    for arm, mask, rule in (
        ("masked", "complementary", "scheduled"),
        ("unmasked", "none", "scheduled"),
        ("masked-zero", "complementary", "zero"),
        ("unmasked-zero", "none", "zero"),
    ):
        assert found[arm].training == replace(reference.training, masking=mask)
        assert found[arm].thresholds.rule == rule
    least = section["stages"]["data"]["atoms"] ** -1.499
    assert found["theory-decay"].training == replace(reference.training, decay=least)


def test_a_size_is_an_experiment_of_its_own(section):
    own = size_config(section["scaling"], 16)
    assert own["data"] == {"atoms": 16, "dimension": 64}
    assert own["training"]["steps"] == 60


def test_claims_are_named_once_and_give_their_reasons():
    names = []
    for experiment in EXPERIMENTS:
        module = importlib.import_module(f"featlearn.contrastive.claims.{experiment}")
        for claim in module.CLAIMS:
            names.append(claim.claim)
            for text in (claim.source, claim.statement, claim.quantity, claim.reason):
                assert text.strip(), claim.claim
    assert len(set(names)) == len(names)
    assert all(name.startswith("contrastive/") for name in names)


def test_the_arms_of_the_scales_are_those_that_tables_name():
    from featlearn.contrastive.tables.ablations import ARMS

    for scale in ("smoke", "tour", "desk", "paper"):
        assert set(load({"scale": scale}, ROOT)["contrastive"]["ablations"]["arms"]) == set(ARMS)
