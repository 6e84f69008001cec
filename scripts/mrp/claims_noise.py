"""Judge the claims about MAE kernels and noise."""

from featlearn.core.job import Job

with Job(snakemake) as job:
    from featlearn.core.claims import ledger
    from featlearn.core.files import read_parquet, write_parquet
    from featlearn.mrp.claims.noise import MAE
    from featlearn.mrp.noise_scales import scales

    frames = {"noise": read_parquet(job.input.noise), "scales": scales(job.config["headline"])}
    write_parquet(ledger(MAE, frames, job.config), job.output[0])
