"""One file a table: a `Study` -> frozen rows, numbers unrounded, rates as fractions of 1. Pure."""
