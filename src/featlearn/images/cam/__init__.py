"""Eigen-CAM: heat maps, their overlays, and which parts they point at."""
