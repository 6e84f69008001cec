"""What part-composed pictures look like: the alphabet of parts, a contact sheet, scenes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from featlearn.images.figures import contact_sheet as sheets
from featlearn.images.scenes import Scenes
from featlearn.mrp.images.experiment import PictureExperiment

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from featlearn.core.job import Job


def sheet(job: Job) -> Figure:
    """Draw the sheet that the job's wildcard names."""
    experiment = PictureExperiment("images", job.config, job.seed, 0)
    return SHEETS[job.wildcards.sheet](experiment)


def parts(experiment: PictureExperiment) -> Figure:
    """The parts of the classes

    Every class of the part-composed pictures of the first replicate has the parts of one group. Each
    part is drawn by a procedure: a shape, filled with a texture in a colour pair. They are the
    characteristic features of the theory, and each replicate draws its own alphabet of them. *What to
    see:* what a network can learn here is known by construction, and so is which part of a picture it
    should look at.
    """
    return sheets.part_alphabet(experiment.world)


def contact_sheet(experiment: PictureExperiment) -> Figure:
    """The pictures, and what is known about them

    Training pictures of the first replicate, a few of each of the first classes, each beside its parts without
    what lies around them. All parts of the own class are strong; parts of other classes may lie around
    faintly, as the theory's distractors; the rest is background and noise. *What to see:* a multi-view picture can be classified by
    any one of its parts, which is what lets supervised training stop at one.
    """
    return sheets.contact_sheet(experiment.train)


def scenes(experiment: PictureExperiment) -> Figure:
    """Scenes for detection

    Scenes of several objects with their boxes. An object is a body that carries the parts of its class;
    loose parts lie around and are no objects. *What to see:* the detector has to find bodies and to read
    their parts, which is where an encoder that knows the parts should help.
    """
    drawn = Scenes(experiment.world, experiment.settings["detection"]["scenes"])
    return sheets.scene_sheet(drawn.sample(12, (*experiment.name, "scenes", "train")))


#: Each sheet by its name behind ``images-``.
SHEETS = {"parts": parts, "contact-sheet": contact_sheet, "scenes": scenes}
