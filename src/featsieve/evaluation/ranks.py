"""Average ranks of methods over data sets, with the tests of Friedman and Nemenyi (Demšar 2006)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np

from featsieve.arrays import FloatArray
from featsieve.errors import InputError
from featsieve.evaluation.metrics import as_numbers
from featsieve.input.parameters import check_real
from featsieve.input.tables import column_names


@dataclass(frozen=True)
class RankTest:
    """Average ranks (1 is best) and what can be said of their differences.

    ``friedman_pvalue`` is small when the methods are not all alike; two methods whose ranks differ
    by less than ``critical_difference`` cannot be told apart at ``level``. ``n_sets`` is the number
    of data sets, the N of both tests.
    """

    ranks: dict[str, float]
    friedman_statistic: float
    friedman_pvalue: float
    critical_difference: float
    n_sets: int
    level: float

    def cliques(self) -> list[tuple[str, ...]]:
        """The largest groups of methods that the Nemenyi test cannot tell apart, best first.

        These are the bars of a critical-difference plot; a method that differs from all others is
        in none.
        """
        order = sorted(self.ranks, key=lambda name: self.ranks[name])
        groups: list[tuple[int, int]] = []
        for first in range(len(order)):
            last = max(j for j in range(first, len(order)) if self._close(order[first], order[j]))
            if last > first and (not groups or last > groups[-1][1]):
                groups.append((first, last))
        return [tuple(order[first : last + 1]) for first, last in groups]

    def _close(self, a: str, b: str) -> bool:
        return abs(self.ranks[a] - self.ranks[b]) < self.critical_difference


def average_ranks(
    errors: Mapping[str, Any] | FloatArray,
    methods: Sequence[str] | None = None,
    *,
    level: float = 0.05,
) -> RankTest:
    """Friedman's test and Nemenyi's critical difference over data sets.

    Parameters
    ----------
    errors
        Method → one error per data set; or an array or dataframe, sets × methods. An array of more
        dimensions (sets × methods × k × judges …; in a mapping sets × k × judges …) is first
        turned into ranks within each set, k and judge, which are then averaged, so that a set
        counts once however often it was used.
    methods
        Names of the columns of an array.
    level
        0.1, 0.05 or any other level in (0, 1).

    Examples
    --------
    >>> test = average_ranks({"A": [1, 2, 1, 1], "B": [2, 3, 2, 3], "C": [3, 1, 3, 2]})
    >>> test.ranks, round(test.critical_difference, 2)
    ({'A': 1.25, 'B': 2.5, 'C': 2.25}, 1.66)
    """
    from scipy.stats import rankdata

    check_real("level", level, 0, 1, inclusive="neither")
    names, table = _table(errors, methods)
    ranks = np.asarray(rankdata(table, axis=1))
    if ranks.ndim > 2:
        ranks = ranks.mean(axis=tuple(range(2, ranks.ndim)))
    return friedman_nemenyi(ranks, names, level)


def friedman_nemenyi(ranks: FloatArray, names: Sequence[str], level: float = 0.05) -> RankTest:
    """Both tests, of ranks within each set (sets × methods) that may be means over k and judges."""
    from scipy.stats import chi2, studentized_range

    n, k = ranks.shape
    means = ranks.mean(axis=0)
    spread = ((ranks - (k + 1) / 2) ** 2).sum() / (n * (k - 1))  # k(k + 1)/12 without ties
    statistic = n * ((means - (k + 1) / 2) ** 2).sum() / spread if spread else 0.0
    quantile = studentized_range.ppf(1 - level, k, np.inf) / np.sqrt(2)
    return RankTest(
        dict(zip(names, means.tolist(), strict=True)),
        float(statistic),
        float(chi2.sf(statistic, k - 1)),
        float(quantile * np.sqrt(k * (k + 1) / (6 * n))),
        n,
        level,
    )


def _table(errors: Any, methods: Sequence[str] | None) -> tuple[list[str], FloatArray]:
    if isinstance(errors, Mapping):
        names = [str(name) for name in errors]
        columns = [as_numbers("errors", e) for e in errors.values()]
        alike = len({column.shape for column in columns}) == 1 and columns[0].ndim
        table = np.stack(columns, axis=1) if alike else np.empty(0)
    else:
        table = as_numbers("errors", errors)
        numbered = range(table.shape[1] if table.ndim > 1 else 0)
        given = column_names(errors) if methods is None else methods
        names = [str(name) for name in (numbered if given is None else given)]
    if table.ndim < 2 or table.shape[0] < 2 or table.shape[1] < 2 or len(names) != table.shape[1]:
        raise InputError(
            "errors must hold at least two data sets and two methods, the same number of errors "
            "for each, and one name per method."
        )
    if len(set(names)) < len(names):
        raise InputError(f"two methods have the same name ({', '.join(names)}); rename one.")
    if np.isnan(table).any():
        raise InputError("errors holds NaN; give a method that failed an infinite error.")
    return names, table


def distinct_pairs(test: RankTest) -> list[tuple[str, str]]:
    """Pairs that differ by at least the critical difference, the better one first."""
    order = sorted(test.ranks, key=lambda name: test.ranks[name])
    gap = test.critical_difference
    return [(a, b) for a, b in combinations(order, 2) if test.ranks[b] - test.ranks[a] >= gap]
