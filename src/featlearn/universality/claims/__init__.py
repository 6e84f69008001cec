"""What chapter 7 says must hold, a module an experiment; bands are fixed before measuring."""
