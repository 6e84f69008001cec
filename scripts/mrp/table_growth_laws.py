"""Measured against predicted hitting times."""

from featlearn.core.job import Job

with Job(snakemake) as job:
    from featlearn.core.files import read_parquet, write_markdown_table, write_parquet
    from featlearn.core.stats import SPREAD_KIND
    from featlearn.core.summary import side_by_side
    from featlearn.mrp.growth_fits import CASES, QUANTITIES, growth_table

    table = growth_table(read_parquet(job.input.hits))
    write_parquet(table, job.output.parquet)
    write_markdown_table(
        side_by_side(table.replace({"quantity": QUANTITIES}), ["quantity"], "case", CASES),
        job.output.markdown,
        title="Growth laws",
        notes="Fits over all features and all sigma_0 of a replicate. "
        f"After the sign: {SPREAD_KIND}.",
    )
