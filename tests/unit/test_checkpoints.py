"""Interrupted anywhere, a training ends in the bytes of an undisturbed one."""

import os
import signal
import subprocess
import sys
import textwrap
import time
from pathlib import Path

import pytest
import torch
from torch import nn

from featlearn.core.files import write_parquet
from featlearn.core.run.provenance import SOURCE_ROOT
from featlearn.core.training import optimisers
from featlearn.core.training.loops import Checkpoint, Checkpoints
from unit.tiny_training import TinyClassifier, same, train

EVERY = {"checkpoint_every": {"steps": 2}}


class Killed(Exception):
    """Stands for SIGKILL: nothing in the loop expects it."""


def interrupted(folder, after, **settings):
    def report(step, see):
        if step == after:
            raise Killed

    with pytest.raises(Killed):
        train(folder=folder, report=report, **settings)


def equal_bytes(one, two, folder):
    for name, history in (("one", one[0]), ("two", two[0])):
        write_parquet(history, folder / name)
    return (folder / "one").read_bytes() == (folder / "two").read_bytes() and same(one[1], two[1])


@pytest.fixture(scope="module")
def undisturbed():
    return train(**EVERY)


@pytest.mark.parametrize("after", [1, 2, 3, 7, 11, 12])
def test_a_killed_training_ends_in_the_same_bytes(after, tmp_path, undisturbed):
    interrupted(tmp_path / "kept", after, **EVERY)
    assert equal_bytes(train(folder=tmp_path / "kept", **EVERY), undisturbed, tmp_path)


@pytest.mark.parametrize("settings", [
    {"optimiser": "sgd"},
    {"clip": 0.1, "accumulate": 2, "layer_decay": 0.5},
    {"precision": "bfloat16"},
    {"channels_last": False, "warmup": 1, "drop_last": True, "record_every": 5},
])  # fmt: skip
def test_every_kind_of_training_is_resumed_to_the_byte(settings, tmp_path):
    settings = {**EVERY, "checkpoint_every": {"steps": 3}, **settings}
    for after in (4, 8):
        interrupted(tmp_path / "kept", after, **settings)
    assert equal_bytes(train(folder=tmp_path / "kept", **settings), train(**settings), tmp_path)


def test_a_resumed_training_makes_the_steps_that_are_left_and_keeps_two_states(tmp_path, capsys):
    interrupted(tmp_path, 7, **EVERY)
    begun = tmp_path / f".{newest(tmp_path).name}.999999"  # by a process that was killed
    begun.write_bytes(b"half")
    made = []
    train(folder=tmp_path, report=lambda step, see: made.append(step), **EVERY)
    assert made == list(range(7, 13))
    assert not begun.exists()
    assert "goes on after step 6 of 12" in capsys.readouterr().err
    train(folder=tmp_path, **EVERY)
    steps = sorted(path.name.partition("-")[2] for path in tmp_path.iterdir())
    assert steps == [f"{step:09d}.{kind}" for step in (10, 12) for kind in ("json", "safetensors")]


def test_a_finished_training_is_not_trained_again(tmp_path, undisturbed):
    train(folder=tmp_path / "kept", **EVERY)
    made = []
    again = train(folder=tmp_path / "kept", report=lambda step, see: made.append(step), **EVERY)
    assert made == []
    assert equal_bytes(again, undisturbed, tmp_path)


@pytest.mark.parametrize("seconds", [1e-9, 1e9])
def test_how_often_a_checkpoint_is_written_changes_no_byte(seconds, tmp_path, undisturbed):
    found = train(folder=tmp_path / "kept", checkpoint_every={"seconds": seconds})
    assert equal_bytes(found, undisturbed, tmp_path)


def newest(folder: Path) -> Path:
    return max(folder.glob("*.safetensors"))


def torn(content: bytes, how: str) -> bytes:
    """What may be left of a file: cut, zeroed, with a bit turned, or of something else."""
    half = len(content) // 2
    kinds = {
        "empty": b"", "one byte": content[:1], "half": content[:half],
        "all but one byte": content[:-1], "longer": content + b"\0", "zeros": bytes(len(content)),
        "zeros in the second half": content[:half] + bytes(len(content) - half),
        "other words": b'["no", "record"]',
    }  # fmt: skip
    if how in kinds:
        return kinds[how]
    place = int(how.removeprefix("bit at ").removesuffix(" %")) * (len(content) - 1) // 100
    turned = content[place] ^ 1 << place % 8
    return content[:place] + bytes([turned]) + content[place + 1 :]


WAYS = ("empty", "one byte", "half", "all but one byte", "longer", "zeros",
        "zeros in the second half", "other words",
        *(f"bit at {share} %" for share in range(0, 101, 25)))  # fmt: skip


@pytest.mark.parametrize("file", ["tensors", "record", "all"])
@pytest.mark.parametrize("how", WAYS)
def test_however_a_checkpoint_is_torn_the_bytes_in_the_end_are_the_same(
    how, file, tmp_path, capsys, undisturbed
):
    kept = tmp_path / "kept"
    interrupted(kept, 9, **EVERY)
    if file == "all":
        min(kept.glob("*.safetensors")).unlink()
    path = newest(kept).with_suffix(".json") if file == "record" else newest(kept)
    before = path.read_bytes()
    path.write_bytes(torn(before, how))
    assert path.read_bytes() != before
    assert equal_bytes(train(folder=kept, **EVERY), undisturbed, tmp_path)
    if file == "tensors":
        assert "goes on after step 6 of 12" in capsys.readouterr().err


