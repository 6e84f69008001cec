"""The command ``featlearn``: what Snakemake does here, in the folder of whoever calls it.

It adds nothing that ``snakemake`` and Python cannot do. Building the help imports no torch.
"""

from __future__ import annotations

import argparse
import importlib
import sys
from collections.abc import Sequence

from featlearn import __version__
from featlearn.core.errors import FeatlearnError

#: Exit codes: all well, a failed run or a difference, a command line or file that is refused.
WELL, FAILED, REFUSED = 0, 1, 2
#: Command -> module and function that carries it out, help, arguments of the example.
COMMANDS = {
    "run": ("flow:run", "make results in this folder", "mrp --scale smoke --cores 2"),
    "sweep": (
        "sweep:sweep",
        "change one or two keys and see where verdicts turn",
        "mrp.headline.data.gamma 0.02 0.05 0.1 0.2 --scale smoke",
    ),
    "images": (
        "flow:images",
        "pre-train, probe, fine-tune and map a folder of pictures",
        "flowers --dry-run",
    ),
    "data": (
        "data:data",
        "list data sets by name, with licence and address, or get one",
        "get MNIST",
    ),
    "cam": (
        "pictures:cam",
        "Eigen-CAM maps of pictures",
        "classifier-pretrained-0.safetensors rose.jpg",
    ),
    "predict": (
        "pictures:predict",
        "classes of pictures, with probabilities",
        "classifier-pretrained-0.safetensors rose.jpg",
    ),
    "export": (
        "pictures:export",
        "write a network as a program of torch.export, tested against the original",
        "classifier-pretrained-0.safetensors flowers.pt2",
    ),
    "verify": (
        "flow:verify",
        "hash results against their records, or make them again and compare",
        "--scale smoke --here",
    ),
    "compare": (
        "flow:compare",
        "claims of two runs whose verdicts differ",
        "results/desk results/desk-seed-1",
    ),
    "completion": ("flow:completion", "print completion for a shell", "bash"),
}


def parser() -> argparse.ArgumentParser:
    """The command line."""
    made = argparse.ArgumentParser(
        prog="featlearn",
        description="Experiments on feature learning, and their pipeline on own pictures.",
        epilog="example: featlearn images flowers    exit codes: 0 all well, 1 a run or a picture "
        "failed or files differ, 2 refused, 130 stopped by Ctrl-C",
    )
    made.add_argument("--version", action="version", version=__version__)
    below = made.add_subparsers(dest="command", required=True, metavar="COMMAND")
    commands = {
        name: below.add_parser(
            name,
            help=text,
            description=f"{text[0].upper()}{text[1:]}.",
            epilog=f"example: featlearn {name} {words}",
        )
        for name, (_, text, words) in COMMANDS.items()
    }
    run, sweep, images, data, cam, predict, export, verify, compare, completion = commands.values()
    run.add_argument("targets", nargs="*", help="papers, parts of them or files; all if none")
    images.add_argument("folder", help="pictures, one folder a class")
    images.add_argument("--name", help="of the run and its config; that of the folder if none")
    images.add_argument("--size", type=int, default=64, help="side in pixels (64)")
    images.add_argument("--replicates", type=int, default=3, help="trainings each (3)")
    images.add_argument(
        "--tensorboard", action="store_true", help="also curves that TensorBoard reads"
    )
    data.add_argument("what", choices=["list", "get"])
    data.add_argument("name", nargs="?", help="of the set to get, as list has it")
    data.add_argument("--root", default="data", help="folder of the sets (data)")
    for one in (run, sweep, images):
        one.add_argument("--cores", default="2", help="jobs at once (2)")
        one.add_argument("-n", "--dry-run", action="store_true", help="only say what would be done")
        one.add_argument(
            "--set",
            action="append",
            default=[],
            metavar="KEY=VALUE",
            help="a value of the config; points lead into groups: mrp.headline.replicates=4",
        )
    for one in (run, sweep):
        one.add_argument("--scale", help="smoke, tour (if none is given), desk, real or paper")
        one.add_argument("--configfile", help="a config of yours")
    _sweep(sweep)
    run.epilog = f"{run.epilog}    what follows -- goes to snakemake as it is"
    for one in (cam, predict, export):
        more = "; or torchvision:<weights>, timm:<model>" if one is cam else ""
        one.add_argument("weights", help=f"safetensors file of a run{more}")
    cam.usage = "featlearn cam [-h] [--out FOLDER] WEIGHTS IMAGE [IMAGE ...]"
    cam.add_argument("--out", default="maps", help="folder for the maps (maps)")
    for one in (cam, predict):
        one.add_argument("images", nargs="+", help="files")
    export.add_argument("out", help="file to write, .pt2")
    verify.add_argument("--scale", default="tour", help="scale or name of the run (tour)")
    verify.add_argument("--cores", default="2", help="jobs at once (2)")
    verify.add_argument(
        "--here", action="store_true", help="only what is on disk; damage is set aside"
    )
    compare.add_argument("first", help="folder of a run")
    compare.add_argument("second", help="folder of another")
    compare.add_argument("--files", action="store_true", help="also the files that differ")
    completion.add_argument("shell", choices=["bash", "zsh"])
    return made


def _sweep(sweep: argparse.ArgumentParser) -> None:
    sweep.usage = (
        "featlearn sweep [-h] [OPTION ...] KEY VALUE VALUE [VALUE ...] [--and KEY VALUE ...]"
    )
    sweep.epilog = f"{sweep.epilog}    docs/change-an-assumption.md says more"
    sweep.add_argument(
        "values",
        nargs="+",
        metavar="KEY VALUE",
        help="dotted key of the config, its last part may be the symbol of the paper; its values",
    )
    sweep.add_argument(
        *("--and", "-a"),
        dest="also",
        nargs="+",
        action="append",
        default=[],
        metavar=("KEY", "VALUE"),
        help="a second key with its values: a point for each pair",
    )
    sweep.add_argument("--points", type=int, help="so many values between the two given")
    sweep.add_argument("--log", action="store_true", help="spaced or halved on a log scale")
    sweep.add_argument(
        "--claims", nargs="+", default=[], help="ids of claims to watch; all that the keys reach"
    )
    sweep.add_argument(
        "--until-turns",
        metavar="CLAIM",
        help="halve the interval between two values until it is known where this verdict changes",
    )
    sweep.add_argument(
        "--accuracy",
        type=float,
        default=0.05,
        help="longest interval that is left (.05); with --log its ratio less 1",
    )


def printable(error: Exception) -> str:
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
    except KeyboardInterrupt:
        return 130
