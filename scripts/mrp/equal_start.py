"""Train all models from the same kernels, at every size and number of them."""

from featlearn.core.job import Job

with Job(snakemake) as job:
    device = job.device(job.params.device)
    import pandas as pd

    from featlearn.core.files import write_parquet
    from featlearn.core.progress import Progress
    from featlearn.mrp.classify import Task
    from featlearn.mrp.equal_start import COLUMNS, compare, experiment_at

    starts = [(m, s) for m in job.config["kernels_per_class"] for s in job.config["sigma_0"]]
    progress = Progress(job.rule, len(starts))
    seen = []
    task = None
    for number, (kernels, sigma_0) in enumerate(starts):
        experiment = experiment_at(job.config, job.params.seed, device, kernels, sigma_0)
        task = task or Task.of(experiment)
        seen += [(kernels, sigma_0, *row) for row in compare(experiment, task, job.config)]
        progress.report(number + 1, lambda: {})
    write_parquet(pd.DataFrame(seen, columns=COLUMNS), job.output.evaluation)
