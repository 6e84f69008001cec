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


for paper in config["papers"]:
    PUBLISHED.paper(paper)

    include: f"workflow/rules/{paper}.smk"


PUBLISHED.take(workflow.rules)
share(workflow.rules)
PUBLISHED.close()


include: "workflow/rules/exhibits.smk"
include: "workflow/rules/results.smk"


in_words(refuse, rule_faults(workflow.rules, fingerprint), "the rules are")
keep_notes()


rule all:
    default_target: True
    input:
        PUBLISHED.artefacts,
        RESULTS_FILES,


onstart:
    begin_run()


onerror:
    tell_unfinished(log)


onsuccess:
    warm.stop()
    run.forget_unfinished(Path(RESULTS))