@pytest.mark.parametrize("call", range(1, 5))
def test_a_kill_while_a_checkpoint_is_written_costs_no_more_than_that(
    call, tmp_path, monkeypatch, undisturbed
):
    """Killed at the rename of tensors or of a record, of the first or the second checkpoint."""
    calls, rename = [], os.replace

    def dies(source, destination):
        calls.append(destination)
        if len(calls) == call:
            raise KeyboardInterrupt
        rename(source, destination)

    kept = tmp_path / "kept"
    monkeypatch.setattr("os.replace", dies)
    with pytest.raises(KeyboardInterrupt):
        train(folder=kept, **EVERY)
    monkeypatch.undo()
    assert equal_bytes(train(folder=kept, **EVERY), undisturbed, tmp_path)
    assert not list(kept.glob(".*"))


@pytest.mark.parametrize("changed", [{"learning_rate": 0.02}, {"epochs": 4}, {"count": 30}, {}])
def test_a_training_with_other_settings_images_or_weights_starts_at_its_first_step(
    changed, tmp_path, capsys
):
    def started():
        return TinyClassifier(seed=int(not changed))

    kept = tmp_path / "kept"
    interrupted(kept, 9, **EVERY)
    before = {path.name: path.read_bytes() for path in kept.iterdir()}
    result = train(started(), folder=kept, **EVERY, **changed)
    said = capsys.readouterr().err
    assert "belong to trainings with other settings" in said
    assert "goes on" not in said
    assert equal_bytes(result, train(started(), **EVERY, **changed), tmp_path)
    assert before.items() <= {path.name: path.read_bytes() for path in kept.iterdir()}.items()


def test_tied_weights_and_scalars_come_back(tmp_path):
    tied = torch.arange(6.0).view(2, 3)
    tensors = {"a": tied, "b": tied, "step": torch.tensor(3), "h": torch.ones(2).bfloat16()}
    kept = Checkpoints(tmp_path, {"run": 1})
    kept.save(Checkpoint(5, tensors, {"names": ["x"], "value": 0.1 + 0.2}))
    found = kept.latest()
    assert (found.step, found.plain) == (5, {"names": ["x"], "value": 0.1 + 0.2})
    assert found.tensors.keys() == tensors.keys()
    assert all(torch.equal(found.tensors[name], tensors[name]) for name in tensors)


def test_the_state_of_an_optimiser_keeps_the_order_in_memory():
    module = nn.Conv2d(3, 4, 3).to(memory_format=torch.channels_last)
    optimiser = optimisers.build("adamw", [{"params": list(module.parameters())}])
    module(torch.ones(1, 3, 5, 5)).sum().backward()
    optimiser.step()
    state = {
        name: value.contiguous()
        for name, value in optimisers.state_tensors(optimiser, module).items()
    }
    other = optimisers.build("adamw", [{"params": list(module.parameters())}])
    optimisers.load_state_tensors(other, module, state)
    for quantity, value in optimiser.state[module.weight].items():
        again = other.state[module.weight][quantity]
        assert torch.equal(again, value)
        assert (again.stride(), again.dtype) == (value.stride(), value.dtype)


@pytest.fixture
def job_like_handler():
    def end(*_):
        raise SystemExit("ended by SIGTERM")

    before = signal.signal(signal.SIGTERM, end)
    yield end
    signal.signal(signal.SIGTERM, before)


def test_a_training_that_is_told_to_end_saves_and_leaves(tmp_path, job_like_handler, undisturbed):
    def report(step, see):
        if step == 5:
            os.kill(os.getpid(), signal.SIGTERM)
            time.sleep(0.05)

    kept = tmp_path / "kept"
    seldom = {"checkpoint_every": {"seconds": 1e9}}
    with pytest.raises(SystemExit, match="SIGTERM"):
        train(folder=kept, report=report, **seldom)
    assert signal.getsignal(signal.SIGTERM) is job_like_handler
    assert newest(kept).name.endswith("000000005.safetensors")
    assert equal_bytes(train(folder=kept, **seldom), undisturbed, tmp_path)


@pytest.mark.usefixtures("job_like_handler")
def test_without_a_folder_a_training_ends_at_once():
    made = []

    def report(step, see):
        made.append(step)
        if step == 5:
            os.kill(os.getpid(), signal.SIGTERM)
            time.sleep(60)  # is interrupted

    with pytest.raises(SystemExit, match="SIGTERM"):
        train(report=report)
    assert made == [1, 2, 3, 4, 5]


VICTIM = """
    import sys, time
    sys.path[:0] = {path!r}
    from unit.tiny_training import train
    def report(step, see):
        print(step, flush=True)
        time.sleep(0.02)
    train(folder={folder!r}, report=report, checkpoint_every={{"steps": 1}})
"""


@pytest.mark.long
def test_a_process_that_is_killed_for_real_is_taken_up(tmp_path, undisturbed):
    kept = tmp_path / "kept"
    path = [str(Path(__file__).resolve().parents[1]), str(SOURCE_ROOT)]
    source = textwrap.dedent(VICTIM.format(path=path, folder=str(kept)))
    environment = {**os.environ, "OMP_NUM_THREADS": "1"}
    with subprocess.Popen(
        [sys.executable, "-c", source], env=environment, stdout=subprocess.PIPE, text=True
    ) as process:
        try:
            assert any(int(line) == 5 for line in process.stdout)
        finally:
            process.kill()
    assert process.wait() == -signal.SIGKILL
    made = []
    found = train(folder=kept, report=lambda step, see: made.append(step))
    assert made[0] >= 5
    assert equal_bytes(found, undisturbed, tmp_path)
