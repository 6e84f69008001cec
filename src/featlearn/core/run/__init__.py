"""A run and its jobs: config, registry of what rules make, job, provenance, fork server.

All of it is the frame of fingerprints (``provenance.FRAME``): an edit here makes no result again.
What decides a number in a file goes to another room.
"""
