"""Loops go on where they were killed, and only within a job; a job of each kind, fifty times."""

import json
import os
import signal
import subprocess
import sys
from functools import cache
from pathlib import Path

import pytest
import torch

from featlearn.contrastive.data import SparseCoding, draw_dictionary
from featlearn.contrastive.model import initial_weights
from featlearn.contrastive.train import Learner, Thresholds, Training
from featlearn.contrastive.train import train as train_contrastive
from featlearn.core.errors import DivergedError
from featlearn.core.seeds import Streams, generator, seeded
from featlearn.core.training import loops
from featlearn.core.training.loops import Loop, Terminated
from featlearn.core.training.schedules import Schedule
from featlearn.emergence.data import Law, World, sample
from featlearn.emergence.model import symmetric_start, with_one
from featlearn.emergence.train import batches, train_network
from featlearn.fourier import train as fourier
from featlearn.fourier.network import normal_start
from featlearn.images.data.datasets import Labelled
from featlearn.images.encoders import build_encoder
from featlearn.mrp.data import Samples
from featlearn.mrp.model import Activation
from featlearn.mrp.train import fit, pretrain, train_classifier
from featlearn.noncontrastive.data import PatchData
from featlearn.noncontrastive.train import Variant, canonical_neurons
from featlearn.noncontrastive.train import train as train_noncontrastive
from featlearn.nuclear.training import Net, Stack, Trial
from featlearn.nuclear.training import train as train_domains
from featlearn.transformers import train as tokens
from featlearn.transformers.decoder import Decoder, Shape, start

STEPS = 12


def problem():
    """Samples (3, 8, 4, 6), kernels (3, 5, 6), features (3, 2, 1, 6) of three replicates."""
    stream = generator(0, "resumed-loops")
    x = torch.rand(3, 8, 4, 6, generator=stream)
    w = torch.rand(3, 5, 6, generator=stream) * 0.3
    return x, w, torch.eye(6)[:2].view(1, 2, 1, 6).expand(3, 2, 1, 6)


def pretraining():
    x, w, features = problem()
    # replicates end at different steps
    rate = torch.tensor([0.05, 0.3, 0.8])
    done = pretrain(
        x, features, w, Activation(3, 0.2), theta=0.5, captured_at=0.35, learning_rate=rate,
        max_steps=STEPS, record_every=2, observe=lambda w, _: {"norm": w.norm(dim=(1, 2))},
    )  # fmt: skip
    assert len(set(done.stopped.tolist())) > 1
    return {
        **{name: getattr(done, name) for name in ("w", "at_capture", "hit", "stopped", "diverged")},
        **done.trace.state(),
        "steps": torch.tensor(done.trace.steps),
    }


def classification():
    x, w, features = problem()
    y = torch.arange(8).remainder(2).expand(3, 8)
    done = train_classifier(
        x, y, w, torch.zeros(3, 2, 5), Activation(3, 0.2), encoder_rate=0.1, head_rate=0.2,
        steps=STEPS, features=features, record_every=5,
    )  # fmt: skip
    return {"w": done.w, "u": done.u, **done.trace.state()}


def supervised():
    """Replicates of different ease end at different steps; one is looked at on the way."""
    stream = generator(0, "resumed-loops", "supervised")
    x = torch.rand(3, 8, 4, 6, generator=stream)
    y = torch.arange(8).remainder(2).expand(3, 8)
    x[:, :, 0, :2] += torch.tensor([4.0, 2.0, 0.0]).view(3, 1, 1) * torch.eye(2)[y]
    w = torch.rand(3, 4, 6, generator=stream) * 0.3
    head = torch.tensor([[1.0, 1, 0, 0], [0, 0, 1, 1]]).expand(3, 2, 4).contiguous()
    nothing = torch.zeros(())
    looks = []
    done = fit(
        [Samples(x, y, nothing, nothing, nothing, nothing, nothing)], w, head, Activation(3, 0.2),
        learning_rate=1.0, tolerance=0.3, max_steps=STEPS, report=lambda step, see: None,
        check_every=3, watch=lambda step, kernels: looks.append((step, kernels.clone())),
        watched=(1, 4),
    )  # fmt: skip
    assert len(set(done.steps.tolist())) > 1
    return {**done._asdict(), **{f"look/{step}": kernels for step, kernels in looks}}


