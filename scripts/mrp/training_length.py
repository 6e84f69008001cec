"""Measure the lottery again and again during one long supervised training."""

from featlearn.core.job import Job

with Job(snakemake) as job:
    device = job.device(job.params.device)
    import pandas as pd

    from featlearn.core.files import write_parquet
    from featlearn.core.progress import Progress
    from featlearn.mrp.classes import length_rows, section_of
    from featlearn.mrp.measure import EVALUATION_COLUMNS
    from featlearn.mrp.sweep import Batch

    length = job.config["length"]
    classes = length["scaling"]["reference_classes"]
    section = section_of(length["scaling"], length["network"], classes, job.config["replicates"])
    batch = Batch("training-length", [section], job.params.seed, device)
    progress = Progress(job.rule, max(length["watched"]))
    rows = length_rows(batch, length, progress.report)
    frame = pd.DataFrame(
        [(step, *row) for step, row in rows], columns=["step", *EVALUATION_COLUMNS]
    )
    # comparable at other learning rates and numbers of classes
    frame.insert(1, "time", frame["step"] * length["learning_rate_per_class"])
    write_parquet(frame, job.output[0])
