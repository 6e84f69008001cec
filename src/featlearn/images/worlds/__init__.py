"""Synthetic images with known parts, colours, objects or domains."""
