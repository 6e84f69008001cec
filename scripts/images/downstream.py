"""Probe and fine-tune one encoder, with few and with many labels."""

from featlearn.core.job import Job

with Job(snakemake) as job:
    device = job.device(job.params.device)
    from featlearn.core.files import read_tensors, write_parquet, write_tensors
    from featlearn.mrp.images.downstream import evaluate
    from featlearn.mrp.images.experiment import PictureExperiment

    start, replicate = job.wildcards.start, int(job.wildcards.replicate)
    experiment = PictureExperiment("images", job.config, job.params.seed, replicate, device)
    weights = read_tensors(job.input[0]) if len(job.input) else None
    kind = job.params.encoder
    found, trained = evaluate(experiment, kind, weights, job.config["comparison"], job.tell)
    write_tensors(trained, job.output.weights)
    told = found.assign(start=start, encoder=kind, replicate=replicate)
    write_parquet(told, job.output.evaluation)
