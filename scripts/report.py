"""Put claims, figures, tables, catalogue and costs of a run on one offline HTML page."""

from featlearn.core.job import Job

with Job(snakemake) as job:
    from pathlib import Path

    from featlearn.core.findings import read_findings
    from featlearn.core.report import render

    page = render(
        claims=job.input.claims,
        catalogue=job.input.catalogue,
        pages=job.params.pages,
        stories=job.params.stories,
        results=job.results,
        config=job.config,
        command=job.params.command,
        findings=read_findings(Path(job.input.findings)),
    )
    job.output[0].write_text(page, encoding="utf-8")
