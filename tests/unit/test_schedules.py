"""The learning rate of every step, to its closed forms and to PyTorch's own."""

import pytest
import torch

from featlearn.core.schedules import Part, Schedule
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
