# Pan, Zhou & Yan: why mask-reconstruction pre-training helps in downstream tasks.

KERNELS = config["mrp"]


# on networks of kernels, compiled where the config says so
use rule compute as compute_kernels with:
    params:
        compile=config["compile"],


include: "mrp/kernels.smk"
include: "mrp/images.smk"
include: "mrp/eigencam.smk"
