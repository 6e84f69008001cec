"""Draw Figure 5."""

from featlearn.core.job import Job

with Job(snakemake) as job:
    import pandas as pd

    from featlearn.core.files import read_parquet
    from featlearn.core.plots import save
    from featlearn.noncontrastive.figures.robust import fig_5
    from featlearn.noncontrastive.images.words import ordered

    pictures = pd.concat([read_parquet(path) for path in job.files("pictures")], ignore_index=True)
    drawn = fig_5(read_parquet(job.input.values), pictures, list(ordered(job.config)))
    save(drawn, job.output.svg, job.output.png)
