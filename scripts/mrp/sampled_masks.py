"""Estimate the teacher-student gradient from sampled masks and compare it with the exact one."""

from featlearn.core.job import Job

with Job(snakemake) as job:
    device = job.device(job.params.device)
    import pandas as pd

    from featlearn.core.files import write_parquet
    from featlearn.mrp.experiment import Experiment
    from featlearn.mrp.masks import COLUMNS, errors

    experiment = Experiment("sampled-masks", job.config, job.params.seed, device)
    seen = list(errors(experiment, job.params.seed, job.config))
    write_parquet(pd.DataFrame(seen, columns=COLUMNS), job.output.errors)
