"""A run and its jobs: config, registry of what rules make, job, provenance, fork server."""
