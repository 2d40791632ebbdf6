"""Discretisers that look at a column alone, and the choice of a discretiser by its name."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np

from featsieve.arrays import BoolArray, FloatArray, IntArray
from featsieve.compiled.discretizing import known_columns, quantile_cuts
from featsieve.discretize.base import MAX_CUTS, Discretizer, check_bins, cuts_between, pieces
from featsieve.discretize.caim import CAIM
from featsieve.input.parameters import check_numbers, is_word, not_allowed
from featsieve.schema import power_of_two

# Each quantile of more bins would cost a look at all values: sorting them is cheaper then.
FEW_BINS = 32
RANGE_VALUES = 64
MOST_BUCKETS = 1024
# So few columns are sorted before the compiled quantiles would be ready for their first use.
FEW_COLUMNS, FEW_VALUES = 64, 50_000


@dataclass(kw_only=True, eq=False, repr=False)
class Quantile(Discretizer):
    """States with (nearly) the same number of rows each; equal values are never separated.

    A column with at most ``n_bins`` distinct values keeps each of them as a state.

    Parameters
    ----------
    n_bins : int, default=5
    n_jobs : int, optional
        Threads over columns.

    Attributes
    ----------
    cuts_ : list of arrays
        Sorted cuts of each column; intervals are closed on the right.

    Examples
    --------
    >>> Quantile(n_bins=2).fit_transform(np.array([[3.0], [1.0], [2.0], [9.0]])).ravel()
    array([1, 0, 0, 1], dtype=uint8)
    """

    n_bins: int = field(default=5, kw_only=False)
    n_jobs: int | None = None

    _rows_worth_threads: ClassVar[int] = 0  # a tile of columns is one compiled call

    def _check(self) -> None:
        check_bins("n_bins", self.n_bins)

    def _cuts_of_tile(
        self,
        X: FloatArray,
        tile: tuple[int, int],
        classes: IntArray | None,
        weights: FloatArray | None,
    ) -> list[FloatArray]:
        is_small = X.shape[1] <= FEW_COLUMNS and X.size <= FEW_VALUES
        if weights is not None or self.n_bins > FEW_BINS or is_small:
            return super()._cuts_of_tile(X, tile, classes, weights)
        return _quantiles(X, tile, int(self.n_bins))

    def _cuts(
        self, values: FloatArray, classes: IntArray | None, weights: FloatArray | None
    ) -> FloatArray:
        n_bins = int(self.n_bins)  # an unsigned one would make places that do not index
        ordered, last = _ordered_ends(values, weights, n_bins)
        steps = np.flatnonzero(ordered[1:] > ordered[:-1])
        if len(steps) < self.n_bins:
            distinct = ordered[np.concatenate((steps, [-1]))] if len(ordered) else ordered
            return cuts_between(distinct)
        cuts = np.unique(ordered[last])
        return cuts[cuts < ordered[-1]]


def _quantiles(X: FloatArray, tile: tuple[int, int], n_bins: int) -> list[FloatArray]:
    """A few columns at a time in the same work space, which the cache holds."""
    n_rows = len(X)
    width = max(stop - first for first, stop in pieces(tile[1] - tile[0], n_rows))
    columns = np.empty((width, n_rows + 1))
    cuts = np.empty((width, n_bins - 1))
    n_known, n_cuts = np.empty((2, width), dtype=np.int64)
    work = (
        np.empty(RANGE_VALUES),
        np.empty(n_rows, dtype=np.uint16),
        np.empty(min(MOST_BUCKETS, n_rows // 4 + 16), dtype=np.int64),
        np.empty(n_rows + 1),
    )
    found: list[FloatArray] = []
    for first in range(*tile, width):
        n = min(width, tile[1] - first)
        known_columns(X, first, columns[:n], n_known[:n])
        quantile_cuts(columns[:n], n_known[:n], n_bins, *work, cuts[:n], n_cuts[:n])
        found += [row[:size].copy() for row, size in zip(cuts[:n], n_cuts[:n], strict=True)]
    return found


def _ordered_ends(
    values: FloatArray, weights: FloatArray | None, n_bins: int
) -> tuple[FloatArray, IntArray]:
    """Sorted values, and where each of the first bins ends.

    That is the smallest value with at least a share b / n_bins of the weight at or below it.
    """
    if weights is None:
        n = len(values)
        return np.sort(values), -(-np.arange(1, n_bins) * n // n_bins) - 1
    order = np.argsort(values, kind="stable")
    below = np.cumsum(weights[order])
    total = below[-1] if len(below) else 0.0
    rounding = len(below) * np.finfo(float).eps  # of the sums: a share that is reached in exact
    thresholds = np.arange(1, n_bins) * total * (1 - rounding)  # numbers must not be missed
    return values[order], np.searchsorted(below * n_bins, thresholds, side="left")


class _BySize(Discretizer):
    """Cuts by sizes rather than ranks: an infinite cell falls into the first or the last state."""

    def _counts_for_cuts(self, values: FloatArray) -> BoolArray:
        return np.isfinite(values)


@dataclass(kw_only=True, eq=False, repr=False)
class EqualWidth(_BySize):
    """Intervals of the same width between the smallest and the largest finite value.

    Parameters
    ----------
    n_bins : int, default=5
    n_jobs : int, optional
        Threads over columns.

    Attributes
    ----------
    cuts_ : list of arrays
        Sorted cuts of each column; intervals are closed on the right.

    Examples
    --------
    >>> EqualWidth(n_bins=2).fit_transform(np.array([[3.0], [1.0], [2.0], [9.0]])).ravel()
    array([0, 0, 0, 1], dtype=uint8)
    """

    n_bins: int = field(default=5, kw_only=False)
    n_jobs: int | None = None

    def _check(self) -> None:
        check_bins("n_bins", self.n_bins)

    def _cuts(
        self, values: FloatArray, classes: IntArray | None, weights: FloatArray | None
    ) -> FloatArray:
        if not len(values) or values.min() == values.max():
            return np.empty(0)
        share = np.arange(1, self.n_bins) / self.n_bins
        return np.unique((1 - share) * values.min() + share * values.max())


@dataclass(kw_only=True, eq=False, repr=False)
class SigmaCuts(_BySize):
    """Cuts at the mean plus multiples of the standard deviation (ddof 1).

    Weights in the ratio of small integers count rows, the least such numbers of them; the
    mean of other weights is 1. So the cuts depend on the ratios of the weights only.

    Parameters
    ----------
    multiples : sequence of float, default=(-1.5, -0.5, 0.5, 1.5)
        Five states, as Jitkrittum et al. (2013) cut for mRMR.
    n_jobs : int, optional
        Threads over columns.

    Attributes
    ----------
    cuts_ : list of arrays
        Sorted cuts of each column; intervals are closed on the right.

    Examples
    --------
    >>> SigmaCuts(multiples=(0.0,)).fit_transform(np.array([[3.0], [1.0], [2.0], [9.0]])).ravel()
    array([0, 0, 0, 1], dtype=uint8)
    """

    multiples: Sequence[float] = field(default=(-1.5, -0.5, 0.5, 1.5), kw_only=False)
    n_jobs: int | None = None

    def _check(self) -> None:
        multiples = check_numbers("multiples", self.multiples)
        if len(multiples) > MAX_CUTS:
            raise not_allowed("multiples", self.multiples, f"a list of at most {MAX_CUTS} numbers")

    def _cuts(
        self, values: FloatArray, classes: IntArray | None, weights: FloatArray | None
    ) -> FloatArray:
        if len(values) < 2 or values.min() == values.max():
            return np.empty(0)
        factor = power_of_two(np.abs(values).max())  # so that squares stay in range
        values = values * factor
        total = len(values) if weights is None else weights.sum()
        mean = np.average(values, weights=weights)
        squares = (values - mean) ** 2 if weights is None else weights * (values - mean) ** 2
        # One row less where weights count rows; those that do not have a mean of 1 or less.
        deviation = np.sqrt(squares.sum() / (total - min(1.0, total / len(values))))
        cuts = mean + check_numbers("multiples", self.multiples) * deviation
        with np.errstate(over="ignore"):  # a cut beyond the largest number cuts nothing off
            return np.unique(cuts / factor)


MOST_IN_ONE_STATE = 0.99


@dataclass(kw_only=True, eq=False, repr=False)
class TargetBins(Discretizer):
    """States of a numeric target: by mean and deviation, or equally frequent ones.

    Equally frequent states put all rare large deviations into one state with ordinary values, and
    those deviations may be most of the variance. Cuts at the mean and multiples of the deviation
    keep them apart, unless so few values are so extreme that nearly all others share one state.
    """

    n_bins: int = field(default=5, kw_only=False)

    def _check(self) -> None:
        check_bins("n_bins", self.n_bins)

    def _cuts(
        self, values: FloatArray, classes: IntArray | None, weights: FloatArray | None
    ) -> FloatArray:
        cuts = SigmaCuts()._cuts(values, None, weights)
        shares = np.bincount(np.searchsorted(cuts, values), weights=weights)
        is_extreme = shares.max(initial=0.0) > MOST_IN_ONE_STATE * shares.sum()
        if is_extreme or len(np.unique(values)) <= self.n_bins:
            return Quantile(self.n_bins)._cuts(values, None, weights)
        return cuts


WORDS = ("quantile", "equal_width", "sigma", "caim")


def choose_target_discretizer(given: Any, n_bins: int) -> Discretizer | None:
    """The same for a numeric target, where "auto" is also a choice."""
    if is_word(given, "auto"):
        return TargetBins(n_bins)
    return choose_discretizer(given, n_bins, "target_discretizer", ("auto", *WORDS))


def choose_discretizer(
    given: Any,
    n_bins: int,
    parameter: str = "discretizer",
    allowed: tuple[str, ...] = WORDS,
) -> Discretizer | None:
    """A discretiser by its word, as it is, or None for data that are codes already.

    >>> choose_discretizer("quantile", 3)
    Quantile(n_bins=3)
    """
    if given is None or isinstance(given, Discretizer):
        return given
    match given if isinstance(given, str) else None:
        case "quantile":
            return Quantile(n_bins)
        case "equal_width":
            return EqualWidth(n_bins)
        case "sigma":
            return SigmaCuts()
        case "caim":
            return CAIM()
    choices = ", ".join(map(repr, allowed))
    raise not_allowed(
        parameter,
        given,
        f"{choices}, an object of featsieve.discretize, or None for columns that are codes already",
    )
