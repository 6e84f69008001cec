"""The command line itself: help, words for what is refused, defaults that fit a set's size."""

from __future__ import annotations

import subprocess
import sys

import pytest

from featlearn.command import COMMANDS, main
from featlearn.command.flow import fitting, settings_of
from featlearn.core.errors import ConfigError


def test_help_shows_an_example_of_each_and_imports_nothing_heavy():
    code = (
        "import sys; from featlearn.command import parser; "
        "print(parser().format_help()); print({'torch', 'pandas'} & set(sys.modules))"
    )
    told = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert told.stdout.endswith("set()\n")
    for name, (_, _, shown) in COMMANDS.items():
        assert f"featlearn {name}" in shown


@pytest.mark.parametrize("words", [["run", "-h"], ["images", "-h"], ["cam", "-h"]])
def test_a_command_has_an_example(words, capsys):
    with pytest.raises(SystemExit) as ended:
        main(words)
    assert ended.value.code == 0
    assert f"example: featlearn {words[0]} " in " ".join(capsys.readouterr().out.split())


def test_settings_lead_into_groups():
    found = settings_of(["a.b=1", "a.c=[x, 2.5]", "d=true"])
    assert found == {"a": {"b": 1, "c": ["x", 2.5]}, "d": True}


@pytest.mark.parametrize("pair", ["a", "=1", "a..b=1", "a=[", "a=!!python/name:os.system"])
def test_what_is_no_setting_is_refused(pair):
    with pytest.raises(ConfigError, match="--set"):
        settings_of([pair])


@pytest.mark.parametrize("count", [4, 60, 500, 5000])
def test_an_epoch_has_steps_whatever_the_size_of_the_set(count, tmp_path):
    made = fitting(tmp_path, count, 64, 3)
    batch = made["pretraining"]["training"]["batch_size"]
    assert 4 <= batch <= 64
    assert batch == 4 or 0.8 * count >= 4 * batch


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["images", "nowhere"], "nowhere: no such folder"),
        (["run", "--configfile", "nowhere.yaml"], "nowhere.yaml: no such config file"),
        (["cam", "nowhere.safetensors", "a.jpg"], "nowhere.safetensors"),
        (["verify", "--", "-n"], "takes nothing behind --"),
    ],
)
def test_what_is_refused_is_told_in_words(words, told, capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert main(words) == 2
    said = capsys.readouterr().err
    assert said.startswith(f"featlearn {words[0]}: ")
    assert told in said


@pytest.mark.parametrize("shell", ["bash", "zsh"])
def test_completion_knows_commands_and_options(shell, capsys):
    assert main(["completion", shell]) == 0
    script = capsys.readouterr().out
    assert "run images cam" in script
    assert "--replicates" in script
    subprocess.run(["bash", "-n"], input=script, text=True, check=True)
