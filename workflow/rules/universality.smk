# Thesis, chapter 7: universality against label efficiency.

from featlearn.universality import config as universality_config
from featlearn.universality import encoders as universality_encoders

UNIVERSALITY_QUOTED = asset("config/paper_values/universality.yaml")

checked(universality_config.faults(config["universality"]))

UNIVERSALITY_NAMED = universality_config.from_files(config["universality"]["foundation"])


include: "universality/theory.smk"
include: "universality/ladders.smk"
include: "universality/remedy.smk"
include: "universality/foundation.smk"
include: "universality/related.smk"
include: "universality/pictures.smk"
include: "universality/residual.smk"
