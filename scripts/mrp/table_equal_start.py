"""Summarise the comparison from equal starts."""

from featlearn.core.job import Job

with Job(snakemake) as job:
    from featlearn.core.files import read_parquet, write_markdown_table, write_parquet
    from featlearn.core.stats import SPREAD_KIND
    from featlearn.core.summary import readable, summary

    keys = ["kernels_per_class", "sigma_0", "model", "quantity"]
    table = summary(read_parquet(job.input.evaluation), keys)
    write_parquet(table, job.output.parquet)
    shown = table[
        table["quantity"].isin(["accuracy_single_view", "captured", "impure_share", "largest"])
    ]
    cells = readable(shown, "value").pivot_table(
        index=keys[:3], columns="quantity", values="value", aggfunc="first", sort=False
    )
    write_markdown_table(
        cells.reset_index(),
        job.output.markdown,
        title="Training from equal starts",
        notes=f"{int(table['replicates'].max())} replicates; after the sign: {SPREAD_KIND}.",
    )
