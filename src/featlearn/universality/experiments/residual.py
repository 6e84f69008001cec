"""The ladder of pictures with residual networks, as of ``pictures``."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pandas as pd

from featlearn.universality.experiments.pictures import climbed, lay
from featlearn.universality.residual import Residual

if TYPE_CHECKING:
    from featlearn.core.run.job import Job
    from featlearn.core.run.outputs import Results


def measure(job: Job) -> Results:
    """Pre-train residual networks on growing mixtures of pictures, and probe each set."""
    config, laid = job.config, lay(job, "residual")
    body = Residual(config["encoder"], config["side"] + config["room"], config["features"])
    begun = body.start(config["width"], laid.streams)
    return {"pictures": pd.DataFrame(climbed(job, laid, begun, body))}
