"""How many columns, without a target? As many as rebuild 90 % of the variance of all of them."""

from __future__ import annotations

import numpy as np

from featsieve.arrays import FloatArray, IntArray
from featsieve.procedures.judging.rows import Fold, RowSample, encoded
from featsieve.procedures.judging.sizes import SetsBySize

VARIANCE_SHARE = 0.9
VARIANCE_RULE = (
    "the smallest count whose columns rebuild, by linear regression, 90 % of the variance of all "
    "standardised columns"
)


def variance_curve(sample: RowSample, sets: SetsBySize) -> tuple[tuple[int, float, float], ...]:
    """(count, share of the variance that is left, 0), up to the first count that is enough.

    Counts grow by a third at least, then the last step is searched by halves: the share falls with
    the count where sets are nested, and nearly so elsewhere.
    """
    n_units = sample.schema.n_units
    left: dict[int, float] = {}

    def is_enough(size: int) -> bool:
        left[size] = 1.0 - rebuilt_share(sample, sets.units(size))
        sample.source.monitor.tick("explaining variance", len(left), n_units)
        return left[size] <= 1.0 - VARIANCE_SHARE + 1e-9

    low, high = 0, 1
    while high < n_units and not is_enough(high):
        low, high = high, min(n_units, max(high + 1, high * 4 // 3))
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if is_enough(middle) else (middle, high)
    left.setdefault(high, 1.0 - rebuilt_share(sample, sets.units(high)))
    return tuple((size, left[size], 0.0) for size in sorted(left) if size <= high)


def rebuilt_share(sample: RowSample, units: IntArray) -> float:
    """The share of the variance of all columns that a linear model of some of them explains."""
    everything = _standardised(sample, np.arange(sample.schema.n_columns))
    chosen = _standardised(sample, np.sort(sample.schema.columns_of_units(units)))
    total = float((everything**2).sum())
    if total == 0.0:
        return 1.0
    basis, sizes, _ = np.linalg.svd(chosen, full_matrices=False)
    basis = basis[:, sizes > 1e-10 * (sizes[0] if len(sizes) else 1.0)]
    return float(((basis.T @ everything) ** 2).sum() / total)


def _standardised(sample: RowSample, columns: IntArray) -> FloatArray:
    rows = np.arange(sample.n_rows)
    table = encoded(sample, Fold(rows, rows), columns)[0]
    return np.asarray(table - table.mean(axis=0))
