"""What each augmentation lets a network learn (Figures 1 to 4), on made and on real images."""
