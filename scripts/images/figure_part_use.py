"""Draw which parts classifiers use: bars with differences, or one dot a part."""

from featlearn.core.job import Job

with Job(snakemake) as job:
    from featlearn.core.files import read_parquet
    from featlearn.core.plots import save
    from featlearn.mrp.images.cam_tables import by_part, part_use

    if job.wildcards.what == "part-use":
        drawn = part_use(read_parquet(job.input.values))
    else:
        drawn = by_part(read_parquet(job.input.by_part))
    save(drawn, job.output.svg, job.output.png)
