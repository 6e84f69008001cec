# Pan, Zhou & Yan: why mask-reconstruction pre-training helps in downstream tasks.

from featlearn.mrp import config as mrp_config

checked(mrp_config.faults(config["mrp"]))

MRP = f"{RESULTS}/mrp"
COMPILE = {"compile": config["compile"]}


include: "mrp/kernels.smk"
include: "mrp/downstream.smk"
include: "mrp/images.smk"
include: "mrp/eigencam.smk"
include: "mrp/real_images.smk"
