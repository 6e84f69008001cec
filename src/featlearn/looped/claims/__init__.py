"""What chapter 8 says must hold, a module an experiment; bands are fixed before measuring."""
