"""Judge the claims of the teacher-student experiment."""

from featlearn.core.job import Job

with Job(snakemake) as job:
    from featlearn.core.claims import ledger
    from featlearn.core.files import read_parquet, write_parquet
    from featlearn.mrp.claims.teacher_student import CLAIMS
    from featlearn.mrp.noise_scales import scales

    frames = {
        "evaluation": read_parquet(job.input.evaluation),
        "noise": read_parquet(job.input.noise),
        "scales": scales(job.config["teacher_student"]),
    }
    write_parquet(ledger(CLAIMS, frames, job.config), job.output[0])
