"""Summarise detection on real images, by start of the encoder."""

from featlearn.core.job import Job

with Job(snakemake) as job:
    from featlearn.core.files import read_parquet, write_markdown_table, write_parquet
    from featlearn.core.stats import SPREAD_KIND
    from featlearn.mrp.images.real_tables import detection_table, wide_detection

    table = detection_table(read_parquet(job.input[0]))
    write_parquet(table, job.output.parquet)
    write_markdown_table(
        wide_detection(table),
        job.output.markdown,
        title="Average precision of a detector, by start of its encoder",
        notes=f"As COCO counts it, mean over classes; after the sign: {SPREAD_KIND}.",
    )
