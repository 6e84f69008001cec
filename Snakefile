# The front door: read and check the config, include the papers, name the targets.
#
#   snakemake --cores 2                                   everything, at the scale `tour`
#   snakemake --cores 2 mrp                               one paper
#   snakemake --cores 2 results/tour/mrp/figures/headline.svg
#   snakemake --cores 2 --configfile config/scale/desk.yaml
#   snakemake --cores 2 real_images --configfile mine.yaml    your own images

from snakemake.utils import min_version

min_version("9.20")


include: "workflow/rules/common.smk"
include: "workflow/rules/base.smk"


in_words(refuse_papers, config)

for paper in config["papers"]:
    PUBLISHED.paper(paper)

    include: f"workflow/rules/{paper}.smk"


if "real_images" in config:

    include: "workflow/rules/own_images.smk"


PUBLISHED.take(workflow.rules)
PUBLISHED.close()


include: "workflow/rules/exhibits.smk"
include: "workflow/rules/results.smk"


SWEEP = in_words(sweeps.read, config, ROOT) if "sweep" in config else None
# Snakemake knows its targets when all rules are read; a plan without neighbours reads none of theirs
WITH_NEIGHBOURS = neighbours.wanted(sys.argv[1:])
NEIGHBOURS = []
if WITH_NEIGHBOURS:
    judging = {f"{one.paper}/{one.name}" for one in PUBLISHED.experiments if one.claims}
    NEIGHBOURS = in_words(list, neighbours.read(config, judging, ROOT))
POINTS = [*SWEEP.points, *SWEEP.probes] if SWEEP else []
POINTS += [one.point for one in NEIGHBOURS]
if POINTS:

    include: "workflow/rules/points.smk"


if SWEEP:

    include: "workflow/rules/sweep.smk"


if WITH_NEIGHBOURS:

    include: "workflow/rules/neighbours.smk"


if POINTS:
    PLAN.close()
share(workflow.rules)
in_words(refuse, rule_faults(workflow.rules, fingerprint), "the rules are")


rule all:
    default_target: True
    input:
        PUBLISHED.artefacts,
        RESULTS_FILES,
        rules.sweep.output if SWEEP else [],


complete(workflow.rules)
keep_notes()


onstart:
    begin_run()


onerror:
    report_unfinished()


onsuccess:
    warm.stop()
    (Path(RESULTS) / workspace.UNFINISHED).unlink(missing_ok=True)
