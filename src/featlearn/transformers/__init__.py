"""Transformers that several papers share: attention, decoders, their caches and their training.

Small and readable, a file an idea. Weights are plain named tensors with a leading replicate axis R,
so that R networks are trained in one batched program; a pretrained Llama is the case R = 1.
"""
