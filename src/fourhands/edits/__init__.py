"""SWE-Touch records: read, and turned into interventions."""
