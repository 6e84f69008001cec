# What all rules share. Imports neither torch nor pandas: a run with nothing to do must say so fast.

import gc
import os
import re
import sys
from contextlib import suppress
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
from snakemake.ruleinfo import RuleInfo

from featlearn.core.evidence import neighbours, sweeps

from featlearn.core.run import commit, guard, portable, workspace, warm
from featlearn.core.evidence.catalogue import contents
from featlearn.core.run.checks import value_of
from featlearn.core.run.config import load, missing_sets, plain_run, refuse, refuse_papers
from featlearn.core.errors import FeatlearnError
from featlearn.core.run.registry import Published, rule_faults
from featlearn.core.publishing.findings import read_findings
from featlearn.core.run.notes import keep_notes, noted, of_files, of_sources, open_notes
from featlearn.core.run.points import Plan, Point, meaning
from featlearn.core.run.provenance import fingerprint
from featlearn.core.run.exhibits import caption_of, exhibits, refuse_unknown_findings, texts_of


def in_words(function, *given):
    """What a function of the library gives; what it refuses is told in words."""
    try:
        return function(*given)
    except FeatlearnError as error:
        raise WorkflowError(str(error))


# a point of a run, see points.smk, comes with its config when the run has begun
POINT = config.get("point")
if isinstance(POINT, Point):
    del config["point"]
else:
    POINT = None

    include: "begin.smk"


RESULTS = POINT.folder if POINT else config["results"]
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

# what the papers make; see core/run/registry.py
PUBLISHED = Published(RESULTS)
by_hand = PUBLISHED.by_hand


def filled(files, over):
    """Files with wildcards, of every combination of a dict of lists or of each dict of a list."""
    jobs = over if isinstance(over, list) else [over]
    return [file for job in jobs for file in expand(files, **job)]


def experiment(
    paper, name, *made, section=..., judged=None, over=None, paper_values="", met=None, **more
):
    """Publish what ``<paper>/analysis/<name>.py`` makes of some frames.

    The frames are the Parquet files of the rules ``made``, by default of ``<paper>_<name>``, and
    those given by name. Where these rules have wildcards, ``over`` lists all values of each. As
    ``paper_values`` come the numbers in ``config/paper_values/<name>.yaml``. Figures get ``section``, by
    default ``<paper>.<name>`` of the config, and claims get ``judged``: the paper's config. ``met``: needs
    of the catalogue that this config meets; an item of which one is missing is a stand-in.
    """
    settings, word = config.get(paper, {}), name.replace("-", "_")
    named = more.keys() - {"targets", "also", "apart", "without", "contains"}
    if not made and not named and rules.has(f"{paper}_{word}"):
        made = [getattr(rules, f"{paper}_{word}")]
    for one in made if over else ():
        values = {key: "|".join(re.escape(str(value)) for value in over[key]) for key in over}
        one.rule.set_wildcard_constraints(**values)
        one.rule.update_wildcard_constraints()
    frames = {
        key: filled(file, over) if over else file
        for rule in made
        for key, file in rule.output.items()
        if file.endswith(".parquet")
    }
    if paper_values:
        frames["paper_values"] = asset(f"config/paper_values/{paper_values}.yaml")
    if met is not None:
        more["contains"] = contents(
            asset("config/catalogue.yaml"), exhibits(paper, word), met, more.get("contains", {})
        )
    section = settings.get(word) if section is ... else section
    judged = settings if judged is None else judged
    PUBLISHED.experiment(paper, name, section, judged=judged, **frames | more)


def outputs(folder, names="", at="*", weights="", **others):
    """Files of a rule by their names; ``folder`` is ``<paper>/<experiment>``.

    Each of ``names``, with spaces between them, is ``<paper>/measurements/<experiment>/<at>.parquet``
    with the name for ``*`` (its underscores are dashes). Of ``others`` the value is what stands for
    ``<at>``; ``weights`` are in ``<paper>/weights/<experiment>/<weights>.safetensors``.
    """
    paper, _, own = folder.partition("/")
    places = {name: at.replace("*", name.replace("_", "-")) for name in names.split()} | others
    frames = os.path.join(RESULTS, paper, "measurements", own)
    tensors = os.path.join(RESULTS, paper, "weights", own, f"{weights}.safetensors")
    files = {name: f"{frames.rstrip('/')}/{place}.parquet" for name, place in places.items()}
    return files | ({"weights": tensors} if weights else {})


GATHERED = {}


def together(folder, name, **frames):
    """Frames of ``folder`` by their names: the files of several jobs below each other.

    One rule makes them all, see exhibits.smk; ``name`` is the experiment that they belong to.
    """
    paper, made = folder.partition("/")[0], outputs(folder, **{frame: frame for frame in frames})
    for frame, files in frames.items():
        inside = made[frame].removeprefix(f"{RESULTS}/").removesuffix(".parquet")
        GATHERED[inside] = f"{paper}-{name}", files
        PUBLISHED.add(paper, [], [*files, made[frame]], f"experiment {paper}/{name}")
    return made


def shown_by(one, *targets):
    """Publish the figure or table that a rule without wildcards draws."""
    paper, kind, name = Path(one.output[0]).with_suffix("").parts[-3:]
    code = one.params.function.removeprefix("featlearn.")
    PUBLISHED.by_hand(paper, kind.removesuffix("s"), name, code, targets=targets)


