"""Decode a data set of real images; say what was found and what could not be used."""

from featlearn.core.job import Job

with Job(snakemake) as job:
    device = job.device("cpu")
    from featlearn.core.files import write_parquet
    from featlearn.mrp.images.real import describe

    name = job.wildcards.image_set
    cache = job.results / job.params.cache
    summary, faults = describe(job.config, cache, job.params.seed, name)
    by_role = summary.groupby("role", sort=False)["images"].sum()
    told = ", ".join(f"{count} to {role}" for role, count in by_role.items())
    job.tell(f"{name}: {summary['class'].nunique()} classes; {told}; {len(faults)} left out")
    write_parquet(summary, job.output.summary)
    write_parquet(faults, job.output.faults)
