"""The learning rate of every step, random streams derived by name, lines of progress."""

from types import SimpleNamespace

import pytest
import torch

from featlearn.core.run.progress import Progress
from featlearn.core.seeds import Streams, derive_seed, generator, seeded
from featlearn.core.training.schedules import Part, Schedule
from featlearn.images.train.plan import Plan, Training


def test_a_cosine_is_the_one_of_pytorch():
    weight = torch.nn.Parameter(torch.zeros(1))
    optimiser = torch.optim.SGD([weight], lr=0.3)
    rival = torch.optim.lr_scheduler.CosineAnnealingLR(optimiser, T_max=40, eta_min=0.01)
    schedule = Schedule("cosine", steps=40, peak=0.3, end=0.01)
    for step in range(40):
        assert schedule.rate(step) == pytest.approx(optimiser.param_groups[0]["lr"])
        optimiser.step()
        rival.step()


RATES = {
    "half way to its end": (("cosine", 100, 1.0), {"end": 0.2}, {0: 1.0, 50: 0.6, 100: 0.2}),
    "rest after a warm-up": (("cosine", 30, 1.0), {"warmup": 10}, {20: 0.5, 30: 0.0}),
    "as long as its warm-up": (("cosine", 3, 1.0), {"warmup": 3}, {2: 0.75}),
    "constant": (("constant", 10, 0.3), {}, dict.fromkeys(range(10), 0.3)),
    "milestones": (("step", 10, 1.0), {"milestones": (3, 7), "factor": 0.1},
                   {0: 1.0, 2: 1.0, 3: 0.1, 6: 0.1, 7: 0.01, 9: 0.01}),
    **{f"warm-up to {kind}": ((kind, 100, 1.0), {"start": 0.5, "warmup": 4},
                              {0: 0.6, 1: 0.7, 2: 0.8, 3: 0.9, 4: 1.0})
       for kind in ("cosine", "constant", "step")},
}  # fmt: skip


@pytest.mark.parametrize(("given", "more", "rates"), RATES.values(), ids=RATES)
def test_a_schedule_has_its_rates(given, more, rates):
    schedule = Schedule(*given, **more)
    assert {step: schedule.rate(step) for step in rates} == pytest.approx(rates)


def test_parts_of_a_training_follow_one_schedule():
    whole = Schedule("cosine", 10, 0.1, warmup=2)
    parts = [Part(whole, 0, 4), Part(whole, 4, 6)]
    rates = [part.rate(step) for part in parts for step in range(part.steps)]
    assert rates == [whole.rate(step) for step in range(10)]


def test_all_three_rates_of_a_plan_scale_and_lengths_are_in_epochs():
    training = Training(
        batch_size=128, learning_rate=0.4, warmup_learning_rate=0.2, min_learning_rate=0.1,
        scale_from=512, epochs=20, warmup=2, milestones=(5, 10.5),
    )  # fmt: skip
    plan = Plan(training, images=1000)
    schedule = plan.schedule()
    assert plan.per_epoch == 8
    assert (schedule.steps, schedule.warmup, schedule.milestones) == (160, 16, (40, 84))
    assert (schedule.peak, schedule.start, schedule.end) == pytest.approx((0.1, 0.05, 0.025))


def test_lengths_are_in_steps_where_the_training_is():
    training = Training(batch_size=10, learning_rate=1, steps=50, warmup=5, milestones=(20,))
    schedule = Plan(training, images=100).schedule()
    assert (schedule.steps, schedule.warmup, schedule.milestones) == (50, 5, (20,))


@pytest.mark.parametrize("drop_last", [False, True])
@pytest.mark.parametrize("images", [24, 25, 29])
def test_a_plan_counts_what_was_seen(images, drop_last):
    plan = Plan(Training(batch_size=8, learning_rate=1, epochs=3, drop_last=drop_last), images)
    sizes = [plan.place(step)[2] for step in range(plan.steps)]
    seen = [plan.seen(step + 1) for step in range(plan.steps)]
    assert seen == torch.tensor(sizes).cumsum(0).tolist()
    assert sum(sizes) == 3 * (24 if drop_last else images)


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
    monkeypatch.setattr("featlearn.core.run.progress.time", clockwork)
    progress = Progress("images_train", 1000, interval=15)
    progress.report(900, dict)
    progress.report(910, dict)
    assert "at most 3:00 left" in capsys.readouterr().err
