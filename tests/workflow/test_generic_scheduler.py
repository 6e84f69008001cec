"""The generic profile, with a stand-in for ``qsub``: the line of the profile as it is shipped."""

import shlex
import sys

from .trained import ALIGNMENT, RESULTS

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
