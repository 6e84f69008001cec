"""The paper's comparison on images: mask-reconstruction pre-training against supervised training.

Mostly on part-composed images, in which it is known what can be learned.
"""