def watched(w, b):
    return {"z": w.norm(dim=-1), "a": b.clone()}


def contrastive(learning_rate=0.5):
    spec, streams = SparseCoding(atoms=8, dimension=32), Streams(0, "resumed", "loops", range(2))
    atoms = draw_dictionary(spec, streams("d")).to("cpu").atoms
    w = initial_weights(6, spec.dimension, 0.1, streams("w"))
    training = Training(anchors=8, negatives=8, learning_rate=learning_rate, steps=STEPS)
    own = Learner(spec, atoms, w, training, Thresholds(growth=1.5), streams("x"))
    done = train_contrastive(own, record_every=3, observe=watched)
    found = {"w": done.w, "b": done.b, "t1": done.t1, "t2": done.t2}
    for name, (w, b) in done.moments.items():
        found |= {f"{name}/w": w, f"{name}/b": b}
    for name in done.history[0]:
        found[f"seen/{name}"] = torch.stack([each[name] for each in done.history])
    return found


def noncontrastive():
    spec = PatchData(dimension=32, patches=4, feature_patches=2, strengths=(3.0, 2.0))
    streams = Streams(0, "resumed", "loops", range(2))
    start = canonical_neurons(32, streams("neurons"), torch.float32)
    variants = {"head": Variant(0.1, 0.05), "frozen": Variant(0.1, 0.0)}
    told = train_noncontrastive(
        spec, variants, start, streams, samples=8, steps=STEPS, record_every=3
    )
    return {
        f"{each.step}/{name}": value
        for each in told
        for name, value in {**vars(each.state), "loss": each.loss}.items()
    }


def emergence():
    law, streams = Law("parity", 8, 3), Streams(0, "resumed", "loops", range(2))
    drawn = sample(World.draw(law, streams("world")), 40, streams("data"))
    x, y = with_one(drawn.phi), drawn.y
    start = symmetric_start(4, 8, (0.5, 0.3, 0.5), streams("start"))
    order = batches(40, 10, STEPS, streams("order"))
    stage = {"weight_rate": 0.1, "head_rate": 0.1, "momentum": 0.9}
    seen = lambda step, own: own.a.clone() if step % 3 == 0 else None  # noqa: E731
    end, found = train_network(start, x, y, order, stage, seen)
    return {"rows": end.rows, "a": end.a, **{f"seen/{step}": a for step, a in found.items()}}


def decoders(enough=None):
    """Two decoders that repeat their last token, from batches that they draw."""
    streams = Streams(0, "transformers", "resumed", range(2))
    shape = Shape(words=5, width=4, layers=1, heads=1, head_width=4, hidden=6, length=2)
    draws = streams("batches")

    def loss(weights, left=slice(None)):
        seen = torch.stack([torch.randint(5, (8, 2), generator=draw) for draw in draws])[left]
        logits = Decoder(shape, weights)(seen)
        return -logits.log_softmax(-1).gather(3, seen[..., None]).mean((1, 2, 3))

    recipe = tokens.Recipe(Schedule("cosine", STEPS, 0.01, warmup=2), 0.1, look_every=3)
    weights, looks = tokens.train(
        "decoders", start(shape, streams("start")), loss, recipe, streams=draws,
        see=lambda weights, *_: {"first": weights["unembed"][:, 0, 0].clone()}, enough=enough,
    )  # fmt: skip
    seen = {f"look/{look.step}": look.seen["first"].nan_to_num(7) for look in looks}
    return {**weights, **seen}


def leaving():
    """The first of the two decoders leaves after 6 steps."""
    return decoders(lambda looks: torch.tensor([len(looks) >= 3, False]))


