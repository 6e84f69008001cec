"""Draw the figure ``image-views``: made images and what each augmentation makes of them."""

from featlearn.core.job import Job

with Job(snakemake) as job:
    job.device("cpu")
    from featlearn.contrastive.images.experiment import ImageExperiment
    from featlearn.contrastive.images.views import views
    from featlearn.core.plots import save

    cache = job.results / job.params.cache
    experiments = {
        name: ImageExperiment("augmentations", name, job.config[name], cache, job.params.seed, 0)
        for name in job.params.names
    }
    save(views(experiments), job.output.svg, job.output.png)
