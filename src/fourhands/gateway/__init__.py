"""The server between agent and model, and stand-ins for a model."""
