"""The second pair of hands."""
