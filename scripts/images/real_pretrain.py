"""Pre-train an encoder on a data set of real images, without labels."""

from featlearn.core.job import Job

with Job(snakemake) as job:
    device = job.device(job.params.device)
    import json

    from featlearn.images.together import Layout, run_together
    from featlearn.mrp.images import pretrain_together

    pretraining = job.config["pretraining"]
    staging = job.output.weights.parent
    arguments = {
        "results": job.results,
        "staging": staging,
        "weights": job.output.weights,
        "history": job.output.history,
        "name": job.wildcards.image_set,
        "settings": job.config,
        "cache": job.results / job.params.cache,
        "seed": job.params.seed,
        "replicate": int(job.wildcards.replicate),
        "device": job.params.device,
        "threads": job.threads,
    }
    layout = Layout(pretraining["processes"], pretraining["nodes"])
    if layout.processes == 1:
        pretrain_together.train(arguments, device)
    else:
        told = staging / "arguments.json"
        arguments["checkpoints"] = job.checkpoints
        told.write_text(json.dumps(arguments, default=str), encoding="utf-8")
        run_together(pretrain_together.MODULE, [str(told)], layout)
