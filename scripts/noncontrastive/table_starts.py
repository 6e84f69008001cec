"""Write the tables of the experiment ``starts``."""

from featlearn.core.job import Job

with Job(snakemake) as job:
    from featlearn.core.files import read_parquet, write_markdown_table, write_parquet
    from featlearn.noncontrastive.tables import TABLES

    frames = {
        "outcomes": read_parquet(job.input.outcomes),
        "diagram": read_parquet(job.input.diagram),
    }
    page = TABLES[job.wildcards.name](frames)
    write_parquet(page.table, job.output.parquet)
    write_markdown_table(page.shown, job.output.markdown, title=page.title, notes=page.notes)
