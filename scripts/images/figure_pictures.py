"""Draw part-composed images: the alphabet of parts, a contact sheet with masks, scenes."""

from featlearn.core.job import Job

with Job(snakemake) as job:
    device = job.device("cpu")
    from featlearn.core.plots import save
    from featlearn.images.figures.contact_sheet import contact_sheet, part_alphabet, scene_sheet
    from featlearn.images.scenes import Scenes
    from featlearn.mrp.images.experiment import PictureExperiment

    experiment = PictureExperiment("images", job.config, job.params.seed, 0)
    world = experiment.world
    if job.wildcards.sheet == "parts":
        drawn = part_alphabet(world)
    elif job.wildcards.sheet == "scenes":
        scenes = Scenes(world, job.config["detection"]["scenes"])
        drawn = scene_sheet(scenes.sample(12, (*experiment.name, "scenes", "train")))
    else:
        drawn = contact_sheet(experiment.train)
    save(drawn, job.output.svg, job.output.png)
