"""One comparison in full: pre-training of several lengths against every supervised baseline.

Labels, noise, augmentation and bands were fixed on pilot streams before these were drawn.
"""

from __future__ import annotations

import numpy as np
import pandas as pd
from matplotlib.figure import Figure

from featlearn.core.drawing.intervals import Look, lines, rows, share_interval
from featlearn.core.drawing.plots import COLOURS, PALETTE, canvas
from featlearn.core.evidence.claim_methods import claim
from featlearn.core.evidence.claims import OBSERVATION, THEOREM, needs
from featlearn.core.evidence.frames import pick
from featlearn.core.evidence.stats import per_replicate
from featlearn.core.run.exhibits import Config, figure
from featlearn.mrp.analysis.pictures import FITTED, Pictures
from featlearn.mrp.images.labels import (
    AUGMENTED,
    FROZEN,
    PIXELS,
    PLAIN,
    PRETRAINED,
    RANDOM,
    SUPERVISED,
)
from featlearn.mrp.labels import DOTTED, Quoted

#: By what was done before the labels, in the order of the figure.
COLOURS_OF = {
    PIXELS: PALETTE["raw input"],
    RANDOM: PALETTE["random features"],
    SUPERVISED: PALETTE["supervised"],
    FROZEN: PALETTE["mask reconstruction, frozen"],
    PRETRAINED: PALETTE["mask reconstruction"],
}
SIGHTS = {
    PLAIN: Look("pictures as they are", PALETTE["mask reconstruction"]),
    AUGMENTED: Look("augmented", COLOURS["sky"], "s", (2, 1)),
}
GROUPS = {"multi_view": "all parts shown", "worst_view": "the worse part alone"}


def named(gain: pd.DataFrame) -> pd.DataFrame:
    """``gain`` with a column ``arm``, its rows in the order of the figure."""
    augmented, supervised = gain["augmentation"] == AUGMENTED, gain["start"] == SUPERVISED
    longer = supervised & (gain["steps"] > gain.loc[supervised, "steps"].min())
    after = PRETRAINED + gain["epochs"].map(", {:g} epochs".format)
    words = gain["start"].mask(gain["start"] == PRETRAINED, after)
    words = words.mask(longer, words + ", equal steps")
    words = words.mask(augmented, words + ", augmented")
    place = gain["start"].map([*COLOURS_OF].index)
    order = gain.assign(start=place, augmentation=augmented)
    keys = ["start", "augmentation", "epochs", "steps"]
    return gain.assign(arm=words).loc[order.sort_values(keys, kind="stable").index]


@figure()
def images_gain(gain: pd.DataFrame, config: Config) -> Figure:
    """Does pre-training beat every supervised baseline?

    *What to see:* {{ said("mrp/images-gain-worse-part", holds="pre-training beats the best supervised baseline on the
    worse part", fails="pre-training does not beat the best supervised baseline on the worse part") }}; {{
    said("mrp/images-gain-length", holds="longer pre-training brings more", fails="longer pre-training does not bring
    more") }}.

    Accuracy with all parts shown (left), with only the part that a network recognises less (middle), and that by length
    of pre-training (right). *Equal steps*: as long as both trainings together. Dots: replicates; ticks: means with 95 %
    intervals.
    """
    seen = named(gain)
    arms = seen.drop_duplicates("arm").set_index("arm")["start"]
    looks = {str(arm): Look(str(arm), COLOURS_OF[start]) for arm, start in arms.items()}
    drawn = canvas(8.6, 1.0 + 0.27 * len(looks))
    *both, right = drawn.subplots(1, 3, width_ratios=[1.1, 1.1, 1])
    for ax, (quantity, words) in zip(both, GROUPS.items(), strict=True):
        rows(ax, pick(seen, quantity=quantity), "arm", looks=looks, errorbar=share_interval)
        ax.axvline(1 / config["world"]["classes"], **DOTTED)
        ax.set(xlim=(0, 1.03), title=words, xlabel="accuracy on fresh pictures")
    both[1].tick_params(labelleft=False)

    trained = pick(seen, start=[SUPERVISED, PRETRAINED], quantity="worst_view")
    by_length = pick(trained, steps=trained["steps"].min())
    lines(right, by_length, "epochs", "augmentation", looks=SIGHTS, errorbar=share_interval)
    right.set(xlabel="epochs of pre-training", title="the worse part alone", ylim=(0, 1.03))
    right.legend(*right.get_legend_handles_labels(), fontsize=8, loc="lower center")
    return drawn


