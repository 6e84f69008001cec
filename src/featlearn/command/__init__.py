"""The command ``featlearn``: what Snakemake does here, in the folder of whoever calls it.

It adds nothing that ``snakemake`` and Python cannot do. Building the help imports no torch.
"""

from __future__ import annotations

import argparse
import importlib
import sys
from collections.abc import Sequence
from typing import Any

from featlearn import __version__
from featlearn.core.errors import FeatlearnError

#: Exit code of a command line or file that is refused; 1 is a failed run or a difference.
REFUSED = 2
#: Command -> module and function that carries it out, help, arguments of the example.
COMMANDS = {
    "run": ("flow:run", "make results in this folder", "mrp --scale smoke --cores 2"),
    "sweep": ("sweep:sweep", "change one or two keys and see where verdicts turn",
              "mrp.headline.data.gamma 0.02 0.05 0.1 0.2 --scale smoke"),
    "images": ("flow:images", "pre-train, probe, fine-tune and map a folder of pictures",
               "flowers --dry-run"),
    "data": ("data:data", "list data sets by name, with licence and address, or get one",
             "get MNIST"),
    "cam": ("pictures:cam", "Eigen-CAM maps of pictures",
            "classifier-pretrained-0.safetensors rose.jpg"),
    "predict": ("pictures:predict", "classes of pictures, with probabilities",
                "classifier-pretrained-0.safetensors rose.jpg"),
    "export": ("pictures:export",
               "write a network as a program of torch.export, tested against the original",
               "classifier-pretrained-0.safetensors flowers.pt2"),
    "verify": ("flow:verify", "hash results against their records, or make them again and compare",
               "--scale smoke --here"),
    "compare": ("flow:compare", "claims of two runs whose verdicts differ",
                "results/desk results/desk-seed-1"),
    "completion": ("flow:completion", "print completion for a shell", "bash"),
}  # fmt: skip


def parser() -> argparse.ArgumentParser:
    made = argparse.ArgumentParser(
        prog="featlearn",
        description="Experiments on feature learning, and their pipeline on own pictures.",
        epilog="example: featlearn images flowers    exit codes: 0 all well, 1 a run or a picture "
        "failed or files differ, 2 refused, 130 stopped by Ctrl-C",
    )
    made.add_argument("--version", action="version", version=__version__)
    below = made.add_subparsers(dest="command", required=True, metavar="COMMAND")
    commands: dict[str, argparse.ArgumentParser] = {}
    for name, (_, text, words) in COMMANDS.items():
        about = f"{text[0].upper()}{text[1:]}."
        commands[name] = below.add_parser(
            name, help=text, description=about, epilog=f"example: featlearn {name} {words}"
        )

    def add(names: str, *flags: str, **more: Any) -> None:
        for name in names.split():
            commands[name].add_argument(*flags, **more)

    add("run", "targets", nargs="*", help="papers, parts of them or files; all if none")
    add("images", "folder", help="pictures, one folder a class")
    add("images", "--name", help="of the run and its config; that of the folder if none")
    add("images", "--size", type=int, default=64, help="side in pixels (64)")
    add("images", "--replicates", type=int, default=3, help="trainings each (3)")
    add("images", "--tensorboard", action="store_true", help="also curves that TensorBoard reads")
    add("data", "what", choices=["list", "get"])
    add("data", "name", nargs="?", help="of the set to get, as list has it")
    add("data", "--root", default="data", help="folder of the sets (data)")
    add("run sweep images", "--cores", default="2", help="jobs at once (2)")
    add("run sweep images", "-n", "--dry-run", action="store_true",
        help="only say what would be done")  # fmt: skip
    add("run sweep images", "--set", action="append", default=[], metavar="KEY=VALUE",
        help="a value of the config; points lead into groups: mrp.headline.replicates=4")  # fmt: skip
    add("run sweep", "--scale", help="smoke, tour (if none is given), desk, real or paper")
    add("run sweep", "--configfile", help="a config of yours")
    add("sweep", "values", nargs="+", metavar="KEY VALUE",
        help="dotted key of the config, its last part may be the symbol of the paper; its values")  # fmt: skip
    add("sweep", "--and", "-a", dest="also", nargs="+", action="append", default=[],
        metavar=("KEY", "VALUE"), help="a second key with its values: a point for each pair")  # fmt: skip
    add("sweep", "--points", type=int, help="so many values between the two given")
    add("sweep", "--log", action="store_true", help="spaced or halved on a log scale")
    add("sweep", "--claims", nargs="+", default=[],
        help="ids of claims to watch; all that the keys reach")  # fmt: skip
    add("sweep", "--until-turns", metavar="CLAIM",
        help="halve the interval between two values until it is known where this verdict changes")  # fmt: skip
    add("sweep", "--accuracy", type=float, default=0.05,
        help="longest interval that is left (.05); with --log its ratio less 1")  # fmt: skip
    weights = "safetensors file of a run"
    add("cam", "weights", help=f"{weights}; or torchvision:<weights>, timm:<model>")
    add("predict export", "weights", help=weights)
    add("cam", "--out", default="maps", help="folder for the maps (maps)")
    add("cam predict", "images", nargs="+", help="files")
    add("export", "out", help="file to write, .pt2")
    add("verify", "--scale", default="tour", help="scale or name of the run (tour)")
    add("verify", "--cores", default="2", help="jobs at once (2)")
    add("verify", "--here", action="store_true", help="only what is on disk; damage is set aside")
    add("compare", "first", help="folder of a run")
    add("compare", "second", help="folder of another")
    add("compare", "--files", action="store_true", help="also the files that differ")
    add("completion", "shell", choices=["bash", "zsh"])
    run, sweep, cam = (commands[name] for name in ("run", "sweep", "cam"))
    run.epilog = f"{run.epilog}    what follows -- goes to snakemake as it is"
    sweep.usage = (
        "featlearn sweep [-h] [OPTION ...] KEY VALUE VALUE [VALUE ...] [--and KEY VALUE ...]"
    )
    sweep.epilog = f"{sweep.epilog}    docs/change-an-assumption.md says more"
    cam.usage = "featlearn cam [-h] [--out FOLDER] WEIGHTS IMAGE [IMAGE ...]"
    return made


def printable(error: object) -> str:
    """A message without what a terminal would obey: names of files stand in it."""
    return "".join(
        one if one.isprintable() or one == "\n" else one.encode("unicode_escape").decode()
        for one in str(error)
    )


def main(words: Sequence[str] | None = None) -> int:
    """Carry a command line out; its exit code. What is refused is said in words."""
    given = list(sys.argv[1:] if words is None else words)
    rest: list[str] = []
    if "--" in given:
        at = given.index("--")
        given, rest = given[:at], given[at + 1 :]
    if given[:1] in (["cam"], ["predict"]):  # files whose names begin with -
        given += [f"./{name}" if name.startswith("-") else name for name in rest]
        rest = []
    options = parser().parse_args(given)
    if rest and options.command not in ("run", "sweep", "images"):
        print(f"featlearn {options.command}: takes nothing behind --", file=sys.stderr)
        return REFUSED
    options.rest = rest
    module, _, name = COMMANDS[options.command][0].partition(":")
    try:
        return int(getattr(importlib.import_module(f"featlearn.command.{module}"), name)(options))
    except (FeatlearnError, OSError) as error:
        print(f"featlearn {options.command}: {printable(error)}", file=sys.stderr)
        return REFUSED
    except MemoryError:
        print(f"featlearn {options.command}: needs more memory than there is", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        return 130
