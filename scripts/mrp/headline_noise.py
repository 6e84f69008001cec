"""How far the headline's MAE kernels align with the noise of training and of fresh samples."""

from featlearn.core.job import Job

with Job(snakemake) as job:
    device = job.device(job.params.device)
    import pandas as pd

    from featlearn.core.files import read_tensors, write_parquet
    from featlearn.mrp.experiment import Experiment
    from featlearn.mrp.noise import NOISE_COLUMNS, noise_of

    experiment = Experiment("headline", job.config, job.params.seed, device)
    w = read_tensors(job.input.pretrained, device)["w"]
    write_parquet(pd.DataFrame(noise_of(experiment, w), columns=NOISE_COLUMNS), job.output[0])