def checked(faults):
    """Refuse a config with faults, in words."""
    in_words(refuse, faults)


def warned(lines):
    """Tell once of images that are not there: a plan can be made, and jobs that read them fail."""
    for line in lines if workflow.is_main_process else ():
        logger.warning(f"{line}; its jobs will fail until the images are there")


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


def by(function, section=..., *, each=None, only=None, images=None, **more):
    """What a rule that computes says of itself among its params, and what its numbers depend on.

    The function reads ``section`` as ``job.config``: by default ``<paper>.<experiment>`` of the
    config, by the name of its module. Of a section of cells a job gets the one that its wildcard
    ``each`` names. ``only`` names the parts that the function reads, with spaces between them: an
    edit of another part runs nothing again. ``images`` is the state of image files: of files that
    changed since, what was decoded is decoded again.
    """
    if section is ...:
        paper, _, module = function.partition(":")[0].partition(".experiments.")
        section = config.get(paper, {}).get(module)

    def read(whole):
        return parts(whole, *only.split()) if only else whole

    if section is not None:
        own = (lambda wildcards: read(section[wildcards[each]])) if each else read(section)
        more["config"] = own
    if images is not None:
        more |= {"cache": ".cache/images", "state": images}
    return {"function": f"featlearn.{function}", "code": code(function), **more}


def measured(base, folder, names, function="measure", *, at="*", called=None, section=..., **more):
    """``use rule <base> as <paper>_<experiment>``, where there is no more to say than what it makes.

    ``folder``, ``names``, ``at``: as of :func:`outputs`; ``function``: of the module of that name, or
    ``<module>:<function>``; ``called``: its name after ``<paper>_``, where the experiment has several.
    ``section``: by default that of the experiment's name; ``**more``: as of :func:`by`.
    """
    paper, _, name = folder.replace("-", "_").partition("/")
    place = function if ":" in function else f"{name}:{function}"
    section = config[paper].get(name) if section is ... else section
    info = workflow.params(**by(f"{paper}.experiments.{place}", section, **more))(RuleInfo())
    info = workflow.output(**outputs(folder, names, at))(info)
    workflow.userule([base], name_modifier=f"{paper}_{called or name}")(info)


def parts(section, *names):
    """Those parts of a section of the config that a rule depends on."""
    return {name: section[name] for name in names}


def complete(rules):
    """Give each rule of ours its environment, a log of its name, and a message from a docstring."""
    for one in rules:
        if not str(one.snakefile).startswith(str(ROOT)):
            continue
        text = "all that this target asks for"
        if one.script:
            one.conda_env = one.conda_env or ENVIRONMENT
            text = Path(one.script).read_text().split('"""')[1]
        if one.script and not one.log:
            paper = next(iter(one.output), "").removeprefix(f"{RESULTS}/").partition("/")[0]
            _, found, rest = one.name.partition(f"{paper}_")
            name = f"{paper}/{rest}" if paper and found else one.name
            wildcards = "".join(f"-{{{name}}}" for name in sorted(one.wildcard_names))
            one.log_modifier = workflow.modifier.path_modifier
            one.set_log(f"{LOGS}/{name}{wildcards}.log")
        if "function" in one.params.keys():
            with suppress(FeatlearnError):  # one without a docstring
                text = caption_of(one.params.function)
        words = text.partition("\n")[0].rstrip(".").replace("{", "{{").replace("}", "}}")
        if one.message is None:
            one.message = f"{one.name}: {words}{' -> {output[0]}' if one.output else ''}"


def share(rules):
    """Let other runs and clones have what rules compute on a device, see docs/cluster.md.

    Not declared always, because Snakemake would then ask for a folder at every start; not with
    ``cache`` either, which a rule does not inherit.
    """
    for one in rules if "SNAKEMAKE_OUTPUT_CACHE" in os.environ else ():
        if one.script == MEASURE and "device" in dict(one.params.items()) and one.output:
            one.cache = RuleCache.from_rule(one, True)


def begin_run():
    """Keep the results folder for this run: a second run in it is refused."""
    gc.freeze()
    gc.enable()
    in_words(workspace.hold, Path(RESULTS))
    os.environ[commit.VARIABLE] = commit.commit(ROOT)
    jobs = list(workflow.dag.needrun_jobs())
    claims = PUBLISHED.claims_of({job.rule.name for job in jobs})
    in_words(workspace.told_by, ROOT / "scripts/check_claims.py", claims)
    workspace.one_line_a_job(logger, jobs)
    if workflow.local_exec:
        # with a limit of starts per second the scheduler looks at open jobs hundreds of times a second
        workflow.scheduler.job_rate_limiter = None
        warm.start(len(jobs), config["threads"])


def report_unfinished():
    """Of a run of everything that failed, a report."""
    warm.stop()
    if workflow.dag_settings.targets:
        return
    workspace.write_unfinished(
        ROOT,
        Path(RESULTS),
        {
            "results": RESULTS,
            "wanted": PUBLISHED.artefacts,
            "ledgers": PUBLISHED.ledgers,
            "pages": PUBLISHED.pages,
            "stories": PUBLISHED.stories,
            "entries": asset("config/catalogue.yaml"),
            "config": config,
            "command": COMMAND,
        },
    )
