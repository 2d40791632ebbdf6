"""Global search on pair terms as a binary quadratic problem (P-CMI problem BQP)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, ClassVar

import numpy as np
from sklearn.base import BaseEstimator

from featsieve.arrays import FloatArray, IntArray
from featsieve.errors import IncompatibleError
from featsieve.protocols import HasPairs, PairTerms
from featsieve.quadratic import BQPResult, solve
from featsieve.result import SelectionResult
from featsieve.runtime.ordering import best_first
from featsieve.searches.pair_matrix import pair_matrix


class GlobalQuadratic(BaseEstimator):
    """max x'Qx over sets of k units, relevance on Q's diagonal and complement beside it.

    Parameters
    ----------
    solver : "auto", "linear", "spectral", "sdp", "tpower", "lowrank" or "exact"
    rank, epsilon, delta : for "lowrank"; see :func:`featsieve.quadratic.solve`
    random_state : int, optional
    """

    requires: ClassVar[tuple[type, ...]] = (HasPairs,)

    def __init__(
        self,
        *,
        solver: str = "auto",
        rank: int = 3,
        epsilon: float = 0.1,
        delta: float = 0.1,
        random_state: Any = None,
    ) -> None:
        self.solver = solver
        self.rank = rank
        self.epsilon = epsilon
        self.delta = delta
        self.random_state = random_state

    def steps(self, bound: Any, k: int) -> Iterator[SelectionResult]:
        terms: PairTerms = bound.relevance_and_pairs()
        if terms.role != "complement":
            raise IncompatibleError(
                "GlobalQuadratic maximises complement, but this measure's pair term is redundancy; "
                "use ConditionalMutualInformation, or SimplexQP."
            )
        Q = pair_matrix(bound, terms)
        answer = self._solve((Q + Q.T) / 2, k, bound.monitor.remaining())
        yield SelectionResult(
            answer.indices,
            _shares(Q, answer.indices),
            objective=answer.value,
            extras={
                "upper_bound": answer.upper_bound,
                "proven_optimal": answer.proven_optimal,
            },
            approximation=None if answer.proven_optimal else _gap_words(answer),
        )

    def _solve(self, Q: FloatArray, k: int, seconds: float) -> BQPResult:
        if k == len(Q):
            value = float(Q.sum())
            return BQPResult(best_first(Q.sum(axis=1)), value, value, True, 0.0)
        return solve(
            Q,
            k,
            solver=self.solver,  # type: ignore[arg-type]
            random_state=self.random_state,
            rank=self.rank,
            epsilon=self.epsilon,
            delta=self.delta,
            max_time=None if np.isinf(seconds) else max(seconds, np.finfo(float).tiny),
        )


def _shares(Q: FloatArray, chosen: IntArray) -> FloatArray:
    """What each unit itself adds: its relevance, and its term given each (other) chosen unit.

    Over the chosen units this sums to x'Qx.
    """
    given = Q[chosen].sum(axis=0)
    outside = np.ones(len(Q), dtype=bool)
    outside[chosen] = False
    return given + np.where(outside, np.diag(Q), 0.0)


def _gap_words(answer: BQPResult) -> str:
    return f"within {100 * answer.gap:.2g} % of the best possible value"
