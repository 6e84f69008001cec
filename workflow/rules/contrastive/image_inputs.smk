# Which files and settings the rules on images start from: functions only, as the linter asks.


def decoded_images(wildcards):
    """The sign that real images were decoded; made ones need none."""
    name = wildcards.image_data
    if name not in PICTURE_STATES:
        return {}
    return {"images": f"{PICTURE_MEASUREMENTS}/{name}/images.parquet"}


def training_part(name):
    """What a training depends on: the config of a data set without that of its measurements."""
    later = ("probe", "firing", "steadiness", "visualisation", "embedding", "figures")
    return {key: value for key, value in PICTURE_SETS[name].items() if key not in later}


def arms_of(name, encoder):
    """Arms that an encoder is trained by."""
    pairs = contrastive_images.trained(PICTURE_SETS[name])
    return [arm for kind, arm in pairs if kind == encoder]


def mapped_arms(name, encoder):
    """Those of them whose features are mapped."""
    return [arm for arm in arms_of(name, encoder) if arm in contrastive_images.MAPPED]


def trained_pictures(wildcards):
    """The weights of all arms of an encoder."""
    return weights_of_arms(wildcards, arms_of(wildcards.image_data, wildcards.encoder))


def mapped_pictures(wildcards):
    """The weights of the arms whose features are mapped."""
    return weights_of_arms(wildcards, mapped_arms(wildcards.image_data, wildcards.encoder))


def weights_of_arms(wildcards, arms):
    """The weights of some arms of an encoder, and the images."""
    stem = f"{PICTURE_WEIGHTS}/{wildcards.image_data}/{wildcards.encoder}"
    weights = [f"{stem}/{arm}-{wildcards.replicate}.safetensors" for arm in arms]
    return decoded_images(wildcards) | {"weights": weights}


def shown_pictures(wildcards):
    """What a figure shows of each data set: the first replicate."""
    number = wildcards.number
    what = {"1": "pictures", "2": "pictures", "3": "map", "4": "patterns"}[number]
    encoders = {
        name: contrastive_images.encoder_of(settings, f"fig-{number}")
        for name, settings in PICTURE_SETS.items()
    }
    return {
        "shown": [
            f"{PICTURE_MEASUREMENTS}/{what}/{name}/{encoders[name]}-0.parquet"
            for name in PICTURE_NAMES
        ]
    }
