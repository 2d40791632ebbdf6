"""Entropy and mutual information, binned or by neighbours."""
