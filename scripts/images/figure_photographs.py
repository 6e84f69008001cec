"""Draw maps of networks with official weights on a folder of photographs."""

from featlearn.core.job import Job

with Job(snakemake) as job:
    device = job.device(job.params.device)
    from featlearn.core.plots import save
    from featlearn.images.photographs import photographs, weighted_maps
    from featlearn.mrp.images.cam_figures import photograph_maps

    settings = job.config
    images = photographs(settings["folder"], settings["image_size"], settings["count"])
    maps = weighted_maps(settings["models"], images, settings["weights_folder"], device)
    save(photograph_maps(images, maps), job.output.svg, job.output.png)
