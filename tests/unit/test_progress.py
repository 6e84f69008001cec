"""The line that tells how far a job is."""

from types import SimpleNamespace

from featlearn.core.progress import Progress


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
