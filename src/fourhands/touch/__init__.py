"""An action of the agent -> which files and lines it read or edited."""
