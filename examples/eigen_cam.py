"""Eigen-CAM: python examples/eigen_cam.py photo.jpg timm:vit_base_patch16_224 map.png

The network is a file that featlearn saved, or weights of timm or torchvision that are on disk.
"""

import sys

import matplotlib.pyplot as plt

from featlearn import images

photo, source, target = sys.argv[1:]
network = images.network(source)
heat = images.heat_maps(network, [photo])[0]  # (S, S), from 0 to 1
plt.imsave(target, heat.numpy(), cmap="inferno")
