"""Show what becomes of verdicts as keys of the config change."""

from featlearn.core.run.job import Job

with Job(snakemake) as job:
    from featlearn.core.publishing.sweeps import drawn, joined, shown
    from featlearn.core.run.outputs import write_exhibit

    frames = [job.frame(f"at_{number}") for number in range(len(job.params.points))]
    rows = joined(frames, job.params.points, job.params.swept, job.params.claims)
    files = iter(job.output)
    table = shown(rows, job.params.swept, job.params.jobs, job.params.run)
    write_exhibit(table, next(files), next(files), title="Verdicts along a sweep")
    for claim in job.params.claims:
        figure = drawn(rows[rows["claim"] == claim], job.params.swept, job.params.run)
        write_exhibit(figure, next(files), next(files))
