"""Put claims, figures, tables, catalogue and costs of a run on one offline HTML page."""

from featlearn.core.job import Job

with Job(snakemake) as job:
    from featlearn.core.report import render

    page = render(
        claims=job.input.claims,
        catalogue=job.input.catalogue,
        pages=job.params.pages,
        stories=job.params.stories,
        results=job.results,
        config=job.config,
        command=job.params.command,
    )
    job.output[0].write_text(page, encoding="utf-8")
