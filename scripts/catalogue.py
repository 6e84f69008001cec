"""Say of every figure and table of the papers what this run made of it."""

from featlearn.core.run.job import Job

with Job(snakemake) as job:
    from featlearn.core.evidence.catalogue import catalogue_frame, read_catalogue
    from featlearn.core.files import write_parquet

    items = [one for one in read_catalogue(job.files("entries")[0])
             if one["paper"] in job.params.papers]  # fmt: skip
    planned = {*job.files("files")}
    write_parquet(catalogue_frame(items, job.results, job.params.command, planned), job.output[0])
