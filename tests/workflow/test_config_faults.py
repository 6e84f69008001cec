"""Configs that cannot be run: refused by name before any job starts, without a traceback."""

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
TOLD = [
    "sede: unknown key; did you mean 'seed'?",
    "seed must be at least 0, got -1",
    "threads must be a whole number, got 1.5",
    "mrp.headline.replicates must be at least 1, got 0",
    "mrp.headline.network.q must be a whole number, got 'four'",
    "mrp.headline.pretraining.learning_rate must be a finite number, got '5e-4' "
    "(YAML reads 5e-4 as text: write it with a point, such as 1.0e-3)",
    "mrp.headline.supervised.steps must be at least 1, got -5",
    "mrp.headline.finetuning.stepz: unknown key; did you mean 'steps'?",
    "images.world.classes must be at least 2, got 1",
    "images.encoders.cnn.kind must be one of small_resnet, resnet18, resnet50, "
    "vit_tiny, vit_small, vit_base, vit, plain, alexnet, wide_resnet, cifar_resnet, got 'resnet19'",
    "images.comparison.finetuning.training.batchsize: unknown key; did you mean 'batch_size'?",
]


def test_every_fault_is_named_before_any_job_with_what_was_expected(fresh):
    checkout = fresh()
    told = checkout.snakemake("--dry-run", changes=MANY)
    lines = [line.strip() for line in told.text.splitlines()]
    for expected in TOLD:
        assert any(line.endswith(expected) for line in lines), told.text
    assert told.text.count(" must be ") + told.text.count("did you mean") == len(TOLD)
    told.refused()
    assert not told.planned
    assert not (checkout / "results").exists()
