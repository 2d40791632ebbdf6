"""Covariance of the columns from merged passes, and how far a copy may be from its column."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import Literal, Self, get_args

import numpy as np
from scipy.linalg import blas

from featsieve.arrays import FloatArray, IntArray
from featsieve.engines.base import rows_of
from featsieve.runtime.products import watched_call
from featsieve.runtime.progress import SILENT, Monitor
from featsieve.schema import Block
from featsieve.statistics.moments import (
    ColumnMoments,
    Dummies,
    GramMoments,
    gram_moments,
)

Spread = Literal["mvr", "equicorrelated", "sdp"]
SPREADS = get_args(Spread)

RIDGE = 1e-6  # correlations of copied columns would make the covariance singular
MOST_SWEEPS = 100
TOLERANCE = 1e-6
BARRIERS = (1.0, 0.3, 0.1, 0.03)  # what Σ s may fall short of its largest value, per column
SLACK = 1e3  # how far beyond its value at the optimum a step may drive the inverse


@dataclass(frozen=True)
class TableMoments:
    """Co-deviations of columns and indicators of categories, and a sample of the rows."""

    gram: GramMoments
    sample: tuple[FloatArray, ...]

    def merge(self, other: Self) -> Self:
        return type(self)(self.gram.merge(other.gram), self.sample + other.sample)

    def of_columns(self) -> ColumnMoments:
        """Each by itself."""
        gram = self.gram
        return ColumnMoments(gram.weight, gram.mean, np.diag(gram.product), gram.remainder)


def table_moments(dummies: Dummies, sample_rows: IntArray, block: Block) -> TableMoments:
    """Of one block."""
    X = block.X.toarray() if block.is_sparse else block.X
    dense = Block(block.start, X, block.y, block.weight)
    expanded = dummies.expand(dense)
    with np.errstate(over="ignore", invalid="ignore"):  # scaling_of looks for it
        gram = gram_moments(expanded, np.empty((len(expanded), 0)))
    sample = np.asarray(rows_of(dense, sample_rows)[0], dtype=np.float64)
    return TableMoments(gram, (sample,))


def correlations(covariance: FloatArray) -> FloatArray:
    """Of the columns; a copied column leaves the matrix regular."""
    scale = np.sqrt(np.diag(covariance))
    correlation = covariance / np.outer(scale, scale) * (1 - RIDGE)
    np.fill_diagonal(correlation, 1.0)
    return correlation


def equicorrelated(correlation: FloatArray, monitor: Monitor = SILENT) -> FloatArray:
    """The largest common distance of all copies (Barber and Candès 2015)."""
    smallest = float(watched_call(np.linalg.eigvalsh, correlation, monitor)[0])
    return np.full(len(correlation), min(1.0, 2.0 * smallest) * (1 - RIDGE))


def spread_steps(
    correlation: FloatArray, kind: Spread, monitor: Monitor = SILENT
) -> Iterator[FloatArray]:
    """Distances s of the copies, better and better; 2Σ − diag(s) stays positive definite."""
    s = equicorrelated(correlation, monitor)
    if kind == "equicorrelated":
        yield s
        return
    s /= 2
    if kind == "mvr":
        yield from _descent(correlation, s, _less_reconstructable, TOLERANCE, monitor)
        return
    yield from _farthest_steps(correlation, s, monitor)


def reconstructability(correlation: FloatArray, s: FloatArray) -> float:
    """tr(2Σ − S)⁻¹ + tr S⁻¹: how well a column can be told from its copy and all the others.

    It is the trace of the inverse joint covariance of columns and copies, up to a factor (Spector
    and Janson 2022).
    """
    inverse = np.linalg.inv(2.0 * correlation - np.diag(s))
    return float(np.trace(inverse) + (1.0 / s).sum())


def _less_reconstructable(
    s: float, column: FloatArray, corner: float, diagonal: FloatArray
) -> float:
    """By how much to raise s_j, such that the reconstructability is least.

    With D = (2Σ − S)⁻¹, raising s_j by δ adds δ c / (1 − δ d) to the trace of D, where c is the
    squared norm of its column j and d = D_jj. The sum with 1/(s_j + δ) is least where
    (s_j + δ) √c = 1 − δ d.
    """
    root = float(np.sqrt(column @ column))
    return (1.0 - s * root) / (root + corner)


def _farther(
    barrier: float, s: float, column: FloatArray, corner: float, diagonal: FloatArray
) -> float:
    """By how much to raise s_j ≤ 1, such that Σ s + barrier · log det(2Σ − S) is largest.

    The determinant changes by the factor 1 − δ d. It is the semidefinite programme of Candès et
    al. (2018) in the limit. At the optimum no D_ii is above 1 / barrier; on the way there a step
    ends where one would be far above it, else single columns use up what all have in common until
    2Σ − S is singular.
    """
    step = min(1.0 / corner - barrier, 1.0 - s)
    if step <= 0.0:
        return max(step, -s / 2)
    room = np.maximum(SLACK / barrier - diagonal, 0.0)
    reached = np.flatnonzero(column)  # its corner is among them
    growth = float(np.min(room[reached] / np.square(column[reached])))
    return min(step, growth / (1.0 + growth * corner))


def _farthest_steps(
    correlation: FloatArray, s: FloatArray, monitor: Monitor
) -> Iterator[FloatArray]:
    """Lower and lower barriers."""
    for barrier in BARRIERS:
        for farther in _descent(correlation, s, partial(_farther, barrier), barrier / 10, monitor):
            s = farther
            yield s


def _descent(
    correlation: FloatArray,
    s: FloatArray,
    step_of: Callable[[float, FloatArray, float, FloatArray], float],
    tolerance: float,
    monitor: Monitor,
) -> Iterator[FloatArray]:
    """Coordinate descent with exact steps, from column j of D = (2Σ − S)⁻¹ and D_jj."""
    s = s.copy()
    for _ in range(MOST_SWEEPS):
        # Computed again for each sweep: rank-one updates add up rounding.
        inverse = watched_call(np.linalg.inv, 2.0 * correlation - np.diag(s), monitor)
        inverse = np.asfortranarray(inverse)
        largest_change = 0.0
        for j in range(len(s)):
            monitor.check()
            column = inverse[:, j].copy()
            corner = float(column[j])
            step = step_of(float(s[j]), column, corner, inverse.diagonal())
            s[j] += step
            largest_change = max(largest_change, abs(step))
            inverse = blas.dger(
                step / (1.0 - step * corner), column, column, a=inverse, overwrite_a=1
            )
        yield s.copy()
        if largest_change <= tolerance:
            return
