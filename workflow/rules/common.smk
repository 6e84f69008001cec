# What all rules share. Imports neither torch nor pandas: a run with nothing to do must say so fast.

import gc
import os
import sys
from functools import partial
from pathlib import Path

# not workflow.basedir: that is another workflow's folder, where this one is used as a module
ROOT = Path(str(workflow.current_basedir)).parents[1]
# in an installed package the workflow lies inside of featlearn
SOURCES = ROOT / "src" if (ROOT / "src").is_dir() else ROOT.parents[1]
sys.path.insert(0, str(SOURCES))

from snakemake.caching.rule import RuleCache
from snakemake.exceptions import WorkflowError
from snakemake.logging import logger
from snakemake.scheduling.job_scheduler import JobScheduler

from featlearn.core import commit, display, guard, lifeline, portable, run, warm
from featlearn.core.asked import refuse_unknown_findings
from featlearn.core.config import load, plain_run, refuse
from featlearn.core.errors import FeatlearnError
from featlearn.core.experiments import Published, rule_faults
from featlearn.core.findings import read_findings
from featlearn.core.notes import keep_notes, noted, of_files, of_sources, open_notes
from featlearn.core.provenance import fingerprint

open_notes(Path(".snakemake/featlearn-notes.json"))
run.announce(SOURCES, is_main=workflow.is_main_process)
run.look_once(JobScheduler)

# a plan keeps nearly all that it makes: to look for garbage costs a tenth of it, and finds none
if workflow.is_main_process and workflow.modifier.is_main_snakefile():
    gc.disable()

# where another profile was chosen, Snakemake has run the template by now: no job shall
if workflow.modifier.is_main_snakefile():
    given = tuple(map(Path, workflow.configfiles))
    fault = noted(
        f"guard {of_sources()} {of_files(given, Path.cwd())}",
        partial(guard.template_fault, ["--configfile", *map(str, given)]),
    )
    if fault:
        raise WorkflowError(fault)

try:
    config = load(config, ROOT)
except FeatlearnError as error:
    raise WorkflowError(str(error))

# before any job, and the warm process, starts; a plan loads none of the libraries
if config["portable"]:
    portable.pin()

RESULTS = config["results"]
LOGS = f"{RESULTS}/logs"
# How a user makes one file of this run again: follows from the config alone, so that the same
# config gives the same catalogue. A run with a name of its own is made from a config file of that
# name, as the report says. (The file stands last: --configfile would take it for a config.)
COMMAND = "snakemake"
if config["run"] != plain_run(config):
    COMMAND += f" --configfile {config['run']}.yaml"
elif config["scale"] != "tour":
    COMMAND += f" --configfile config/scale/{config['scale']}.yaml"
if config["portable"] and config["run"] == plain_run(config):
    COMMAND += " --config portable=True"
COMMAND += " --cores 2"

if workflow.is_main_process:
    for line in run.mend(Path(RESULTS)):
        logger.warning(line)
elif lifeline.is_replaced(Path(RESULTS)):
    # a job that waited at the scheduler while its run was killed and started anew
    raise WorkflowError(lifeline.REPLACED)

# what the papers make; see core/experiments.py
PUBLISHED = Published(RESULTS)
by_hand = PUBLISHED.by_hand


def experiment(paper, name, section=None, judged=None, **more):
    """Publish what ``<paper>/figures|tables|claims/<name>.py`` make of some frames.

    ``section`` is the part of the config that figures may ask for, ``judged`` the one that claims
    get: the paper's, if none is given.
    """
    judged = config.get(paper) if judged is None else judged
    PUBLISHED.experiment(paper, name, section, judged=judged, **more)


def in_words(function, *given):
    """What a function of the library gives; what it refuses is told in words."""
    try:
        return function(*given)
    except FeatlearnError as error:
        raise WorkflowError(str(error))


def checked(faults):
    """Refuse a config with faults, in words."""
    in_words(refuse, faults)


def request(mem_mb, runtime, gpu=0):
    """What a rule asks of a machine or a scheduler; after a failure twice, then three times that.

    ``mem_mb`` and ``runtime`` (minutes) suffice the desk scale, with room to spare; ``gpu`` is GPU
    for a rule that computes on the device of the config.
    """

    def growing(amount):
        return lambda wildcards, attempt: amount * attempt

    return {"mem_mb": growing(mem_mb), "runtime": growing(runtime), "gpu": gpu}


# a param of all that computes, only where it is so: a plain run's rules stay as they are. A number,
# raised by hand when what stands in for the libraries' functions, or where it does, changes
PORTABLE = {"portable": 2} if config["portable"] else {}
# GPUs of a rule that computes on the device of the config
GPU = 0 if config["device"] == "cpu" else 1
# Of a rule that shows, judges or collects; none was seen to take 15 seconds or 250 MB. A cluster
# gets those of one experiment together, as a group.
SHORT = request(mem_mb=1000, runtime=5)
# who inherits one of these stands in another folder; no path relative to this file
ENVIRONMENT = str(ROOT / "environment.yml")
MEASURE = str(ROOT / "scripts" / "measure.py")


def asset(path):
    """A file of the repository, relative to where Snakemake works: a moved folder stays valid."""
    return os.path.relpath(ROOT / path)


def code(*functions):
    """Fingerprint of functions or modules of the library, and of every module that they use."""
    return fingerprint(*(f"featlearn.{name}" for name in functions))


def by(function, section=None, **more):
    """What a rule that computes says of itself among its params, and what its numbers depend on.

    ``section`` is the part of the config that the function reads as ``job.config``.
    """
    own = {} if section is None else {"config": section}
    return {"function": f"featlearn.{function}", "code": code(function), **own, **more}


def parts(section, *names):
    """Those parts of a section of the config that a rule depends on."""
    return {name: section[name] for name in names}


def share(rules):
    """Let other runs and clones have what rules compute on a device, see docs/cluster.md.

    Not declared always, because Snakemake would then ask for a folder at every start; not with
    ``cache`` either, which a rule does not inherit.
    """
    for one in rules if "SNAKEMAKE_OUTPUT_CACHE" in os.environ else ():
        if one.script == MEASURE and "device" in dict(one.params.items()) and one.output:
            one.cache = RuleCache.from_rule(one, True)


def begin_run():
    """Keep the results folder for this run (a second run in it is refused), and tell how it goes."""
    gc.freeze()
    gc.enable()
    try:
        run.hold(Path(RESULTS))
    except FeatlearnError as error:
        raise WorkflowError(str(error))
    os.environ[commit.VARIABLE] = commit.commit(ROOT)
    jobs = list(workflow.dag.needrun_jobs())
    in_words(run.check_claims, ROOT, PUBLISHED.claims_of({job.rule.name for job in jobs}))
    display.install(logger, jobs, RESULTS, workflow.resource_settings.cores or 1)
    if workflow.local_exec:
        warm.start(len(jobs), config["threads"])


def tell_unfinished(logs):
    """After a run that failed: what the logs do not tell, and if it was of everything, a report."""
    warm.stop()
    silent = run.note_silent_ends(Path(RESULTS), map(Path, logs))
    if workflow.dag_settings.targets:
        return
    run.tell_unfinished(
        ROOT,
        {
            "results": RESULTS,
            "wanted": PUBLISHED.artefacts,
            "ledgers": PUBLISHED.ledgers,
            "pages": PUBLISHED.pages,
            "stories": PUBLISHED.stories,
            "entries": asset("config/catalogue.yaml"),
            "config": config,
            "command": COMMAND,
            "killed": silent,
        },
    )
