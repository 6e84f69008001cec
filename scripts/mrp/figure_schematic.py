"""Draw Figure 2 or Figure 6 of the paper, its two schematics."""

from featlearn.core.job import Job

with Job(snakemake) as job:
    from featlearn.core.plots import save
    from featlearn.mrp.schematics import masked_autoencoder, teacher_student

    schematics = {"fig-2": teacher_student, "fig-6": masked_autoencoder}
    save(schematics[job.wildcards.name](), job.output.svg, job.output.png)
