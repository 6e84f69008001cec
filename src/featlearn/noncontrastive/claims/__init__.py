"""What Wen & Li say must hold, a module an experiment; bands are fixed before measuring."""
