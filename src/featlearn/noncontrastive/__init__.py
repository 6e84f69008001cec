"""Wen & Li: how the prediction head keeps non-contrastive learning from collapse."""
