# The paper on mask-reconstruction pre-training, on images: part-composed ones, and a user's own.
# One file an experiment; each adds to IMAGE_FILES what it makes.

from featlearn.mrp.images import config as image_config

IMAGES = config["images"]
try:
    refuse(image_config.faults(IMAGES))
except FeatlearnError as error:
    raise WorkflowError(str(error))

IMAGE_WEIGHTS = f"{MRP}/weights/images"
IMAGE_MEASUREMENTS = f"{MRP}/measurements/images"
IMAGE_FILES = []
# what every training on part-composed images depends on
PICTURES = ("world", "samples", "encoders", "augmentation")
IMAGE_REPLICATES = range(IMAGES["comparison"]["replicates"])


include: "images/starts.smk"
include: "images/pictures.smk"
include: "images/comparison.smk"
include: "images/phase_diagram.smk"
include: "images/transfer.smk"
include: "images/detection.smk"
include: "images/real.smk"


rule images:
    input:
        IMAGE_FILES,
