"""Kills a job of the real workflow again and again, at random instants; run as a script.

    python killed_jobs.py FOLDER KIND KILLS

The functions are those of the rules, with the smoke config. An interpreter that has imported all of
it forks for each attempt: a kill then costs no seconds of imports. Prints what happened as JSON.
"""

import hashlib
import importlib
import json
import os
import random
import runpy
import shutil
import signal
import sys
import time
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "src"), str(ROOT / "tests")]

from featlearn.core.run.config import load  # noqa: E402
from unit.test_job_frame import RESULTS, rule  # noqa: E402

CONFIG = load({"scale": "smoke"}, ROOT)
#: Long enough that most kills come within the training.
SIMMIM = CONFIG["images"]["pretraining"]["simmim"]
SIMMIM = SIMMIM | {"training": SIMMIM["training"] | {"epochs": 20}}
DOMAINS = CONFIG["nuclear"]["domains"]
#: What learns no features takes longer than these trainings.
DOMAINS = DOMAINS | {
    "arms": {name: DOMAINS["arms"][name] for name in ("ERM", "ERM-NU", "Mixup", "CORAL")},
    "training": DOMAINS["training"] | {"steps": 16},
    "opponents": {"pixels": 2, "features": 8},
}

#: Function of the rule, below featlearn, the part of the config that it reads, and wildcards.
KINDS: dict[str, tuple[str, Any, dict[str, str]]] = {
    "images": (
        "mrp.experiments.images_comparison:pretrain",
        CONFIG["images"] | {"pretraining": {"simmim": SIMMIM}},
        {"method": "simmim", "replicate": "0"},
    ),
    "mrp": ("mrp.experiments.headline:pretrain", CONFIG["mrp"]["headline"], {}),
    "nuclear": ("nuclear.experiments.domains:train_stack", DOMAINS, {"stack": "0"}),
}
OUTPUTS = {"images": ("weights", "history"), "mrp": ("weights", "history"), "nuclear": ("trained",)}
#: What a job imports on its way, and takes longer than the job.
LATE = {"nuclear": ("sklearn.datasets", "torch._dynamo")}
LOG = f"{RESULTS}/logs/train.log"


def job(kind: str, every: float) -> None:
    function, config, wildcards = KINDS[kind]
    outputs = {name: f"{RESULTS}/{name}" for name in OUTPUTS[kind]}
    params = {"function": f"featlearn.{function}", "seed": 0, "device": "cpu"}
    params |= {"cache": ".cache/images", "state": ""} if kind == "nuclear" else {}
    # no method of these has a teacher
    given = rule(inputs={"teacher": []}, outputs=outputs, log=LOG, config=config, **params)
    given.wildcards = type(given.wildcards)(fromdict=wildcards)
    given.config["checkpoint_seconds"] = every
    runpy.run_path(str(ROOT / "scripts" / "measure.py"), {"snakemake": given})


def attempt(kind: str, every: float, life: float | None) -> int:
    """Run the job in a process that lives for ``life`` seconds; the status of its end."""
    process = os.fork()
    if process == 0:
        quiet = os.open(os.devnull, os.O_WRONLY)
        os.dup2(quiet, 1)
        os.dup2(quiet, 2)
        try:
            job(kind, every)
        except BaseException:
            os._exit(1)
        os._exit(0)
    if life is not None:
        time.sleep(life)
        os.kill(process, signal.SIGKILL)  # one that has ended is not waited for yet: still there
    return os.waitstatus_to_exitcode(os.waitpid(process, 0)[1])


def made(kind: str) -> dict[str, str]:
    return {
        name: hashlib.sha256((RESULTS / name).read_bytes()).hexdigest()
        for name in OUTPUTS[kind]
        if (RESULTS / name).exists()
    }


def main(folder: str, kind: str, kills: str) -> None:
    os.chdir(folder)
    for module in (f"featlearn.{KINDS[kind][0].partition(':')[0]}", *LATE.get(kind, ())):
        importlib.import_module(module)
    chance = random.Random(f"kills of {kind}")
    began = time.monotonic()
    ends = [attempt(kind, 1e9, None)]
    if ends != [0]:
        sys.exit(f"the undisturbed job failed: {Path(LOG).read_text()}")
    undisturbed = made(kind)
    span = time.monotonic() - began
    told = {"kills": 0, "resumed": 0, "rounds": 0, "wrong": [], "half": []}
    while told["kills"] < int(kills):
        shutil.rmtree(RESULTS)
        end = -signal.SIGKILL
        while end == -signal.SIGKILL:
            # after the last kill the job may end
            life = chance.uniform(0, span) if told["kills"] < int(kills) else None
            end = attempt(kind, 0, life)
            told["kills"] += end == -signal.SIGKILL
            log = Path(LOG)
            told["resumed"] += log.is_file() and " goes on after step " in log.read_text()
            found = made(kind)
            told["half"] += [n for n in found if found[n] != undisturbed[n]]
        ends.append(end)
        told["rounds"] += 1
        told["wrong"] += [] if made(kind) == undisturbed else [made(kind)]
    print(json.dumps({**told, "ends": ends, "files": sorted(undisturbed), "seconds": span}))


if __name__ == "__main__":
    main(*sys.argv[1:])
