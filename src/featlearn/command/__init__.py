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
#: Command -> module and function that carries it out, help, example.
COMMANDS = {
    "run": ("flow:run", "make results in this folder", "featlearn run mrp --scale smoke --cores 2"),
    "images": (
        "flow:images",
        "pre-train, probe, fine-tune and map a folder of pictures",
        "featlearn images flowers --dry-run",
    ),
    "cam": (
        "pictures:cam",
        "Eigen-CAM maps of pictures",
        "featlearn cam classifier-pretrained-0.safetensors rose.jpg",
    ),
    "predict": (
        "pictures:predict",
        "classes of pictures, with probabilities",
        "featlearn predict classifier-pretrained-0.safetensors rose.jpg",
    ),
    "export": (
        "pictures:export",
        "write a network as a program of torch.export, tested against the original",
        "featlearn export classifier-pretrained-0.safetensors flowers.pt2",
    ),
    "verify": (
        "flow:verify",
        "hash results against their records, or make them again and compare",
        "featlearn verify --scale smoke --here",
    ),
    "compare": (
        "flow:compare",
        "claims of two runs whose verdicts differ",
        "featlearn compare results/desk results/desk-seed-1",
    ),
    "completion": (
        "completion:completion",
        "print completion for a shell",
        'eval "$(featlearn completion bash)"',
    ),
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
    own = {
        name: below.add_parser(
            name, help=told, description=f"{told[0].upper()}{told[1:]}.", epilog=f"example: {shown}"
        )
        for name, (_, told, shown) in COMMANDS.items()
    }
    own["run"].add_argument(
        "targets", nargs="*", help="papers, parts of them or files; all if none"
    )
    own["images"].add_argument("folder", help="pictures, one folder a class")
    own["images"].add_argument(
        "--name", help="of the run and its config; that of the folder if none"
    )
    own["images"].add_argument("--size", type=int, default=64, help="side in pixels (64)")
    own["images"].add_argument("--replicates", type=int, default=3, help="trainings each (3)")
    own["images"].add_argument(
        "--tensorboard", action="store_true", help="also curves that TensorBoard reads"
    )
    for name in ("run", "images"):
        one = own[name]
        one.add_argument("--cores", default="2", help="jobs at once (2)")
        one.add_argument(
            "-n", "--dry-run", action="store_true", help="only tell what would be done"
        )
        one.add_argument(
            "--set", action="append", default=[], metavar="KEY=VALUE",
            help="a value of the config; points lead into groups: mrp.headline.replicates=4",
        )  # fmt: skip
    own["run"].add_argument("--scale", help="smoke, tour (if none is told), desk or paper")
    own["run"].add_argument("--configfile", help="a config of yours")
    own["run"].epilog = f"{own['run'].epilog}    what follows -- goes to snakemake as it is"
    for name in ("cam", "predict", "export"):
        more = "; or torchvision:<weights>, timm:<model>" if name == "cam" else ""
        own[name].add_argument("weights", help=f"safetensors file of a run{more}")
    own["cam"].usage = "featlearn cam [-h] [--out FOLDER] WEIGHTS IMAGE [IMAGE ...]"
    own["cam"].add_argument("--out", default="maps", help="folder for the maps (maps)")
    for name in ("cam", "predict"):
        own[name].add_argument("images", nargs="+", help="files")
    own["export"].add_argument("out", help="file to write, .pt2")
    own["verify"].add_argument("--scale", default="tour", help="scale or name of the run (tour)")
    own["verify"].add_argument("--cores", default="2", help="jobs at once (2)")
    own["verify"].add_argument(
        "--here", action="store_true", help="only what is on disk; damage is set aside"
    )
    own["compare"].add_argument("first", help="folder of a run")
    own["compare"].add_argument("second", help="folder of another")
    own["compare"].add_argument("--files", action="store_true", help="also the files that differ")
    own["completion"].add_argument("shell", choices=["bash", "zsh"])
    return made


def printable(error: Exception) -> str:
    """A message without what a terminal would obey: names of files stand in it."""
    lines = str(error).split("\n")
    return "\n".join(
        "".join(one if one.isprintable() else one.encode("unicode_escape").decode() for one in line)
        for line in lines
    )


def main(words: Sequence[str] | None = None) -> int:
    """Carry a command line out; its exit code. What is refused is told in words."""
    given = list(sys.argv[1:] if words is None else words)
    given, rest = (
        (given[: (at := given.index("--"))], given[at + 1 :]) if "--" in given else (given, [])
    )
    if given[:1] in (["cam"], ["predict"]) and rest:  # files whose names begin with -
        given, rest = (
            [*given, *(f"./{name}" if name.startswith("-") else name for name in rest)],
            [],
        )
    options = parser().parse_args(given)
    if rest and options.command not in ("run", "images"):
        print(f"featlearn {options.command}: takes nothing behind --", file=sys.stderr)
        return REFUSED
    options.rest = rest
    module, _, name = COMMANDS[options.command][0].partition(":")
    try:
        carry_out = getattr(importlib.import_module(f"featlearn.command.{module}"), name)
        return int(carry_out(options))
    except (FeatlearnError, OSError) as error:
        print(f"featlearn {options.command}: {printable(error)}", file=sys.stderr)
        return REFUSED
    except KeyboardInterrupt:
        return 130
