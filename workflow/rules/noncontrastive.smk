# Wen & Li: how the prediction head keeps non-contrastive learning from collapse.
# One file an experiment; each adds to NONCONTRASTIVE_FILES what it makes.

from featlearn.noncontrastive import config as noncontrastive_config

try:
    refuse(noncontrastive_config.faults(config["noncontrastive"]))
except FeatlearnError as error:
    raise WorkflowError(str(error))

NONCONTRASTIVE = f"{RESULTS}/noncontrastive"
NONCONTRASTIVE_FILES = []
tell_story("noncontrastive")


include: "noncontrastive/algorithm.smk"
include: "noncontrastive/phases.smk"
include: "noncontrastive/starts.smk"
include: "noncontrastive/oracles.smk"
include: "noncontrastive/image_inputs.smk"
include: "noncontrastive/images.smk"
include: "noncontrastive/robust.smk"
include: "noncontrastive/paper_items.smk"


rule noncontrastive:
    input:
        NONCONTRASTIVE_FILES,
