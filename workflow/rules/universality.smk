# Thesis, chapter 7: universality against label efficiency.

from featlearn.universality import config as universality_config

checked(universality_config.faults(config["universality"]))


include: "universality/theory.smk"
include: "universality/ladders.smk"
