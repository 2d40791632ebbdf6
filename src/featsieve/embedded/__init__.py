"""Procedures that are no measure × search pair: models that select while they are fitted."""
