"""Items of an audit -> one HTML file in which a person answers them, one at a time."""
