"""Quadratic programming feature selection: weights on the simplex (Rodriguez-Lujan 2010)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, ClassVar

import numpy as np
from sklearn.base import BaseEstimator

from featsieve.arrays import FloatArray
from featsieve.errors import IncompatibleError
from featsieve.input.parameters import check_integer, check_real
from featsieve.linalg.simplex_qp import minimize_on_simplex, nystrom_factor, positive_factor
from featsieve.protocols import HasPairs, PairTerms
from featsieve.result import SelectionResult
from featsieve.runtime.ordering import best_first
from featsieve.runtime.seeds import random_source
from featsieve.searches.pair_matrix import pair_matrix


class SimplexQP(BaseEstimator):
    """min ½ (1 − α) w'Qw − α f'w on the simplex; the units with the largest weights are kept.

    Q is the redundancy of pairs with its negative eigenvalues set to 0, f the relevance
    (P-LSMI 4.2).

    Parameters
    ----------
    alpha : "auto" or float in [0, 1]
        "auto" is q̄ / (q̄ + f̄), with the means over all entries.
    n_columns : int, optional
        Nyström's approximation from so many columns of Q, for many units; None: all of Q.
    random_state : int, optional
        Draws those columns.
    """

    requires: ClassVar[tuple[type, ...]] = (HasPairs,)

    def __init__(
        self,
        *,
        alpha: float | str = "auto",
        n_columns: int | None = None,
        random_state: Any = None,
    ) -> None:
        self.alpha = alpha
        self.n_columns = n_columns
        self.random_state = random_state

    def steps(self, bound: Any, k: int) -> Iterator[SelectionResult]:
        self._check()
        terms: PairTerms = bound.relevance_and_pairs()
        if terms.role != "redundancy":
            raise IncompatibleError(
                "SimplexQP minimises redundancy, but this measure's pair term is complement; use "
                "a measure of redundancy, such as MutualInformation, or GlobalQuadratic."
            )
        factor, diagonal, approximation = self._redundancy(bound, terms)
        alpha = self._alpha(factor, diagonal, terms.relevance)
        solution = minimize_on_simplex(
            np.sqrt(1 - alpha) * factor, alpha * terms.relevance, (1 - alpha) * diagonal
        )
        order = best_first(solution.weights)
        yield SelectionResult(
            order[:k],
            solution.weights,
            objective=solution.value,
            order=order,
            approximation=approximation,
            extras={"alpha": alpha, "relevance": terms.relevance, "n_iter": solution.n_iter},
        )

    def _redundancy(
        self, bound: Any, terms: PairTerms
    ) -> tuple[FloatArray, FloatArray, str | None]:
        """Q as VV' + D, and the approximation in words."""
        n_units = len(terms.relevance)
        if self.n_columns is None or self.n_columns >= n_units:
            return positive_factor(pair_matrix(bound, terms)), np.zeros(n_units), None
        rng = random_source(self.random_state)
        chosen = np.sort(rng.choice(n_units, size=self.n_columns, replace=False))
        columns = np.stack([terms.pair_row(int(unit)) for unit in chosen], axis=1)
        words = f"Nyström from {self.n_columns} of {n_units} columns"
        return *nystrom_factor(columns, chosen), words

    def _alpha(self, factor: FloatArray, diagonal: FloatArray, relevance: FloatArray) -> float:
        if self.alpha == "auto":
            entries = float(np.square(factor.sum(axis=0)).sum() + diagonal.sum())
            redundancy = entries / len(factor) ** 2
            total = redundancy + float(relevance.mean())
            return redundancy / total if total > 0 else 0.5
        return float(self.alpha)

    def _check(self) -> None:
        if not (isinstance(self.alpha, str) and self.alpha == "auto"):
            check_real("alpha", self.alpha, 0, 1, also="'auto'")
        if self.n_columns is not None:
            check_integer("n_columns", self.n_columns, 1, also="None for all")
