"""Squared-loss mutual information and its likelihood relative, by density ratios."""
