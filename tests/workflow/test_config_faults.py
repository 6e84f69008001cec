"""Configs that cannot be run: refused by name before any job starts, without a traceback."""

import shlex
import sys

from .trained import ALIGNMENT, RESULTS

#: One file with a fault of each kind, as a user would write it: 5e-4 is text in YAML.
MANY = """
sede: 3
mrp:
  headline:
    replicates: 0
    pretraining: {learning_rate: 5e-4}
images:
  comparison: {finetuning: {training: {batchsize: 8}}}
"""

TOLD = [
    "sede: unknown key; did you mean 'seed'?",
    "mrp.headline.replicates must be at least 1, got 0",
    "mrp.headline.pretraining.learning_rate must be a finite number, got '5e-4' "
    "(YAML reads 5e-4 as text: write it with a point, such as 1.0e-3)",
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


TARGET = f"{RESULTS}/{ALIGNMENT}"
#: Notes what it is told, runs the script (the last word) and prints the number of a job.
QSUB = """#!/bin/sh
echo "$@" >> told.txt
for script; do :; done
sh "$script" > qsub.log 2>&1 &
echo 1.server
"""


def test_a_job_goes_through_the_submit_command_of_the_profile(fresh_toy, tmp_path):
    checkout = fresh_toy()
    qsub = tmp_path / "qsub"
    qsub.write_text(QSUB, encoding="utf-8")
    qsub.chmod(0o755)
    path = f"{tmp_path}:{shlex.quote(sys.prefix)}/bin:/usr/bin:/bin"
    words = ("--profile", "profiles/generic", "--latency-wait", "10",
             "--seconds-between-status-checks", "1")  # fmt: skip
    told = checkout.snakemake(TARGET, *words, env={"PATH": path}, cores=100)
    assert told.well().finished == {"toy_averaging": 1}
    asked = (checkout / "told.txt").read_text(encoding="utf-8")
    assert "-A myproject -q batch -l select=1:ncpus=1:mem=2000mb:ngpus=0 -l walltime=30:00" in asked
    assert (checkout / TARGET).is_file()
