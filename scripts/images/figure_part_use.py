"""Draw which parts classifiers use: bars, one dot a part, ways to read a map, turned dials."""

from featlearn.core.job import Job

with Job(snakemake) as job:
    from featlearn.core.files import read_parquet
    from featlearn.core.plots import save
    from featlearn.mrp.images import cam_tables as tables
    from featlearn.mrp.images.figures import phase_diagrams

    if job.wildcards.what == "part-use":
        drawn = tables.part_use(read_parquet(job.input.values))
    elif job.wildcards.what == "by-part":
        drawn = tables.by_part(read_parquet(job.input.by_part))
    elif job.wildcards.what == "readings":
        drawn = tables.readings(read_parquet(job.input.readings))
    else:
        drawn = phase_diagrams(read_parquet(job.input.phase_diagram), tables.DIAL_QUANTITIES)
    save(drawn, job.output.svg, job.output.png)
