"""Errors of the closed forms, and the races of the sequence lemma."""

from featlearn.core.job import Job

with Job(snakemake) as job:
    from featlearn.core.files import read_parquet, write_markdown_table, write_parquet
    from featlearn.mrp.oracle_tables import largest_errors, oracle_table

    table = oracle_table(read_parquet(job.input.instances), read_parquet(job.input.races))
    write_parquet(table, job.output.parquet)
    instances = int(table["replicates"].max())
    write_markdown_table(
        largest_errors(table),
        job.output.markdown,
        title="The closed forms against brute force",
        notes="Relative errors unless the text says otherwise, in float64; the largest of "
        f"{instances} random instances (of the printed gradient: the mean over kernel sizes).",
    )
