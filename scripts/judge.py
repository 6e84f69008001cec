"""Judge the claims of an experiment."""

from featlearn.core.run.job import Job

with Job(snakemake) as job:
    from importlib import import_module

    from featlearn.core.evidence.claims import judged
    from featlearn.core.files import write_parquet

    files = {name: job.below_results(name) for name in job.input.groups}
    module = import_module(job.params.module)
    # far from the run's config a claim may have nothing to measure
    at_point = job.params.get("point", False)
    write_parquet(judged(module, job.frame, files, job.config, at_point), job.output[0])