class Gain(Pictures):
    paper, kind = "mrp", THEOREM
    changed = (
        "300 labelled steps in place of 150 since 2026-11-26, as in the comparison, after results "
        "with 150 had been seen; the band is the first one."
    )
    out_of_reach = needs(gain__replicates=5, gain__epochs=40, samples__train=2000,
                         samples__test=500)  # fmt: skip

    def trained(self, start, quantity, longest=True):
        """With augmented pictures, after the longest or shortest of a start's pre-trainings."""
        own = pick(self.gain, start=start)
        epochs = own["epochs"].agg("max" if longest else "min")
        return per_replicate(own, quantity=quantity, augmentation=AUGMENTED, epochs=epochs,
                             steps=own["steps"].min())  # fmt: skip

    def fits(self, start):
        """Whether a network is right with all parts shown."""
        return self.trained(start, "multi_view") >= FITTED

    def strongest(self):
        """Of the baselines, the worse part of the one that is best there in the mean."""
        others = pick(self.gain, start=[PIXELS, RANDOM, SUPERVISED], quantity="worst_view")
        arms = others.groupby(["start", "augmentation", "steps"])
        return max((per_replicate(arm) for _, arm in arms), key=np.mean)

    @claim("Lemma 1 (Allen-Zhu & Li), on pictures in place of patches", "multi-view accuracy less that of the worse "
           "part alone, supervised, paired; 0 where the former is below 0.95", paper_says=Quoted.LOTTERY)  # fmt: skip
    def images_gain_lottery(self):
        """A supervised network that is right with all parts shown loses accuracy where only its worse part is shown.

        A network that uses every part loses nothing. Labels, noise and augmentation were chosen on pilot streams,
        where 0.14 is lost.
        """
        multi, worst = (self.trained(SUPERVISED, f"{view}_view") for view in ("multi", "worst"))
        return np.where(self.fits(SUPERVISED), multi - worst, 0.0)

    @claim("Theorems 1 and 2 with Lemma 1, on pictures in place of patches",
           "accuracy on the worse part alone, SimMIM (longest) less the opponent with the best "
           "mean, paired; 0 where a multi-view accuracy is below 0.95", paper_says=Quoted.BETTER)  # fmt: skip
    def images_gain_worse_part(self):
        """On the worse part alone, mask reconstruction and fine-tuning beats the strongest baseline, where both are right with all parts shown.

        Baselines are supervised training, also augmented, with equal steps or with both, and linear classifiers on
        pixels or random features. The paper claims a strict gain; five replicates resolve 0.02. Pilots on other
        streams: 0.09 with 60 labels; 0.09, 0.12 and 0.06 with 40. Of flips, shifts and erased rectangles, all with
        supervised training, flips were the strongest.
        """
        fit = self.fits(PRETRAINED) & self.fits(SUPERVISED)
        return np.where(fit, self.trained(PRETRAINED, "worst_view") - self.strongest(), 0.0)

    @claim("The paper pre-trains for 300 epochs and shows no other length",
           "accuracy on the worse part alone, longest less shortest pre-training, paired", kind=OBSERVATION)  # fmt: skip
    def images_gain_length(self):
        """Longer pre-training gains more on the worse part alone.

        Features are captured one after the other, so a short training has some of them; five replicates resolve 0.02.
        """
        longest, shortest = (self.trained(PRETRAINED, "worst_view", one) for one in (True, False))
        return longest - shortest
