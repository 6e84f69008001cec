# What all rules share. Imports neither torch nor pandas: a run with nothing to do must say so fast.

import os
import sys
from pathlib import Path

# not workflow.basedir: that is another workflow's folder, where this one is used as a module
RULES = Path(str(workflow.current_basedir))
ROOT = RULES.parents[1]
sys.path.insert(0, str(ROOT / "src"))

from snakemake.exceptions import WorkflowError
from snakemake.logging import logger

from featlearn.core import guard, lifeline, run
from featlearn.core.config import load, refuse
from featlearn.core.errors import FeatlearnError
from featlearn.core.provenance import fingerprint

run.announce(ROOT / "src", is_main=workflow.is_main_process)

# where another profile was chosen, Snakemake has run the template by now: no job shall
if workflow.modifier.is_main_snakefile():
    if fault := guard.template_fault(["--configfile", *map(str, workflow.configfiles)]):
        raise WorkflowError(fault)

try:
    config = load(config, ROOT)
except FeatlearnError as error:
    raise WorkflowError(str(error))

RESULTS = config["results"]
# How a user makes one file of this run again: follows from the config alone, so that the same
# config gives the same catalogue. A run with a name of its own is made from a config file of that
# name, as the report says. (The file stands last: --configfile would take it for a config.)
COMMAND = "snakemake"
if config["run"] != config["scale"]:
    COMMAND += f" --configfile {config['run']}.yaml"
elif config["scale"] != "desk":
    COMMAND += f" --configfile config/scale/{config['scale']}.yaml"
COMMAND += " --cores 2"

if workflow.is_main_process:
    for line in run.mend(Path(RESULTS)):
        logger.warning(line)
elif lifeline.is_replaced(Path(RESULTS)):
    # a job that waited at the scheduler while its run was killed and started anew
    raise WorkflowError(lifeline.REPLACED)

# what the papers make: each paper's file adds its own with publish()
ARTEFACTS = []
FIGURES = []
TABLES = []
CAPTIONS = []
STORIES = []
LEDGERS = []


def hold_results():
    """Keep the results folder for this run; a second run in it is refused."""
    try:
        run.hold(Path(RESULTS))
    except FeatlearnError as error:
        raise WorkflowError(str(error))


def tell_unfinished():
    """After a run of everything that failed: a report of what there is and what is missing."""
    if workflow.dag_settings.targets:
        return
    run.tell_unfinished(
        ROOT,
        {
            "results": RESULTS,
            "wanted": ARTEFACTS,
            "ledgers": LEDGERS,
            "figures": FIGURES,
            "tables": TABLES,
            "captions": CAPTIONS,
            "stories": STORIES,
            "entries": asset("config/catalogue.yaml"),
            "config": config,
            "command": COMMAND,
        },
    )


def request(mem_mb, runtime, gpu=0):
    """What a rule asks of a machine or a scheduler; after a failure twice, then three times that.

    ``mem_mb`` and ``runtime`` (minutes) suffice the desk scale, with room to spare; ``gpu`` is GPU
    for a rule that computes on the device of the config.
    """

    def growing(amount):
        return lambda wildcards, attempt: amount * attempt

    return {"mem_mb": growing(mem_mb), "runtime": growing(runtime), "gpu": gpu}


# GPUs of a rule that computes on the device of the config
GPU = 0 if config["device"] == "cpu" else 1
# Of a rule that draws, tabulates or judges; none was seen to take 15 seconds or 250 MB. A cluster
# gets those of one experiment together, as a group.
SHORT = request(mem_mb=1000, runtime=5)
# Whether what a rule makes is shared with other runs and clones, see docs/cluster.md. Not declared
# always, because Snakemake would then ask for a folder at every start.
SHARED = "SNAKEMAKE_OUTPUT_CACHE" in os.environ


def asset(path):
    """A file of the repository, relative to where Snakemake works: a moved folder stays valid."""
    return os.path.relpath(ROOT / path)


def code(script):
    """Fingerprint of a script and of every library module that it uses."""
    return fingerprint(ROOT / "scripts" / script)


def parts(section, *names):
    """Those parts of a section of the config that a rule depends on."""
    return {name: section[name] for name in names}


def figure(paper, name):
    """The two files of a figure."""
    stem = f"{RESULTS}/{paper}/figures/{name}"
    return {"svg": f"{stem}.svg", "png": f"{stem}.png"}


def table(paper, name):
    """The two files of a table."""
    stem = f"{RESULTS}/{paper}/tables/{name}"
    return {"parquet": f"{stem}.parquet", "markdown": f"{stem}.md"}


def ledger(paper, name):
    """The claims of one experiment, judged."""
    return f"{RESULTS}/{paper}/claims/{name}.parquet"


def tell_story(paper):
    """Give a paper its place in the report: before what it publishes."""
    STORIES.append(asset(f"workflow/report/{paper}/story.md"))


def publish(paper, figures=(), tables=(), ledgers=(), artefacts=()):
    """Tell the report, the checksums and the target of a paper what an experiment makes.

    Returns all these files.
    """
    own = [*artefacts, *(ledger(paper, name) for name in ledgers)]
    LEDGERS.extend(ledger(paper, name) for name in ledgers)
    for name in figures:
        own += figure(paper, name).values()
        FIGURES.append(figure(paper, name)["svg"])
    for name in tables:
        own += table(paper, name).values()
        TABLES.append(table(paper, name)["parquet"])
    CAPTIONS.extend(asset(f"workflow/report/{paper}/{name}.md") for name in (*figures, *tables))
    ARTEFACTS.extend(own)
    return own
