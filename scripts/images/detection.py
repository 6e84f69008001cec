"""Train detectors on encoders of different origin."""

from featlearn.core.job import Job

with Job(snakemake) as job:
    device = job.device(job.params.device)
    from featlearn.core.files import read_tensors, write_parquet
    from featlearn.mrp.images.detection import detected
    from featlearn.mrp.images.downstream import encoder_of
    from featlearn.mrp.images.experiment import PictureExperiment

    replicate = int(job.wildcards.replicate)
    experiment = PictureExperiment("images", job.config, job.params.seed, replicate, device)
    pretrained = read_tensors(job.input.pretrained)
    classifiers = read_tensors(job.input.supervised)
    supervised = encoder_of(classifiers, job.params.supervised_labels)
    found = detected(experiment, pretrained, supervised, job.config, job.tell)
    write_parquet(found, job.output[0])
