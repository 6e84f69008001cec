"""Time when every feature reaches the target correlation, at several scales of the start."""

from featlearn.core.job import Job

with Job(snakemake) as job:
    device = job.device(job.params.device)
    import pandas as pd

    from featlearn.core.files import write_parquet
    from featlearn.core.progress import Progress
    from featlearn.mrp.growth import run_cases

    steps = max(job.config[name]["max_steps"] for name in ("mae", "teacher_student"))
    report = Progress(job.rule, steps).report
    done = list(run_cases(job.config, job.params.seed, device, report))
    hits, curves = zip(*done, strict=True)
    write_parquet(pd.concat(hits, ignore_index=True), job.output.hits)
    write_parquet(pd.concat(curves, ignore_index=True), job.output.curves)
