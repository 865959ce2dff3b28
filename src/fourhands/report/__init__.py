"""Tables, figures and stories -> terminal, files, one HTML page."""
