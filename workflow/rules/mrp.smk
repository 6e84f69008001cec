# Pan, Zhou & Yan: why mask-reconstruction pre-training helps in downstream tasks.
# One file an experiment; each adds to MRP_FILES what it makes.

from featlearn.mrp import config as mrp_config

try:
    refuse(mrp_config.faults(config["mrp"]))
except FeatlearnError as error:
    raise WorkflowError(str(error))

MRP = f"{RESULTS}/mrp"
MRP_FILES = []
tell_story("mrp")


include: "mrp/headline.smk"
include: "mrp/purity.smk"
include: "mrp/oracles.smk"
include: "mrp/initialisation.smk"
include: "mrp/growth.smk"
include: "mrp/keep_probability.smk"
include: "mrp/teacher_student.smk"
include: "mrp/noise.smk"
include: "mrp/runaway.smk"
include: "mrp/equal_start.smk"
include: "mrp/fixed_teacher.smk"
include: "mrp/sampled_masks.smk"
include: "mrp/phase_diagram.smk"
include: "mrp/classes.smk"
include: "mrp/sweeps.smk"
include: "mrp/finetuning.smk"
include: "mrp/transfer.smk"
include: "mrp/localisation.smk"
include: "mrp/paper_items.smk"


rule mrp:
    input:
        MRP_FILES,
