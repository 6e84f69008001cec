"""Compute: call the function that the rule names, and write what it gives."""

from featlearn.core.run.job import Job

with Job(snakemake) as job:
    import inspect
    from importlib import import_module

    from featlearn.core.run.outputs import write

    job.refuse_diverged()
    if job.params.get("device"):
        from featlearn.core.training.devices import prepare

        job.device = prepare(job.params.device, job.threads, job.params.get("compile", "never"))
    module, _, name = job.params.function.partition(":")
    function = getattr(import_module(module), name)
    title = (inspect.getdoc(function) or "").partition("\n")[0]
    write(
        function(job),
        job.output,
        function=job.params.function,
        title=title,
        may_be_empty=job.params.get("may_be_empty", ()),
    )