def left():
    return decoders(lambda looks: torch.tensor([True, looks[-1].step == STEPS]))


def polynomials():
    """Two networks on sums modulo 5, of batches; the second with weight decay."""
    streams = Streams(0, "fourier", "resumed", range(2))
    network = normal_start(2, 5, 4, 0.3, streams("start"))
    training = fourier.Training(STEPS, 0.01, 8, "cosine", warmup=2)
    order = fourier.batches(torch.arange(25).expand(2, -1), 2, 5, training, streams("batches"))
    end, seen = fourier.train(
        network, order, training, torch.tensor([1e-3, 0.0]), torch.tensor([0.0, 0.1]),
        lambda step, own: own.w.sum((1, 2)) if step % 3 == 0 else None,
    )  # fmt: skip
    return {**end._asdict(), **{f"seen/{step}": value for step, value in seen.items()}}


def domains():
    """Two trials with two algorithms."""
    stream = generator(0, "resumed-loops", "domains")
    pixels = [torch.randint(256, (6, 3, 4, 4), generator=stream) for _ in range(3)]
    *learned, chosen = [Labelled(x.byte(), torch.arange(6) % 2) for x in pixels]
    trials = [Trial(learned, chosen, (0, "resumed", trial)) for trial in range(2)]
    arms = [{"nu": 0.1}, {"mixup": 0.2}]
    training = {
        "steps": 13, "rate": 0.1, "weight_decay": 0.0, "batch_size": 2, "checkpoint_every": 2,
        "swad": {"converge": 2, "tolerance": 2, "ratio": 0.1},
    }  # fmt: skip
    sight = lambda images, draws: images.float() / 255  # noqa: E731

    with seeded(0, "domains"):
        encoder = build_encoder({"kind": "small_resnet", "widths": [2], "norm": "batch"}, 4)
        stack = Stack([Net(encoder, 4, 2) for _ in range(4)], "cpu")
    with Loop("domains", dict(enumerate(pixels))) as loop:
        done = train_domains(stack, trials, arms, training, sight, loop)
    return {
        f"{state}/{name}": value
        for state in ("best", "swad", "last")
        for name, value in getattr(done, state).items()
    }


KINDS = {
    "domains": domains, "decoders": decoders, "leaving": leaving, "left": left,
    "emergence": emergence, "polynomials": polynomials, "pretraining": pretraining,
    "classification": classification, "supervised": supervised, "contrastive": contrastive,
    "noncontrastive": noncontrastive,
}  # fmt: skip


@cache
def whole(kind):
    return KINDS[kind]()


class Killed(Exception):
    """Stands for SIGKILL."""


@pytest.fixture
def offered(tmp_path):
    def offer(seconds=0.0):
        loops.offer(lambda: tmp_path / "kept", seconds)
        return tmp_path / "kept"

    yield offer
    loops.withdraw()


def dies_after(monkeypatch, count, how):
    """``how()`` is done when the ``count``-th state was kept."""
    calls, after = [], Loop.after

    def counted(self, step, state):
        after(self, step, state)
        calls.append(step)
        if len(calls) == count:
            how()

    monkeypatch.setattr(Loop, "after", counted)
    return calls


def killed():
    raise Killed


def interrupted(kind, monkeypatch, count, how=killed, error=Killed):
    with monkeypatch.context() as patch:
        calls = dies_after(patch, count, how)
        with pytest.raises(error) as caught:
            KINDS[kind]()
    return calls, caught.value


def same(one, two):
    return list(one) == list(two) and all(torch.equal(one[name], two[name]) for name in one)


@pytest.mark.parametrize("count", [1, 4, 11])
@pytest.mark.parametrize("kind", KINDS)
def test_a_killed_loop_ends_in_the_same_bytes(kind, count, offered, monkeypatch):
    undisturbed = whole(kind)
    offered()
    kept, _ = interrupted(kind, monkeypatch, count)
    offered()
    with monkeypatch.context() as patch:
        made = dies_after(patch, 0, killed)
        found = KINDS[kind]()
    assert same(found, undisturbed)
    assert made[0] == kept[-1] + 1


