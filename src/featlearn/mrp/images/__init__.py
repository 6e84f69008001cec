"""Mask-reconstruction pre-training against supervised training, on part-composed images."""
