"""Training and frozen evaluation of networks on images."""
