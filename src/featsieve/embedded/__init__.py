"""Procedures that are no measure × search pair, one file each."""
