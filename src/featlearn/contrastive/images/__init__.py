"""The paper's experiments on images (Figures 1 to 4): what each augmentation lets a network learn.

On shape-on-colour images, in which colour and shape are known, and on real images where their
folder is there.
"""
