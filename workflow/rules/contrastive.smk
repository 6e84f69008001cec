# Wen & Li: why augmentation lets contrastive learning find sparse features.
# One file an experiment; each adds to CONTRASTIVE_FILES what it makes.

from featlearn.contrastive import config as contrastive_config

try:
    refuse(contrastive_config.faults(config["contrastive"]))
except FeatlearnError as error:
    raise WorkflowError(str(error))

CONTRASTIVE = f"{RESULTS}/contrastive"
CONTRASTIVE_FILES = []
tell_story("contrastive")


include: "contrastive/stages.smk"
include: "contrastive/trained_thresholds.smk"
include: "contrastive/ablations.smk"
include: "contrastive/scaling.smk"
include: "contrastive/identities.smk"
include: "contrastive/image_inputs.smk"
include: "contrastive/images.smk"


rule contrastive:
    input:
        CONTRASTIVE_FILES,
