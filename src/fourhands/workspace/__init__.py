"""Git: snapshots, exact diffs, three-way edits, line attribution."""
