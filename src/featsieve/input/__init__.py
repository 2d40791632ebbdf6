"""Everything between the object a user gave and an engine: every check of it, once."""
