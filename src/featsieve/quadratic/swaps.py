"""Swap search: leave one, take one, on top of any solver's answer."""

from __future__ import annotations

import numpy as np

from featsieve.ordering import TIE_TOLERANCE
from featsieve.quadratic.answer import Answer
from featsieve.quadratic.problem import Problem
from featsieve.schema import IntArray

MAX_MOVES = 1_000_000


def improve(problem: Problem, indices: IntArray, patience: int = 0) -> Answer:
    """The best set reached by swaps; ``patience`` > 0 goes on past local optima (tabu search)."""
    chosen = _climb(problem, indices, patience)
    while True:
        lowest = _lowest_tied(problem, chosen)
        chosen = _climb(problem, lowest, 0)
        if problem.value(chosen) <= problem.value(lowest) + _margin(problem):
            return problem.ranked(lowest)


def _margin(problem: Problem) -> float:
    """A gain that is no more than rounding."""
    return TIE_TOLERANCE * problem.scale * problem.k


def _climb(problem: Problem, indices: IntArray, patience: int) -> IntArray:
    """Best swaps from this set on; the best set met, in index order."""
    from featsieve.kernels.quadratic import swap_search

    inside = np.zeros(problem.n, dtype=np.bool_)
    inside[indices] = True
    members = np.flatnonzero(inside)
    best = members.copy()
    swap_search(
        problem.Q,
        members,
        np.flatnonzero(~inside),
        problem.Q[:, members].sum(axis=1),
        np.zeros(problem.n, dtype=np.int64),
        best,
        patience,
        MAX_MOVES,
        _margin(problem),
        float(problem.Q.min()),
    )
    return np.sort(best)


def _lowest_tied(problem: Problem, members: IntArray) -> IntArray:
    """Replace members by lower indices that give the same value (ties to the lowest index)."""
    tolerance = TIE_TOLERANCE * max(abs(problem.value(members)), problem.scale)
    Q, diagonal = problem.Q, np.diagonal(problem.Q)
    members, products = members.copy(), problem.Q[:, members].sum(axis=1)
    inside = np.zeros(problem.n, dtype=np.bool_)
    inside[members] = True
    for position, member in enumerate(members):
        gains = (2 * products + diagonal)[:member] - 2 * Q[member, :member]
        gains -= 2 * products[member] - diagonal[member]
        tied = np.flatnonzero((np.abs(gains) <= tolerance) & ~inside[:member])
        if len(tied):
            members[position] = tied[0]
            inside[[member, tied[0]]] = False, True
            products += Q[tied[0]] - Q[member]
    return members
