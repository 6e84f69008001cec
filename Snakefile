# The front door: read and check the config, include the papers, name the targets.
#
#   snakemake --cores 2                                   everything, at desk scale
#   snakemake --cores 2 mrp                               one paper
#   snakemake --cores 2 results/desk/mrp/figures/headline.svg
#   snakemake --cores 2 --configfile config/scale/smoke.yaml
#   snakemake --cores 2 real_images --configfile mine.yaml    your own images

from snakemake.utils import min_version

min_version("9.0")


include: "workflow/rules/common.smk"
include: "workflow/rules/mrp.smk"
include: "workflow/rules/images.smk"
include: "workflow/rules/eigencam.smk"
include: "workflow/rules/contrastive.smk"
include: "workflow/rules/noncontrastive.smk"
include: "workflow/rules/results.smk"


rule all:
    default_target: True
    input:
        ARTEFACTS,
        LEDGERS,
        f"{RESULTS}/claims.parquet",
        f"{RESULTS}/catalogue.parquet",
        f"{RESULTS}/report.html",
        f"{RESULTS}/checksums.txt",


onstart:
    hold_results()


onerror:
    tell_unfinished()


onsuccess:
    run.forget_unfinished(Path(RESULTS))
