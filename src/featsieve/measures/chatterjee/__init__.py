"""Coefficients of dependence by ranks and nearest neighbours."""
