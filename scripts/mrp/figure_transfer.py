"""Draw the figure ``transfer``."""

from featlearn.core.job import Job

with Job(snakemake) as job:
    from featlearn.core.files import read_parquet
    from featlearn.core.plots import save
    from featlearn.mrp.figures.transfer import transfer

    drawn = transfer(read_parquet(job.input.accuracy), job.params.cases)
    save(drawn, job.output.svg, job.output.png)
