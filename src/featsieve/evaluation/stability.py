"""How much a selection changes when the rows do (Nogueira et al. 2018)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from featsieve.arrays import FloatArray, IntArray
from featsieve.errors import InputError
from featsieve.evaluation.metrics import as_column_indices
from featsieve.input.parameters import check_integer, check_real

ROUNDING = 1e-12  # of an index that does not vary at all


@dataclass(frozen=True)
class Stability:
    """Nogueira's index with an interval: 1 is always the same set, 0 is what chance gives.

    ``value`` is NaN where every selection holds no column or all of them.
    """

    value: float
    variance: float
    low: float
    high: float
    level: float
    n_selections: int

    def more_stable_than(self, other: Stability) -> float:
        """The p-value of the test that this index is above the other (one-sided, normal).

        Where neither index varies it is 0, 0.5 or 1 by the sign of the difference.
        """
        from scipy.stats import norm

        spread = np.sqrt(self.variance + other.variance)
        difference = self.value - other.value
        if spread <= ROUNDING:
            return 0.5 if abs(difference) <= ROUNDING else float(difference < 0)
        return float(norm.sf(difference / spread))

    def __str__(self) -> str:
        return f"{self.value:.2f} ({self.low:.2f} to {self.high:.2f})"


def stability(
    selections: Sequence[Sequence[int] | IntArray], n_columns: int, *, level: float = 0.95
) -> Stability:
    """Stability of selections from samples of the same rows, such as bootstrap samples.

    Parameters
    ----------
    selections
        The indices of the selected columns, one entry per sample; sizes may differ.
    n_columns
        How many columns there were to select from.
    level
        Of the confidence interval.

    Examples
    --------
    >>> stability([[0, 1], [0, 1], [0, 1]], 10).value
    1.0
    >>> print(stability([[0, 1], [0, 2], [0, 1], [3, 1]], 10))
    0.38 (0.07 to 0.68)
    """
    from scipy.stats import norm

    check_integer("n_columns", n_columns, 1)
    check_real("level", level, 0, 1, inclusive="neither")
    Z = indicator_matrix(selections, n_columns)
    value, variance = _index(Z)
    reach = float(norm.ppf(0.5 + level / 2)) * np.sqrt(variance)
    return Stability(value, variance, value - reach, value + reach, level, len(Z))


def indicator_matrix(selections: Sequence[Sequence[int] | IntArray], n_columns: int) -> FloatArray:
    """One row per selection, one column per column: 1 where it was selected."""
    several = list(selections)
    if len(several) < 2:
        raise InputError(
            f"stability compares selections, but {len(several)} was given; give at least 2, "
            "better 30."
        )
    Z = np.zeros((len(several), n_columns))
    for row, chosen in enumerate(several):
        Z[row, as_column_indices(chosen, n_columns)] = 1.0
    return Z


def _index(Z: FloatArray) -> tuple[float, float]:
    """Nogueira et al. (2018), Definition 4 and Theorem 7."""
    n_selections, n_columns = Z.shape
    frequency, sizes = Z.mean(axis=0), Z.sum(axis=1)
    share = sizes.mean() / n_columns
    chance = share * (1 - share)
    if chance <= 1e-15:
        return np.nan, np.nan
    spread = n_selections / (n_selections - 1) * frequency * (1 - frequency)
    value = 1.0 - float(spread.mean()) / chance
    shares = sizes / n_columns
    phi = Z @ frequency / n_columns - shares * share
    phi += value / 2 * (2 * share * shares - shares - share + 1)
    phi /= chance
    variance = 4.0 / n_selections**2 * float(((phi - phi.mean()) ** 2).sum())
    return float(value), variance
