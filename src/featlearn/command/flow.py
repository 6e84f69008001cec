"""Commands that start the workflow: everything lands in the folder that they are called in."""

from __future__ import annotations

import argparse
import contextlib
import hashlib
import os
import signal
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import yaml

from featlearn.core.errors import ConfigError, FeatlearnError
from featlearn.core.run.config import load, merge, read_yaml, refuse_papers
from featlearn.core.run.guard import template_fault

PACKAGE = Path(__file__).resolve().parents[1]
#: Exit code of what Ctrl-C ended.
STOPPED = 130


def workflow() -> Path:
    """Folder of the workflow: inside of the package that is installed, or the clone."""
    installed = PACKAGE / "_workflow"
    root = installed if installed.is_dir() else PACKAGE.parents[1]
    if not (root / "Snakefile").is_file():
        raise FeatlearnError(
            f"{root}: holds no Snakefile; expected the repository, or an installed featlearn"
        )
    return root


def settings_of(pairs: Sequence[str]) -> dict[str, Any]:
    """``a.b=1`` as ``{"a": {"b": 1}}``, values read as YAML."""
    found: dict[str, Any] = {}
    for pair in pairs:
        key, sign, text = pair.partition("=")
        if not sign or not all(key.split(".")):
            raise ConfigError(f"--set {pair}: expected KEY=VALUE")
        value = yaml_value(f"--set {key}", text)
        for part in reversed(key.split(".")):
            value = {part: value}
        found = merge(found, value)
    return found


def yaml_value(where: str, text: str) -> Any:
    """A value of the command line; ConfigError with ``where`` it stands."""
    try:
        return yaml.safe_load(text)
    except (yaml.YAMLError, ValueError, RecursionError) as error:
        raise ConfigError(f"{where}: {text!r} is no value of YAML") from error


def snakemake(
    targets: Sequence[str], options: argparse.Namespace, files: Sequence[str],
    settings: Mapping[str, Any],
) -> int:  # fmt: skip
    """Run Snakemake in this folder. ``settings`` win over the config files ``files``."""
    root = workflow()
    given = list(files)
    if settings:
        text = yaml.safe_dump(dict(settings), allow_unicode=True, sort_keys=False)
        name = hashlib.sha256(text.encode()).hexdigest()[:12]
        file = Path(".snakemake") / f"featlearn-set-{name}.yaml"
        file.parent.mkdir(exist_ok=True)
        file.write_text(text, encoding="utf-8")
        given.append(str(file))
    refuse_config(given, root)
    command = [*(sys.executable, "-P", "-m", "snakemake", "--snakefile", str(root / "Snakefile")),
               *("--workflow-profile", str(root / "profiles" / "default")),
               *("--cores", options.cores), *(["--dry-run"] if options.dry_run else []), *targets,
               *options.rest, *(["--configfile", *given] if given else [])]  # fmt: skip
    code = followed(command)
    return code if code in (0, STOPPED) else 1


def refuse_config(files: Sequence[str], root: Path) -> None:
    """Raise a ConfigError for what Snakemake would refuse of these files while it plans."""
    if fault := template_fault(["--configfile", *files]):
        raise ConfigError(fault)
    user: dict[str, Any] = {}
    for file in files:
        content = read_yaml(Path(file)) or {}
        if not isinstance(content, dict):
            raise ConfigError(f"{file}: must hold keys and values, got {type(content).__name__}")
        user = merge(user, content)
    refuse_papers(load(user, root))


def followed(command: Sequence[str]) -> int:
    """The exit code of a command that ends in its own way.

    A terminal tells both of Ctrl-C, so that the command can keep its state; SIGTERM is handed on.
    No module is imported from the working folder, which may be a stranger's.
    """
    process = subprocess.Popen(command, env=os.environ | {"PYTHONSAFEPATH": "1"})

    def hand_on(number: int, _: object) -> None:
        with contextlib.suppress(ProcessLookupError):
            process.send_signal(number)

    told = False
    before = signal.signal(signal.SIGTERM, hand_on)
    try:
        while True:
            try:
                code = process.wait()
                break
            except KeyboardInterrupt:
                told = True
    finally:
        signal.signal(signal.SIGTERM, before)
    return STOPPED if told and code else code


def run(options: argparse.Namespace) -> int:
    """What ``snakemake`` makes, here."""
    settings = settings_of(options.set) | ({"scale": options.scale} if options.scale else {})
    files = [options.configfile] if options.configfile else []
    if files and not Path(files[0]).is_file():
        raise FeatlearnError(f"{files[0]}: no such config file")
    code = snakemake(options.targets, options, files, settings)
    if code == 0 and not options.dry_run and not options.targets and not files:
        print(f"Open {load(settings, workflow())['results']}/report/index.html")
    return code


def images(options: argparse.Namespace) -> int:
    """Everything on a folder of pictures, by a config that is written beside the results."""
    from featlearn.own_images.command import conclude, write_config

    file = write_config(options, settings_of(options.set), workflow())
    if options.dry_run:  # how many jobs of which kind is enough
        options.rest = ["--quiet", "rules", *options.rest]
    code = snakemake(["real_images"], options, [str(file)], {})
    if code == 0 and not options.dry_run:
        conclude(file, options.tensorboard)
    return code


def verify(options: argparse.Namespace) -> int:
    here = ["--here"] if options.here else []
    return _script("verify.py", "--scale", options.scale, "--cores", options.cores, *here)


def compare(options: argparse.Namespace) -> int:
    return _script("compare.py", options.first, options.second, *["--files"] * options.files)


def _script(name: str, *words: str) -> int:
    return followed([sys.executable, str(workflow() / "scripts" / name), *words])


#: Written out, so that a key pressed starts no Python.
COMPLETION = """_featlearn() {{
  local word=${{COMP_WORDS[COMP_CWORD]}} words
  if [ "$COMP_CWORD" -eq 1 ]; then
    words="{commands}"
  else
    case ${{COMP_WORDS[1]}} in
{cases}
    esac
  fi
  COMPREPLY=($(compgen -W "$words" -- "$word"))
}}
complete -o default -F _featlearn featlearn
"""


def completion(options: argparse.Namespace) -> int:
    from featlearn.command import parser

    (below,) = (one for one in parser()._actions if isinstance(one, argparse._SubParsersAction))
    cases = [f'      {name}) words="{" ".join(sorted(one._option_string_actions))}" ;;'
             for name, one in below.choices.items()]  # fmt: skip
    if options.shell == "zsh":
        print("autoload -U +X bashcompinit && bashcompinit")
    print(COMPLETION.format(commands=" ".join(below.choices), cases="\n".join(cases)), end="")
    return 0
