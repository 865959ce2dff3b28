"""Events and outcomes -> tables. Pure: no model, no sandbox, no files written."""
