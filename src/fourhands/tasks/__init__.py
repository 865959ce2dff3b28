"""Task folders in Harbor's format: found, fetched, built, and their tests run."""
