"""Draw the figure ``images-transfer``."""

from featlearn.core.job import Job

with Job(snakemake) as job:
    from featlearn.core.files import read_parquet
    from featlearn.core.plots import save
    from featlearn.mrp.images.figures import transfer

    drawn = transfer(read_parquet(job.input.transfer), read_parquet(job.input.detection))
    save(drawn, job.output.svg, job.output.png)
