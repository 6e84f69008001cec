"""Draw the figures and write the tables of an experiment, in one process."""

from featlearn.core.run.job import Job

with Job(snakemake) as job:
    import functools
    from copy import copy
    from importlib import import_module

    from featlearn.core.run.outputs import write_exhibit

    # what several exhibits read is read once; each gets a copy of its own
    frame = functools.cache(job.frame)
    files = iter(job.output)
    for shown in job.params.exhibits:
        function = getattr(import_module(shown["module"]), shown["function"])
        given = {
            name: job.config if name == "config" else copy(frame(name)) for name in shown["frames"]
        }
        made = function(**given, **shown["fixed"])
        write_exhibit(made, next(files), next(files), title=shown["title"])
