"""Global search on pair terms as a binary quadratic problem (P-CMI problem BQP)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any, ClassVar, Protocol

import numpy as np
from sklearn.base import BaseEstimator

from featsieve.arrays import FloatArray
from featsieve.errors import IncompatibleError
from featsieve.input.parameters import (
    Check,
    check_integer,
    check_parameters,
    check_random_state,
    check_real,
)
from featsieve.protocols import Bound, HasPairMatrix, HasPairs, PairTerms
from featsieve.quadratic.problem import BoundEffort, Options, Problem, shares
from featsieve.quadratic.solve import answers, result_of
from featsieve.result import SelectionResult
from featsieve.runtime.progress import Monitor


class BoundPairs(Bound, HasPairs, Protocol):
    """What a search on pairs needs."""


@dataclass(kw_only=True, eq=False, repr=False)
class GlobalQuadratic(BaseEstimator):
    """max x'Qx over sets of k units, relevance on Q's diagonal and complement beside it.

    Parameters
    ----------
    solver : "auto", "linear", "spectral", "sdp", "tpower", "lowrank" or "exact"
    rank, epsilon, delta : for "lowrank"; see :func:`featsieve.quadratic.solve`
    bound : "auto", "cheap", "sdp", "none" or None
        How much work goes into the upper bound; see :func:`featsieve.quadratic.solve`.
    random_state : int, optional

    Examples
    --------
    >>> from featsieve import FeatureSelector
    >>> from featsieve.measures import ConditionalMutualInformation
    >>> from featsieve.searches import GlobalQuadratic
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> measure, search = ConditionalMutualInformation(), GlobalQuadratic()
    >>> selector = FeatureSelector(measure, search, n_features_to_select=2)
    >>> selector.fit(X, y).indices_.tolist()
    [3, 1]
    """

    requires: ClassVar[tuple[type, ...]] = (HasPairs,)
    pair_columns: ClassVar[int | None] = None
    checks: ClassVar[Mapping[str, Check]] = {
        "rank": partial(check_integer, minimum=1),
        "epsilon": partial(check_real, low=0, high=1, inclusive="neither"),
        "delta": partial(check_real, low=0, high=1, inclusive="neither"),
        "random_state": check_random_state,
    }

    solver: str = "auto"
    rank: int = 3
    epsilon: float = 0.1
    delta: float = 0.1
    bound: BoundEffort | None = None
    random_state: Any = None

    def steps(self, bound: BoundPairs, k: int) -> Iterator[SelectionResult]:
        """The best set so far, with its bound."""
        check_parameters(self, self.checks)
        terms = bound.relevance_and_pairs()
        if terms.role != "complement":
            raise IncompatibleError(
                "GlobalQuadratic maximises complement, but this measure's pair term is redundancy; "
                "use ConditionalMutualInformation, or SimplexQP."
            )
        if isinstance(bound, HasPairMatrix):
            Q = bound.pair_matrix()
        else:
            Q = matrix_by_rows(bound.monitor, terms)
        problem = Problem((Q + Q.T) / 2, k)
        options = Options(
            monitor=bound.monitor,
            rank=int(self.rank),
            epsilon=float(self.epsilon),
            delta=float(self.delta),
        )
        for answer in answers(
            problem, self.solver, options, bound=self.bound, random_state=self.random_state
        ):
            best = result_of(answer, 0.0)
            yield SelectionResult(
                best.indices,
                shares(Q, best.indices),
                objective=best.value,
                extras={"upper_bound": best.upper_bound, "proven_optimal": best.proven_optimal},
                approximation=best.approximation,
            )


def matrix_by_rows(monitor: Monitor, terms: PairTerms) -> FloatArray:
    """All pair terms of a measure that has no faster way."""
    n_units = len(terms.relevance)
    matrix = np.empty((n_units, n_units))
    for unit in range(n_units):
        matrix[unit] = terms.pair_row(unit)
        monitor.tick("pairs", unit + 1, n_units)
    return matrix
