"""Draw what channels of a network of Figure 5 respond to, and measure how alike it is."""

from featlearn.core.job import Job

with Job(snakemake) as job:
    device = job.device(job.params.device)
    from featlearn.core.files import read_tensors, write_parquet
    from featlearn.noncontrastive.images.cells import UNTRAINED, WITHOUT
    from featlearn.noncontrastive.images.experiment import HeadExperiment
    from featlearn.noncontrastive.images.robust import look

    name, arm = job.wildcards.head_set, job.wildcards.robust_arm
    replicate, cache = int(job.wildcards.replicate), job.results / job.params.cache
    experiment = HeadExperiment(name, job.config, cache, job.params.seed, replicate, device)
    # encoder and projection are all that is read off: before training the arms agree in these
    network = experiment.robust_objective(WITHOUT if arm == UNTRAINED else arm)
    if arm != UNTRAINED:
        network.load_state_dict(read_tensors(job.input.weights))
    found = look(experiment, network.to(device))
    told = {"data_set": name, "run": arm, "replicate": replicate}
    write_parquet(found.quantities.assign(**told), job.output.values)
    write_parquet(found.pictures.assign(**told), job.output.pictures)
