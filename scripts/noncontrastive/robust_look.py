"""Draw what channels of the networks of Figure 5 respond to, and measure how alike it is."""

from featlearn.core.job import Job

with Job(snakemake) as job:
    device = job.device(job.params.device)
    import pandas as pd

    from featlearn.core.files import read_tensors, write_parquet
    from featlearn.noncontrastive.images.cells import ROBUST_TRAINED, UNTRAINED, WITHOUT
    from featlearn.noncontrastive.images.experiment import HeadExperiment
    from featlearn.noncontrastive.images.robust import look

    name, replicate = job.wildcards.head_set, int(job.wildcards.replicate)
    cache = job.results / job.params.cache
    experiment = HeadExperiment(name, job.config, cache, job.params.seed, replicate, device)
    weights = dict(zip(ROBUST_TRAINED, job.files("weights"), strict=True)) | {UNTRAINED: None}
    values, pictures = [], []
    for arm, path in weights.items():
        job.tell(f"{name} {arm}-{replicate}")
        # encoder and projection are all that is read off: before training the arms agree in these
        network = experiment.robust_objective(WITHOUT if path is None else arm)
        if path is not None:
            network.load_state_dict(read_tensors(path))
        found = look(experiment, network.to(device))
        told = {"data_set": name, "run": arm, "replicate": replicate}
        values.append(found.quantities.assign(**told))
        pictures.append(found.pictures.assign(**told))
    write_parquet(pd.concat(values, ignore_index=True), job.output.values)
    write_parquet(pd.concat(pictures, ignore_index=True), job.output.pictures)
