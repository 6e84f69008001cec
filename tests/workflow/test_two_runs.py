"""Two runs in one folder at once: the second is refused, a dry run is not, the first goes on."""

from types import SimpleNamespace

import psutil
import pytest

from .checkout import Paused
from .trained import FIGURE, GROWTH, PRETRAINED, RESULTS

TARGET = f"{RESULTS}/{PRETRAINED}"


@pytest.fixture(scope="module")
def seen(fresh_toy):
    """A run stands in its training; a second one, a dry run and a run of another name come."""
    paused = Paused(fresh_toy().root)
    with paused.start_until(["toy_pretrain"], TARGET) as first:
        training = psutil.Process(paused.waiting()["toy_pretrain"])
        staged = paused.staged()
        second = paused.snakemake(TARGET)
        dry = paused.snakemake("--dry-run", TARGET)
        other = paused.snakemake(f"results/other/{FIGURE}", changes={"run": "other"})
        still = training.is_running() and paused.staged() == staged and len(staged) == 1
        paused.go_on()
        ended = first.wait()
    return SimpleNamespace(checkout=paused, first=ended, pid=first.pid, second=second, dry=dry,
                           other=other, still=still)  # fmt: skip


def test_the_second_run_is_refused_with_a_way_on_and_the_first_one_not_disturbed(
    seen, toy_finished
):
    seen.second.refused(
        f"another run (process {seen.pid}) is working in results/smoke", "--config run="
    )
    assert not seen.second.finished
    assert seen.dry.well().planned == {"toy_pretrain": 1}
    assert seen.other.well().finished == {"toy_averaging": 1, "toy_show_averaging": 1}
    assert seen.still
    assert seen.first.well().finished == {"toy_pretrain": 1}
    whole, made = toy_finished.made(), seen.checkout.made()
    assert set(made) == {PRETRAINED, GROWTH}
    assert {name: whole[name] for name in made} == made
    assert seen.checkout.staged() == []
