"""Random streams derived by name, and lines of progress."""

from types import SimpleNamespace

import pytest
import torch

from featlearn.core.progress import Progress
from featlearn.core.seeds import Streams, derive_seed, generator, seeded


def draw(stream: torch.Generator) -> list[float]:
    return torch.rand(4, generator=stream, dtype=torch.float64).tolist()


def test_the_seed_of_a_stream_never_changes_and_fits_63_bits():
    # printf '0/mrp/headline/3/train-data' | sha256sum -> ae29e3920670f517..., shifted by one bit
    assert derive_seed(0, "mrp", "headline", 3, "train-data") == 0xAE29E3920670F517 >> 1
    assert derive_seed(0, "mrp", "headline", 3, "train-data") == 6274906026478697099
    assert draw(generator(7, "a")) == draw(torch.Generator().manual_seed(derive_seed(7, "a")))
    seeds = [derive_seed(number) for number in range(200)]
    assert 2**62 < max(seeds) < 2**63  # the whole range is used
    assert min(seeds) >= 0


@pytest.mark.parametrize("name", [(), ("",), ("a", "", "b"), ("a/b",), ("a", "b/c"), (0, "/")])
def test_a_name_that_could_collide_with_another_is_refused(name):
    with pytest.raises(ValueError, match="stream name"):
        derive_seed(*name)


def test_another_replicate_does_not_move_the_ones_that_are_there():
    few = Streams(0, "mrp", "headline", [0, 1])("train-data")
    more = Streams(0, "mrp", "headline", [2, 0, 1])("train-data")
    drawn = [draw(stream) for stream in more]
    assert drawn[1:] == [draw(stream) for stream in few]
    assert drawn[0] not in drawn[1:]
    with pytest.raises(ValueError, match="replicates"):
        Streams(0, "mrp", "headline", [])


def test_asking_for_a_purpose_again_starts_its_stream_anew():
    streams = Streams(0, "mrp", "headline", [0])
    first = draw(streams("init")[0])
    draw(streams("train-data")[0])
    assert draw(streams("init")[0]) == first


def test_global_draws_follow_a_name_and_go_on_undisturbed_afterwards():
    torch.manual_seed(3)
    expected = torch.rand(2).tolist()
    torch.manual_seed(3)
    with seeded(0, "mrp", "encoder"):
        inside = torch.rand(4, dtype=torch.float64).tolist()
    assert torch.rand(2).tolist() == expected
    assert inside == draw(generator(0, "mrp", "encoder"))


def test_nothing_is_computed_or_said_before_a_line_is_due(capsys):
    def costly():
        raise AssertionError("asked although no line is due")

    Progress("mrp_pretrain", 200, interval=1e9).report(50, costly)
    assert capsys.readouterr().err == ""


def test_the_time_left_of_a_resumed_run_follows_the_steps_it_made_itself(capsys, monkeypatch):
    now = iter([0.0, 10.0, 30.0])  # made; first call; after ten steps of two seconds
    clockwork = SimpleNamespace(monotonic=lambda: next(now))
    monkeypatch.setattr("featlearn.core.progress.time", clockwork)
    progress = Progress("images_train", 1000, interval=15)
    progress.report(900, dict)
    progress.report(910, dict)
    assert "at most 3:00 left" in capsys.readouterr().err
