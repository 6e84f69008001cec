"""How fast, and how close to the floor: ratios measured side by side. `make bench` runs all."""
