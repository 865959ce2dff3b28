"""Trials in any of Harbor's environments: a sandbox by their public interface, and the way to the gateway."""
