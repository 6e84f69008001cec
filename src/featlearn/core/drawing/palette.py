"""The colours of all figures: one for each concept, in every paper.

A *concept* (a method, an arm, a baseline) has its colour in :data:`PALETTE`; two share one only
where no paper has both. Sizes and replicates take :data:`COLOURS` in turn, of a contrast of at
least 3:1 on white; fills are in :data:`FILLS`.
"""

from __future__ import annotations

#: Base colours, told apart by colour-blind readers: by hue and by lightness.
COLOURS = {
    "blue": "#005EA2",
    "orange": "#BF7900",
    "green": "#008A63",
    "red": "#C4321F",
    "purple": "#7B4FA3",
    "sky": "#2F93D1",
    "grey": "#767676",
    "ink": "#222222",
}
_BROWN, _MAGENTA, _TEAL, _OLIVE, _PLUM = "#7A4B00", "#B5379A", "#00868B", "#66801A", "#5B1E5F"
_LIGHT, _DARK = "#8F8F8F", "#595959"

#: Concept to colour.
PALETTE = {
    # what is compared with: formulas, exact values, what needs no training
    "theory": COLOURS["ink"],
    "bayes": COLOURS["ink"],
    "printed": COLOURS["red"],
    "measured": COLOURS["blue"],
    "raw input": _LIGHT,
    "random features": _DARK,
    "untrained": _DARK,
    # labels
    "supervised": COLOURS["orange"],
    "supervised, new head": _BROWN,
    "supervised, more": COLOURS["red"],
    "supervised, masked": _MAGENTA,
    "network": COLOURS["blue"],
    "tangent kernel": _BROWN,
    "kernel": COLOURS["orange"],
    # mask reconstruction: in general and as SimMIM, and its kinds
    "mask reconstruction": COLOURS["blue"],
    "mask reconstruction, frozen": COLOURS["sky"],
    "mask reconstruction, continued": _TEAL,
    "MAE": COLOURS["green"],
    "teacher-student": COLOURS["purple"],
    # contrastive learning, by its augmentation
    "contrastive": _MAGENTA,
    "contrastive, weak augmentation": COLOURS["sky"],
    "contrastive, no augmentation": _TEAL,
    "contrastive, no threshold": _OLIVE,
    "contrastive, adversarial": _PLUM,
    # prediction heads
    "no head": _LIGHT,
    "identity head": COLOURS["purple"],
    "linear head": COLOURS["green"],
    "mlp head": _BROWN,
    # features of a class or of the data
    "strong feature": COLOURS["blue"],
    "weak feature": COLOURS["orange"],
    "both features": COLOURS["green"],
    "mixture": COLOURS["grey"],
}

#: Fills and thin rules; nothing is to be read off them alone.
FILLS = {
    "white": "#FFFFFF",
    "shade": "#F1F1F1",
    "light": "#D9D9D9",
    "rule": "#D0D0D0",
    "frame": "#BBBBBB",
    "noise": "#C9C9C9",
    "captured": "#9CC9E8",
    "captured, strongest": "#08519C",
    "shared": "#E8EEF4",
    "online": "#FBE3C0",
    "target": "#F6D5C8",
}