def test_a_loop_that_is_killed_with_no_network_left_is_not_trained_on(offered, monkeypatch):
    def all_leave():
        return decoders(lambda looks: torch.tensor([len(looks) >= 2, len(looks) >= 3]))

    undisturbed = all_leave()
    monkeypatch.setitem(KINDS, "all leave", all_leave)
    offered()
    kept, _ = interrupted("all leave", monkeypatch, 6)
    offered()
    with monkeypatch.context() as patch:
        made = dies_after(patch, 0, killed)
        assert same(all_leave(), undisturbed)
    assert (kept[-1], made) == (6, [])


@pytest.mark.parametrize("kind", KINDS)
def test_a_loop_that_is_told_to_end_keeps_its_state_first(kind, offered, monkeypatch, capsys):
    undisturbed = whole(kind)
    before = signal.signal(signal.SIGTERM, lambda *_: (_ for _ in ()).throw(Terminated()))
    try:
        folder = offered(1e9)
        _, error = interrupted(
            kind, monkeypatch, 5, lambda: os.kill(os.getpid(), signal.SIGTERM), Terminated
        )
        assert error.code == 143
        assert len(list(folder.rglob("*.safetensors"))) == 1
        offered(1e9)
        assert same(KINDS[kind](), undisturbed)
        assert " goes on after step " in capsys.readouterr().err
    finally:
        signal.signal(signal.SIGTERM, before)


def test_outside_of_a_job_nothing_is_kept_and_a_signal_is_left_alone(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    handler = signal.getsignal(signal.SIGTERM)
    with Loop("alone", {"w": torch.ones(2)}) as loop:
        assert signal.getsignal(signal.SIGTERM) == handler
        assert loop.latest() is None
        loop.after(1, killed)
    assert list(tmp_path.iterdir()) == []


def test_every_loop_of_a_job_has_a_place_of_its_own(offered):
    """The second is the same training again: it must not find the first one's state."""
    folder = offered()
    one, two = pretraining(), pretraining()
    assert same(one, two)
    assert sorted(path.name for path in folder.iterdir()) == ["loop-1", "loop-2"]


def test_a_loop_with_another_start_begins_anew_and_says_why(offered, capsys):
    def loop(value):
        offered()
        with Loop("a loop", {"w": torch.full((2,), value)}) as own:
            found = own.latest()
            own.after(1, lambda: ({"w": torch.zeros(2)}, {}))
        return found

    assert loop(1.0) is None
    assert loop(1.0).step == 1
    assert loop(2.0) is None
    assert "belong to trainings with other settings" in capsys.readouterr().err


def test_a_contrastive_training_that_leaves_the_finite_numbers_says_so():
    with pytest.raises(DivergedError, match=r"step \d+ of 12: .* learning rate 1e\+30; lower it"):
        contrastive(learning_rate=1e30)


KILLS = 50
SCRIPT = Path(__file__).with_name("killed_jobs.py")


@pytest.mark.long
@pytest.mark.parametrize("kind", ["images", "mrp", "nuclear"])
def test_fifty_random_kills_change_no_byte(kind, tmp_path):
    done = subprocess.run(
        [sys.executable, str(SCRIPT), str(tmp_path), kind, str(KILLS)],
        env={**os.environ, "OMP_NUM_THREADS": "1"}, capture_output=True, text=True, timeout=600,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    told = json.loads(done.stdout.splitlines()[-1])
    assert told["kills"] == KILLS
    assert set(told["ends"]) == {0}
    # how many found a checkpoint depends on the machine; none would mean that none is written
    assert told["resumed"] > 0
    assert told["wrong"] == []
    assert told["half"] == []
    assert told["files"]
    assert not any((tmp_path / "results/smoke/.checkpoints").rglob("*.safetensors"))
