"""Names that jobs, figures and claims of chapter 7 share. No torch."""

#: The arm whose networks are kept, fine-tuned, and compared with those of single tasks.
KEPT = "MoCo, 8"
#: The same with steps that grow with the tasks.
GROWN = "MoCo grown, 8"
RAW, RANDOM, UNTRAINED = "raw input", "random features", "untrained"
#: What needs no pre-training, and is not told the features.
OPPONENTS = (RAW, RANDOM, "untrained, 8")
#: The three methods of the thesis' grids (Figures F.2 and F.9 to F.13).
METHODS = (KEPT, "NNCLR, 8", "SimSiam, 8")
#: The world whose shared and private features are as many.
WORLD = "even"

LP, FT, CR = "LP", "FT", "CR then LP"


def ours(weight: float) -> str:
    """Fine-tuning with a contrastive loss of this weight."""
    return f"Ours {weight:g}"
