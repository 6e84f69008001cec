"""Follow a single kernel along a single feature after its capture, in both frameworks."""

from featlearn.core.job import Job

with Job(snakemake) as job:
    job.device("cpu")
    from featlearn.core.files import write_parquet
    from featlearn.mrp.one_kernel import run_one_kernel

    frames = run_one_kernel(job.config, job.params.seed)
    for name, frame in frames.items():
        write_parquet(frame, getattr(job.output, name))
