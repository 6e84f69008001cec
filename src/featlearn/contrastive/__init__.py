"""Wen & Li 2021: how augmentation lets contrastive learning find sparse features."""
