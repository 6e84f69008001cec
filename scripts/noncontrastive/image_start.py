"""Read off an untrained network: what the encoder's random start is worth."""

from featlearn.core.job import Job

with Job(snakemake) as job:
    device = job.device(job.params.device)
    from featlearn.core.files import write_parquet
    from featlearn.noncontrastive.images.cells import UNTRAINED, cell_of
    from featlearn.noncontrastive.images.experiment import HeadExperiment
    from featlearn.noncontrastive.images.measure import measure

    name, replicate = job.wildcards.head_set, int(job.wildcards.replicate)
    cache = job.results / job.params.cache
    experiment = HeadExperiment(name, job.config, cache, job.params.seed, replicate, device)
    # head and norm come after what is read off
    network = experiment.objective(cell_of("none-batch-self")).to(device)
    found = measure(experiment, network)
    told = found.quantities.assign(data_set=name, run=UNTRAINED, replicate=replicate)
    write_parquet(told, job.output[0])
