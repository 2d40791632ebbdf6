"""Global search on pair terms as a binary quadratic problem (P-CMI problem BQP)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any, ClassVar, Protocol

import numpy as np
from sklearn.base import BaseEstimator

from featsieve.arrays import FloatArray, IntArray
from featsieve.errors import IncompatibleError
from featsieve.input.parameters import (
    Check,
    check_integer,
    check_parameters,
    check_random_state,
    check_real,
)
from featsieve.protocols import Bound, HasPairMatrix, HasPairs, PairTerms
from featsieve.quadratic.problem import BoundEffort, BQPResult, Options, Problem
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
            yield _result(Q, result_of(answer, 0.0))


def matrix_by_rows(monitor: Monitor, terms: PairTerms) -> FloatArray:
    """All pair terms of a measure that has no faster way."""
    n_units = len(terms.relevance)
    matrix = np.empty((n_units, n_units))
    for unit in range(n_units):
        matrix[unit] = terms.pair_row(unit)
        monitor.tick("pairs", unit + 1, n_units)
    return matrix


def _result(Q: FloatArray, best: BQPResult) -> SelectionResult:
    return SelectionResult(
        best.indices,
        _shares(Q, best.indices),
        objective=best.value,
        extras={"upper_bound": best.upper_bound, "proven_optimal": best.proven_optimal},
        approximation=None if best.proven_optimal else _gap_words(best.gap),
    )


def _shares(Q: FloatArray, chosen: IntArray) -> FloatArray:
    """What each unit itself adds: its relevance, and its term given each (other) chosen unit.

    Over the chosen units this sums to x'Qx.
    """
    given = Q[chosen].sum(axis=0)
    outside = np.ones(len(Q), dtype=bool)
    outside[chosen] = False
    return given + np.where(outside, np.diag(Q), 0.0)


def _gap_words(gap: float | None) -> str:
    if gap is None:
        return "no bound on the best possible value was asked for"
    return f"within {100 * gap:.2g} % of the best possible value"
