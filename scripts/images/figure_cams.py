"""Draw the paper's figures of maps on part-composed pictures of the first replicate."""

from featlearn.core.job import Job

with Job(snakemake) as job:
    device = job.device("cpu")
    from featlearn.core.files import read_tensors
    from featlearn.core.plots import save
    from featlearn.mrp.images import cam_figures as figures
    from featlearn.mrp.images.cam_tables import SHORT
    from featlearn.mrp.images.cams import trained_classifier
    from featlearn.mrp.images.experiment import PictureExperiment

    experiment = PictureExperiment("images", job.config, job.params.seed, 0)
    shown, labels = job.params.shown, job.params.labels
    classifiers = {
        SHORT[start]: trained_classifier(experiment, kind, read_tensors(file), labels)
        for file, (start, kind) in zip(job.input, job.params.encoders.items(), strict=True)
    }
    pictures = experiment.test[0]
    one, *two = (label - 1 for label in shown["classes"])
    if job.wildcards.figure == "fig-1":
        of_class = figures.first_of_class(pictures, one, len(pictures.labels))
        every = figures.sheet(experiment, classifiers, of_class)
        drawn = figures.one_class(every.first(shown["many"]), every)
    elif job.wildcards.figure == "fig-4":
        panels = [figures.first_of_class(pictures, label, shown["few"]) for label in two]
        drawn = figures.two_classes(
            [figures.sheet(experiment, classifiers, panel) for panel in panels]
        )
    else:
        few = figures.first_of_each_class(pictures, shown["few"])
        across = 2 if job.wildcards.figure == "fig-5" else 3
        drawn = figures.each_class(figures.sheet(experiment, classifiers, few), across)
    save(drawn, job.output.svg, job.output.png)
