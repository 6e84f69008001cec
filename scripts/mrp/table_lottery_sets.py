"""Initial correlations and lottery sets of every size."""

from featlearn.core.job import Job

with Job(snakemake) as job:
    from featlearn.core.files import read_parquet, write_markdown_table, write_parquet
    from featlearn.core.stats import SPREAD_KIND
    from featlearn.core.summary import side_by_side
    from featlearn.mrp.lottery_tables import HEADS, SIZE, for_readers, lottery_table

    table = lottery_table(read_parquet(job.input.lottery))
    write_parquet(table, job.output.parquet)
    write_markdown_table(
        side_by_side(for_readers(table), list(SIZE.values()), "quantity", HEADS),
        job.output.markdown,
        title="Initial correlations and lottery sets",
        notes=f"Two features a class. After the sign: {SPREAD_KIND}.",
    )
