"""Pearson and Hall: linear dependence."""
