"""Put what was found on images of a user's own on one offline HTML page."""

from featlearn.core.run.job import Job

with Job(snakemake) as job:
    from featlearn.own_images.report import render

    page = render(
        folder=job.results / "own_images",
        captions=job.params.captions,
        faults=dict(zip(job.config, job.files("faults"), strict=True)),
        twice=dict(zip(job.config, job.files("twice"), strict=True)),
        config={"run": job.params.run, "seed": job.params.seed},
        settings=job.config,
        command=job.params.command,
    )
    job.output[0].write_text(page, encoding="utf-8")
