"""A study and its trials' stories -> one HTML file that opens from disk and asks nothing of the network."""
