"""Train with the gradient as printed beside the true one, and with an ordinary copy as teacher."""

from featlearn.core.job import Job

with Job(snakemake) as job:
    device = job.device(job.params.device)
    from featlearn.core.files import write_parquet
    from featlearn.mrp.controls import ordinary_teacher, printed_gradient

    config, seed = job.config, job.params.seed
    gradients, runs = printed_gradient(config, seed, device)
    write_parquet(gradients, job.output.gradients)
    write_parquet(runs, job.output.runs)
    write_parquet(ordinary_teacher(config, seed, device), job.output.ordinary_teacher)
