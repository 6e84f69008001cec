"""Sections 3 and 4 on trained networks: the three stages, with RandomMask and without.

Orders such as ``O(log d)`` are read with a constant that the statement names; where the paper's own
form cannot hold at finite d, the claim as printed stands beside the finite form.
"""

from featlearn.contrastive.claims.stages import downstream, end, growth, unaugmented

CLAIMS = (*growth.CLAIMS, *end.CLAIMS, *downstream.CLAIMS, *unaugmented.CLAIMS)
