"""p-values for many tests at once."""

from __future__ import annotations

import numpy as np

from featsieve.schema import FloatArray


def benjamini_hochberg(pvalues: FloatArray) -> FloatArray:
    """Adjusted p-values that control the false discovery rate; NaN stays NaN and is no test.

    >>> benjamini_hochberg(np.array([0.01, 0.04, 0.03, np.nan])).tolist()
    [0.03, 0.04, 0.04, nan]
    """
    tests = np.flatnonzero(~np.isnan(pvalues))
    order = tests[np.argsort(pvalues[tests], kind="stable")]
    scaled = pvalues[order] * len(order) / np.arange(1, len(order) + 1)
    adjusted = np.full(len(pvalues), np.nan)
    adjusted[order] = np.minimum(np.minimum.accumulate(scaled[::-1])[::-1], 1.0)
    return adjusted
