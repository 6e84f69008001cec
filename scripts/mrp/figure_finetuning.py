"""Draw the figure ``finetuning``."""

from featlearn.core.job import Job

with Job(snakemake) as job:
    from featlearn.core.files import read_parquet
    from featlearn.core.plots import save
    from featlearn.mrp.figures.finetuning import finetuning

    drawn = finetuning(
        read_parquet(job.input.learning), read_parquet(job.input.evaluation), job.params.classes
    )
    save(drawn, job.output.svg, job.output.png)
