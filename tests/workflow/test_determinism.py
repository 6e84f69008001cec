"""A run is a pure function of its config: the same bytes again, elsewhere, on other cores."""

import pytest

from .checkout import python

CHANGED = "mrp/tables/headline.parquet"
#: Made again in the same folder, with all that it needs, four trainings among them.
AGAIN = "results/smoke/mrp/figures/headline.svg"


def forced(checkout):
    """Some of it again in the same folder, on one core, with other ideas about threads around."""
    threads = {"OMP_NUM_THREADS": "3", "MKL_NUM_THREADS": "2", "OPENBLAS_NUM_THREADS": "5"}
    told = checkout.snakemake("--forceall", AGAIN, cores=1, env=threads).well()
    return checkout, told


def verified(checkout):
    """``verify``, which makes everything again elsewhere, with one byte changed."""
    file = checkout / f"results/smoke/{CHANGED}"
    content = bytearray(file.read_bytes())
    content[len(content) // 2] ^= 1
    file.write_bytes(content)
    return python(checkout.root, "scripts/verify.py", "--scale", "smoke", "--cores", "2")


def test_a_forced_run_on_one_core_gives_the_same_bytes(done, finished):
    checkout, told = forced(done())
    assert told.finished == told.planned
    assert told.planned["mrp_pretrain"] == told.planned["mrp_show_headline"] == 1
    made = checkout.made()
    assert {name: made[name] for name in finished.checksums()} == finished.checksums()


@pytest.mark.long
def test_a_run_in_another_folder_gives_the_same_bytes_and_a_changed_byte_is_named(done):
    told = verified(done())
    assert told.stdout.splitlines() == [f"{CHANGED}: differs on disk"], told.stdout + told.stderr
    assert told.returncode == 1
