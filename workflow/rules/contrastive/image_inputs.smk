# Which files and settings the rules on images start from: functions only, as the linter asks.


def measured_pictures(each, *kinds):
    """What was measured of trainings or of encoders, kind after kind."""
    return expand(f"{PICTURE_MEASUREMENTS}/{{kind}}/{{each}}.parquet", kind=kinds, each=each)


def picture_settings(wildcards):
    """The section of a data set."""
    return PICTURE_SETS[wildcards.image_data]


def training_part(wildcards):
    """What a training depends on: the section without that of its measurements."""
    later = ("probe", "firing", "steadiness", "visualisation", "embedding", "figures")
    own = picture_settings(wildcards)
    return {key: value for key, value in own.items() if key not in later}


def decoded_images(wildcards):
    """The sign that real images were decoded; made ones need none."""
    name = wildcards.image_data
    real = name in PICTURE_STATES
    return {"images": f"{PICTURE_MEASUREMENTS}/{name}/images.parquet"} if real else {}


def trained_by(arms):
    """The images, and the weights of the arms that ``arms`` gives for an encoder."""

    def files(wildcards):
        stem = f"{PICTURE_WEIGHTS}/{wildcards.image_data}/{wildcards.encoder}"
        wanted = arms(picture_settings(wildcards), wildcards.encoder)
        weights = [f"{stem}/{arm}-{wildcards.replicate}.safetensors" for arm in wanted]
        return {**decoded_images(wildcards), "weights": weights}

    return files
