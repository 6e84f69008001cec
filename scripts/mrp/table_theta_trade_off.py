"""Captured features and times over the keep probability."""

from featlearn.core.job import Job

with Job(snakemake) as job:
    from featlearn.core.files import read_parquet, write_markdown_table, write_parquet
    from featlearn.core.stats import SPREAD_KIND
    from featlearn.core.summary import side_by_side
    from featlearn.mrp.keep_probability_tables import HEADS, trade_off_table

    table = trade_off_table(read_parquet(job.input.trade_off), read_parquet(job.input.fixed_points))
    write_parquet(table, job.output.parquet)
    write_markdown_table(
        side_by_side(table, ["framework", "theta"], "quantity", HEADS),
        job.output.markdown,
        title="The keep probability",
        notes="A time that never came counts as the length of the run. "
        f"After the sign: {SPREAD_KIND}.",
    )
