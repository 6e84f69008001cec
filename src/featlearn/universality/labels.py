"""Names and colours that figures of several experiments share. No torch."""

from featlearn.core.plots import COLOURS

#: What the config's methods are called.
NAMES = {"simclr": "SimCLR", "moco": "MoCo", "nnclr": "NNCLR", "simsiam": "SimSiam"}
#: From few labels to many: not a map of colours, whose light end is no line on white.
SHARES = [COLOURS[name] for name in ("ink", "purple", "blue", "green", "orange", "red")]
