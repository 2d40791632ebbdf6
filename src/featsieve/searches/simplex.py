"""Quadratic programming feature selection: weights on the simplex (Rodriguez-Lujan 2010)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any, ClassVar

import numpy as np
from sklearn.base import BaseEstimator

from featsieve.arrays import FloatArray, IntArray
from featsieve.errors import IncompatibleError, InputError
from featsieve.input.parameters import (
    Check,
    check_integer,
    check_parameters,
    check_real,
    unless,
)
from featsieve.linalg.simplex_qp import minimize_on_simplex, nystrom_factor, positive_factor
from featsieve.protocols import HasPairMatrix, HasPairs, Nesting, PairTerms
from featsieve.result import SelectionResult
from featsieve.runtime.ordering import best_first, first_of_copies
from featsieve.runtime.products import watched_call
from featsieve.runtime.progress import Monitor
from featsieve.runtime.seeds import random_source
from featsieve.searches.global_quadratic import BoundPairs, matrix_by_rows

SAME_TERMS = 1e-9  # of the largest term


@dataclass(kw_only=True, eq=False, repr=False)
class SimplexQP(BaseEstimator):
    """min ½ (1 − α) w'Qw − α f'w on the simplex; the units with the largest weights are kept.

    Q is the redundancy of pairs with its negative eigenvalues set to 0, f the relevance
    (Rodriguez-Lujan et al. 2010; Jitkrittum et al. 2013, 4.2).

    Parameters
    ----------
    alpha : "auto" or float in [0, 1]
        "auto" is q̄ / (q̄ + f̄), with the means over all entries of the raw Q and of f.
    n_columns : int, optional
        Nyström's approximation from so many columns of Q, for many units; None: all of Q.
    random_state : int, optional
        Draws those columns.

    Examples
    --------
    >>> from featsieve import FeatureSelector
    >>> from featsieve.measures import Pearson
    >>> from featsieve.searches import SimplexQP
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> selector = FeatureSelector(Pearson(), SimplexQP(), n_features_to_select=2)
    >>> selector.fit(X, y).indices_.tolist()
    [2, 1]
    """

    requires: ClassVar[tuple[type, ...]] = (HasPairs,)
    nesting: ClassVar[Nesting] = "growing"
    checks: ClassVar[Mapping[str, Check]] = {
        "alpha": unless("auto", partial(check_real, low=0, high=1, also="'auto'")),
        "n_columns": unless(None, partial(check_integer, minimum=1, also="None for all")),
    }

    alpha: float | str = "auto"
    n_columns: int | None = None
    random_state: Any = None

    def steps(self, bound: BoundPairs, k: int) -> Iterator[SelectionResult]:
        """One answer: the minimum is unique but for ties."""
        check_parameters(self, self.checks)
        terms = bound.relevance_and_pairs()
        if terms.role != "redundancy":
            raise IncompatibleError(
                "SimplexQP minimises redundancy, but this measure's pair term is complement; use "
                "a measure of redundancy, such as MutualInformation, or GlobalQuadratic."
            )
        columns, chosen = self._columns(bound, terms)
        _refuse_overflow(np.column_stack([terms.relevance, columns]))
        alpha = self._alpha(columns, terms.relevance)
        factor, diagonal, approximation = _redundancy(columns, chosen, bound.monitor)
        solution = minimize_on_simplex(
            np.sqrt(1 - alpha) * factor,
            alpha * terms.relevance,
            (1 - alpha) * diagonal,
            check=bound.monitor.check,
        )
        weights = _on_first_copies(solution.weights, np.c_[terms.relevance, columns])
        order = best_first(weights)
        yield SelectionResult(
            order[:k],
            weights,
            objective=solution.value,
            order=order,
            approximation=approximation,
            extras={"alpha": alpha, "relevance": terms.relevance, "n_iter": solution.n_iter},
        )

    @property
    def pair_columns(self) -> int | None:
        return self.n_columns

    def _columns(self, bound: BoundPairs, terms: PairTerms) -> tuple[FloatArray, IntArray | None]:
        """All columns of Q, or some of them and their indices."""
        n_units = len(terms.relevance)
        if self.n_columns is None or self.n_columns >= n_units:
            if isinstance(bound, HasPairMatrix):
                return bound.pair_matrix(), None
            return matrix_by_rows(bound.monitor, terms), None
        rng = random_source(self.random_state)
        chosen = np.sort(rng.choice(n_units, size=self.n_columns, replace=False))
        units = chosen.tolist()
        rows = terms.pair_rows(units) if terms.pair_rows else [*map(terms.pair_row, units)]
        return np.stack(list(rows), axis=1), chosen

    def _alpha(self, columns: FloatArray, relevance: FloatArray) -> float:
        if self.alpha == "auto":
            redundancy = float(columns.mean())
            total = redundancy + float(relevance.mean())
            return redundancy / total if total > 0 else 0.5
        return float(self.alpha)


def _redundancy(
    columns: FloatArray, chosen: IntArray | None, monitor: Monitor
) -> tuple[FloatArray, FloatArray, str | None]:
    """Q as VV' + D, and the approximation in words."""
    if chosen is None:
        factor = watched_call(positive_factor, columns, monitor)
        return factor, np.zeros(len(columns)), None
    approximation = f"Nyström from {len(chosen)} of {len(columns)} columns"
    return *nystrom_factor(columns, chosen), approximation


def _on_first_copies(weights: FloatArray, terms: FloatArray) -> FloatArray:
    """Units of the same terms (one row each) may share a weight in any way: the first gets all."""
    scale = np.abs(terms).max(initial=0.0) or 1.0
    key = (terms / scale) @ np.random.default_rng(0).normal(size=terms.shape[1])

    def same(i: int, j: int) -> bool:
        return bool(np.abs(terms[i] - terms[j]).max() <= SAME_TERMS * scale)

    first = first_of_copies(key, same, SAME_TERMS)
    return np.asarray(np.bincount(first, weights, len(weights)), dtype=np.float64)


def _refuse_overflow(terms: FloatArray) -> None:
    """One row per unit."""
    unit = int(np.argmin(np.isfinite(terms).all(axis=1)))
    if not np.isfinite(terms[unit]).all():
        raise InputError(
            f"the relevance or redundancy of feature number {unit} is not finite: its numbers, or "
            "those of the target, are so large that squares overflow; divide them by a constant."
        )
