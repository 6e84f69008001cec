"""Write the tables of the experiment ``phases``."""

from featlearn.core.job import Job

with Job(snakemake) as job:
    from featlearn.core.files import read_parquet, write_markdown_table, write_parquet
    from featlearn.noncontrastive.tables import TABLES

    frames = {"times": read_parquet(job.input.times), "curves": read_parquet(job.input.curves)}
    page = TABLES[job.wildcards.name](frames)
    write_parquet(page.table, job.output.parquet)
    write_markdown_table(page.shown, job.output.markdown, title=page.title, notes=page.notes)
