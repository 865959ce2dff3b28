"""The model APIs, as pure functions on requests and responses."""
