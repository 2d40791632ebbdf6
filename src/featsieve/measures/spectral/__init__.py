"""Scores of single columns from a graph of the rows: Fisher, Laplacian, SPEC."""
