"""The paper on images: prediction heads, output norms and targets (Figures 1 to 4 and 8)."""
