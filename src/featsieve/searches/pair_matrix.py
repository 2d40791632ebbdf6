"""All pair terms of a bound measure as one matrix."""

from __future__ import annotations

from typing import Any

import numpy as np

from featsieve.arrays import FloatArray
from featsieve.protocols import HasPairMatrix, PairTerms


def pair_matrix(bound: Any, terms: PairTerms) -> FloatArray:
    """All pair terms, at once where the measure can."""
    if isinstance(bound, HasPairMatrix):
        return bound.pair_matrix()
    n_units = len(terms.relevance)
    matrix = np.empty((n_units, n_units))
    for unit in range(n_units):
        matrix[unit] = terms.pair_row(unit)
        bound.monitor.tick("pairs", unit + 1, n_units)
    return matrix
