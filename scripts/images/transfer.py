"""Fine-tune encoders of the old classes to new ones that share parts."""

from featlearn.core.job import Job

with Job(snakemake) as job:
    device = job.device(job.params.device)
    from featlearn.core.files import read_tensors, write_parquet
    from featlearn.mrp.images.downstream import encoder_of
    from featlearn.mrp.images.experiment import PictureExperiment
    from featlearn.mrp.images.transfer import transferred

    replicate = int(job.wildcards.replicate)
    experiment = PictureExperiment("images", job.config, job.params.seed, replicate, device)
    pretrained = read_tensors(job.input.pretrained)
    classifiers = read_tensors(job.input.supervised)
    supervised = encoder_of(classifiers, job.params.supervised_labels)
    found = transferred(experiment, pretrained, supervised, job.config, job.tell)
    write_parquet(found, job.output[0])
