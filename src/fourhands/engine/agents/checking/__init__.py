"""Does an agent work here? One trial of it, played so that everything comes up that can be expected of it."""
