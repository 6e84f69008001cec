"""The printed gradient of the MAE loss against the true one."""

from featlearn.core.job import Job

with Job(snakemake) as job:
    from featlearn.core.files import read_parquet, write_markdown_table, write_parquet
    from featlearn.core.stats import SPREAD_KIND
    from featlearn.core.summary import side_by_side
    from featlearn.mrp.oracle_tables import PRINTED_HEADS, printed_gradient_table

    table = printed_gradient_table(
        read_parquet(job.input.instances), read_parquet(job.input.gradients)
    )
    write_parquet(table, job.output.parquet)
    write_markdown_table(
        side_by_side(table, ["inputs"], "quantity", PRINTED_HEADS),
        job.output.markdown,
        title="Printed against true gradient",
        notes="Random inputs, and multi-view data along a training with the true gradient. "
        f"After the sign: {SPREAD_KIND}.",
    )
