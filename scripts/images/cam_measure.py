"""Count which parts the classifiers of one replicate use."""

from featlearn.core.job import Job

with Job(snakemake) as job:
    device = job.device(job.params.device)
    import pandas as pd

    from featlearn.core.files import read_tensors, write_parquet
    from featlearn.mrp.images.cams import erasures_of_tests, measured, readings, trained_classifier
    from featlearn.mrp.images.experiment import PictureExperiment

    replicate = int(job.wildcards.replicate)
    experiment = PictureExperiment("images", job.config, job.params.seed, replicate, device)
    tests = erasures_of_tests(experiment, job.params.pictures)
    values, by_part, read = [], [], []
    for file, (start, kind) in zip(job.input, job.params.encoders.items(), strict=True):
        job.tell(start)
        weights = read_tensors(file)
        for labels in job.params.labels:
            classifier = trained_classifier(experiment, kind, weights, labels)
            about = {"start": start, "encoder": kind, "labels": labels, "replicate": replicate}
            for frames, found in zip(
                (values, by_part), measured(experiment, classifier, tests), strict=True
            ):
                frames.append(found.assign(**about))
            if labels == max(job.params.labels):
                read.append(readings(experiment, classifier, tests[0]).assign(**about))
    write_parquet(pd.concat(values, ignore_index=True), job.output.values)
    write_parquet(pd.concat(by_part, ignore_index=True), job.output.by_part)
    write_parquet(pd.concat(read, ignore_index=True), job.output.readings)
