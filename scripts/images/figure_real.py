"""Draw the figure ``real-images``."""

from featlearn.core.job import Job

with Job(snakemake) as job:
    from featlearn.core.files import read_parquet
    from featlearn.core.plots import save
    from featlearn.mrp.images.real_tables import real_figure

    save(real_figure(read_parquet(job.input[0])), job.output.svg, job.output.png)
