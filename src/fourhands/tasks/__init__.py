"""Tasks: instruction + repository at a base commit + verifier + reference repair; loaded, built and tested here."""
