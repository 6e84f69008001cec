"""Two runs in one folder: the second is refused; and runs elsewhere that give the same bytes."""

import psutil
import pytest

from .checkout import Paused, python
from .trained import FIGURE, GROWTH, PRETRAINED, RESULTS

pytestmark = pytest.mark.long
TARGET = f"{RESULTS}/{PRETRAINED}"


def test_the_second_run_is_refused_with_a_way_on_and_the_first_one_not_disturbed(
    fresh_toy, toy_finished
):
    """A run stands in its training; a second one, a dry run and a run of another name come."""
    paused = Paused(fresh_toy().root)
    with paused.start_until(["toy_pretrain"], TARGET) as first:
        training = psutil.Process(paused.waiting()["toy_pretrain"])
        staged = paused.staged()
        second = paused.snakemake(TARGET)
        dry = paused.snakemake("--dry-run", TARGET)
        other = paused.snakemake(f"results/other/{FIGURE}", changes={"run": "other"})
        assert training.is_running()
        assert paused.staged() == staged
        assert len(staged) == 1
        paused.go_on()
        assert first.wait().well().finished == {"toy_pretrain": 1}
    second.refused(
        f"another run (process {first.pid}) is working in results/smoke", "--config run="
    )
    assert not second.finished
    assert dry.well().planned == {"toy_pretrain": 1}
    assert other.well().finished == {"toy_averaging": 1, "toy_show_averaging": 1}
    whole, made = toy_finished.made(), paused.made()
    assert set(made) == {PRETRAINED, GROWTH}
    assert {name: whole[name] for name in made} == made
    assert paused.staged() == []


CHANGED = "mrp/tables/headline.parquet"
#: Made again in the same folder, with all that it needs, four trainings among them.
AGAIN = "results/smoke/mrp/figures/headline.svg"


def test_a_forced_run_on_one_core_gives_the_same_bytes(done, finished):
    """Some of it again in the same folder, with other ideas about threads around."""
    checkout = done()
    threads = {"OMP_NUM_THREADS": "3", "MKL_NUM_THREADS": "2", "OPENBLAS_NUM_THREADS": "5"}
    told = checkout.snakemake("--forceall", AGAIN, cores=1, env=threads).well()
    assert told.finished == told.planned
    assert told.planned["mrp_pretrain"] == told.planned["mrp_show_headline"] == 1
    made = checkout.made()
    assert {name: made[name] for name in finished.checksums()} == finished.checksums()


def test_a_run_in_another_folder_gives_the_same_bytes_and_a_changed_byte_is_named(done):
    checkout = done()
    file = checkout / f"results/smoke/{CHANGED}"
    content = bytearray(file.read_bytes())
    content[len(content) // 2] ^= 1
    file.write_bytes(content)
    told = python(checkout.root, "scripts/verify.py", "--scale", "smoke", "--cores", "2")
    assert told.stdout.splitlines() == [f"{CHANGED}: differs on disk"], told.stdout + told.stderr
    assert told.returncode == 1
