"""Errors of the closed forms, and the races of the sequence lemma."""

from featlearn.core.job import Job

with Job(snakemake) as job:
    from featlearn.core.files import read_parquet, write_markdown_table, write_parquet
    from featlearn.core.stats import SPREAD_KIND
    from featlearn.core.summary import side_by_side
    from featlearn.mrp.oracle_tables import oracle_table

    table = oracle_table(read_parquet(job.input.instances), read_parquet(job.input.races))
    write_parquet(table, job.output.parquet)
    write_markdown_table(
        side_by_side(table, ["text"], "q", {q: f"q = {q}" for q in sorted(set(table["q"]))}),
        job.output.markdown,
        title="The closed forms against brute force",
        notes="Relative errors unless the text says otherwise, in float64; a replicate is one "
        f"random instance. After the sign: {SPREAD_KIND}.",
    )
