"""Damaged intermediate files: found, named, kept aside and made again."""

import json
import os

import pytest

from .trained import ALIGNMENT, DOWNSTREAM, PRETRAINED, RESULTS, SHOWN

pytestmark = pytest.mark.long
TABLE = "toy/tables/alignment.parquet"


def flip(content: bytes) -> bytes:
    middle = len(content) // 2
    return content[:middle] + bytes([content[middle] ^ 0x10]) + content[middle + 1 :]


def test_damaged_files_are_named_kept_and_made_again_by_their_rules_alone(done_toy, toy_finished):
    """Three kinds of damage at once; then only these three files are asked for."""
    checkout, damaged = done_toy(), {}
    damage = {PRETRAINED: lambda old: old[: len(old) // 2], DOWNSTREAM: flip}
    damage |= {TABLE: lambda old: b""}
    for name, change in damage.items():
        file = checkout / f"{RESULTS}/{name}"
        damaged[name] = change(file.read_bytes())
        file.write_bytes(damaged[name])
    told = checkout.snakemake(*(f"{RESULTS}/{name}" for name in damage)).well()
    named = [line for line in told.text.splitlines() if "is damaged" in line]
    assert len(named) == 3
    for name, fault in {PRETRAINED: " bytes, ", DOWNSTREAM: "SHA-256", TABLE: "0 bytes, "}.items():
        (line,) = [line for line in named if f"{RESULTS}/{name} is damaged" in line]
        assert fault in line
    assert set(told.finished) == {"toy_pretrain", "toy_downstream", "toy_show_averaging"}
    assert checkout.made() == toy_finished.made()
    assert checkout.checksums() == toy_finished.checksums()
    aside = checkout / f"{RESULTS}/.damaged"
    assert {name: (aside / name).read_bytes() for name in damaged} == damaged
    assert set(checkout.files(f"{RESULTS}/.damaged")) == set(damaged)


def test_damage_that_size_and_time_hide_is_found_by_the_job_that_reads_it(done_toy, toy_finished):
    """Size and time are those of the record: only who reads the file finds the flipped bit."""
    checkout = done_toy()
    file = checkout / f"{RESULTS}/{ALIGNMENT}"
    record = json.loads((checkout / f"{RESULTS}/provenance/{ALIGNMENT}.json").read_text())
    damaged = flip(file.read_bytes())
    file.write_bytes(damaged)
    os.utime(file, ns=(record["mtime_ns"], record["mtime_ns"]))
    for made in SHOWN:
        (checkout / f"{RESULTS}/{made}").unlink()
    first = checkout.snakemake(f"{RESULTS}/{TABLE}")
    first.refused(f"error in rule toy_show_averaging: {RESULTS}/{ALIGNMENT} is damaged")
    assert not {ALIGNMENT, TABLE} & set(checkout.made())
    assert (checkout / f"{RESULTS}/.damaged/{ALIGNMENT}").read_bytes() == damaged
    again = checkout.snakemake(f"{RESULTS}/{TABLE}").well()
    assert set(again.finished) == {"toy_averaging", "toy_show_averaging"}
    assert checkout.made() == toy_finished.made()
