"""Configs that cannot be run: refused by name before any job starts, without a traceback."""

from __future__ import annotations

import pytest

from .checkout import at_once

pytestmark = pytest.mark.workflow

#: One file with many faults, as a user would write it: 5e-4 is text in YAML.
MANY = """
sede: 3
seed: -1
threads: 1.5
mrp:
  headline:
    replicates: 0
    network: {q: four}
    pretraining: {learning_rate: 5e-4}
    supervised: {steps: -5}
    finetuning: {stepz: 20}
images:
  world: {classes: 1}
  encoders: {cnn: {kind: resnet19}}
  comparison: {finetuning: {training: {batchsize: 8}}}
"""
#: How a run is started, and the lines that it must tell.
FAULTS = {
    "many": (
        {"changes": MANY},
        [
            "sede: unknown key; did you mean 'seed'?",
            "seed: -1; expected at least 0",
            "threads: 1.5; expected a whole number",
            "mrp.headline.replicates: 0; expected at least 1",
            "mrp.headline.network.q: 'four'; expected a whole number",
            "mrp.headline.pretraining.learning_rate: '5e-4'; expected a finite number "
            "(YAML reads 5e-4 as text: write it with a point, such as 1.0e-3)",
            "mrp.headline.supervised.steps: -5; expected at least 1",
            "mrp.headline.finetuning.stepz: unknown key; did you mean 'steps'?",
            "images.world.classes: 1; expected at least 2",
            "images.encoders.cnn.kind: 'resnet19'; expected one of small_resnet, resnet18, "
            "resnet50, vit_tiny, vit_small, vit_base, vit, plain, alexnet, wide_resnet",
            "images.comparison.finetuning.training.batchsize: unknown key; did you mean "
            "'batch_size'?",
        ],
    ),
    "empty value": (
        {"changes": "mrp: {headline: {replicates: }}"},
        ["mrp.headline.replicates: None; expected a whole number"],
    ),
    "too few patches": (
        {"changes": {"mrp": {"headline": {"data": {"patches": 7}}}}},
        [
            "mrp.headline.data.patches: 7; expected at least 4 classes x 2 features x 1 patches "
            "a feature = 8: a sample may hold every feature"
        ],
    ),
    "more labels than pictures": (
        {"changes": {"images": {"comparison": {"labels": [12, 25]}}}},
        [
            "images.comparison.labels: 25; expected from 6 (two a class) to 24, the training "
            "pictures"
        ],
    ),
    "unknown scale": (
        {"changes": "scale: huge"},
        ["scale: 'huge'; expected one of desk, gpu, paper, smoke, tour"],
    ),
    "run with a slash": (
        {"changes": "run: trials/one"},
        [
            "run: 'trials/one'; expected a folder name of at most 64 letters, digits, '-' and '_', "
            "and not published"
        ],
    ),
    "run that climbs": (
        {"changes": "run: .."},
        [
            "run: '..'; expected a folder name of at most 64 letters, digits, '-' and '_', "
            "and not published"
        ],
    ),
    "file that is no group of keys": (
        {"changes": "mrp: 3"},
        ["mrp: 3; expected a group of keys"],
    ),
}


@pytest.fixture(scope="module")
def refused(fresh):
    def refuse(options):
        checkout = fresh()
        return checkout, checkout.snakemake("--dry-run", **options)

    return at_once(**{name: lambda o=options: refuse(o) for name, (options, _) in FAULTS.items()})


@pytest.mark.parametrize("fault", FAULTS)
def test_a_fault_is_named_with_what_was_expected(refused, fault):
    _, told = refused[fault].result()
    lines = [line.strip() for line in told.text.splitlines()]
    for expected in FAULTS[fault][1]:
        assert any(line.endswith(expected) for line in lines), told.text


@pytest.mark.parametrize("fault", FAULTS)
def test_it_is_refused_before_any_job_and_without_a_traceback(refused, fault):
    checkout, told = refused[fault].result()
    assert told.code != 0
    assert "Traceback" not in told.text
    assert not told.planned
    assert "Building DAG" not in told.text
    assert not (checkout / "results").exists()
    assert not (checkout / "trials").exists()


def test_no_more_is_told_than_what_is_wrong(refused):
    _, told = refused["many"].result()
    assert told.text.count("expected") + told.text.count("did you mean") == len(FAULTS["many"][1])
