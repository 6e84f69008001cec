"""Universality against label efficiency

Chapter 7 of Shi's thesis: pre-training on more diverse data serves many tasks and costs one task with few
labels.
"""
