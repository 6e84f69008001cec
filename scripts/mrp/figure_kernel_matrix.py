"""Draw the figure ``kernel_matrix``."""

from featlearn.core.job import Job

with Job(snakemake) as job:
    from featlearn.core.files import read_parquet
    from featlearn.core.plots import save
    from featlearn.mrp.figures.teacher_student import kernel_matrix

    drawn = kernel_matrix(read_parquet(job.input.matrix), job.params.varrho)
    save(drawn, job.output.svg, job.output.png)
