"""Draw the figure ``noise_alignment``."""

from featlearn.core.job import Job

with Job(snakemake) as job:
    from featlearn.core.files import read_parquet
    from featlearn.core.plots import save
    from featlearn.mrp.figures.teacher_student import noise_alignment

    drawn = noise_alignment(read_parquet(job.input.noise), job.params.sigma_0, job.params.gamma_k)
    save(drawn, job.output.svg, job.output.png)
