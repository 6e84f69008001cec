"""SimMIM, SimCLR and MAE on a folder with one sub-folder per class, then probe and fine-tuning.

python examples/pretrain.py flowers 50    # the folder, and the epochs of the pre-training
"""

import sys

from featlearn import images
from featlearn.core.seeds import seeded
from featlearn.images.augment import Augment
from featlearn.images.encoders import build_encoder
from featlearn.images.methods import build_method
from featlearn.images.methods.simclr import SimCLR
from featlearn.images.methods.two_view import untouched
from featlearn.images.probes import choose_probe
from featlearn.images.train.classifier import Classifier
from featlearn.images.train.features import extract
from featlearn.images.train.loop import fit

SIZE = 64
ENCODERS = {
    "simmim": {"kind": "small_resnet", "stem_stride": 2},
    "simclr": {"kind": "small_resnet", "stem_stride": 2},
    "mae": {"kind": "vit", "patch": 8, "width": 96, "depth": 4, "heads": 4},
}


def main(folder: str, epochs: int = 50) -> dict[str, list[float]]:
    """Test accuracies by method: of a linear probe, and after fine-tuning with half the labels."""
    data = images.read(folder, size=SIZE)  # train and test: uint8 (N, 3, 64, 64), with labels
    few, labels = data.train[::2], data.train_labels[::2]
    plain, flips = Augment({"preset": "none"}), Augment({"preset": "flip-crop"})
    batch = max(4, min(64, len(few) // 2))
    training = {"batch_size": batch, "learning_rate": 1e-3}
    found = {}
    for name, shape in ENCODERS.items():
        with seeded(0, "pretrain", name):  # initial weights, by name
            encoder = build_encoder(shape, SIZE)
            if name == "simclr":  # it makes both views itself
                objective, augment = SimCLR(encoder, Augment({"preset": name})), untouched
            else:
                objective = build_method({"kind": name}, encoder)
                augment = Augment({"preset": name})
        length = training | {"epochs": epochs}
        fit(objective, data.train, None, augment, length, (0, "pretrain", name))
        train, test = (extract(encoder, part, plain) for part in (data.train, data.test))
        halves = [(train[i::2], data.train_labels[i::2]) for i in (0, 1)]  # fit, choose penalty
        probed = choose_probe(*halves, len(data.classes)).predict(test).cpu() == data.test_labels

        classifier = Classifier(encoder, len(data.classes))
        length = training | {"steps": 10 * epochs}
        fit(classifier, few, labels, flips, length, (0, "fine-tune", name))
        answers = extract(classifier, data.test, plain, outputs=classifier.scores).argmax(1)
        found[name] = [float(p.float().mean()) for p in (probed, answers == data.test_labels)]
        print("{}: linear probe {:.2f}, fine-tuned {:.2f}".format(name, *found[name]))
    return found


if __name__ == "__main__":
    main(sys.argv[1], *map(int, sys.argv[2:]))
