"""More atoms."""

from featlearn.core.job import Job

with Job(snakemake) as job:
    import pandas as pd

    from featlearn.contrastive.tables import scaling, scaling_for_reading
    from featlearn.core.files import read_parquet, write_markdown_table, write_parquet
    from featlearn.core.stats import SPREAD_KIND

    table = scaling(pd.concat([read_parquet(path) for path in job.files("sizes")]))
    write_parquet(table, job.output.parquet)
    write_markdown_table(
        scaling_for_reading(table),
        job.output.markdown,
        title="More atoms",
        notes=f"{int(table['replicates'].max())} replicates; after the sign: {SPREAD_KIND}.",
    )
