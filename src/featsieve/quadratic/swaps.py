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
    from featsieve.kernels.quadratic import swap_search

    inside = np.zeros(problem.n, dtype=np.bool_)
    inside[indices] = True
    members = np.flatnonzero(inside).astype(np.int64)
    best = members.copy()
    swap_search(
        problem.Q,
        members,
        np.flatnonzero(~inside).astype(np.int64),
        problem.Q[:, members].sum(axis=1),
        np.zeros(problem.n, dtype=np.int64),
        best,
        patience,
        MAX_MOVES,
        TIE_TOLERANCE * problem.scale * problem.k,
        float(problem.Q.min()),
    )
    return problem.ranked(_lowest_tied(problem, np.sort(best)))


def _lowest_tied(problem: Problem, members: IntArray) -> IntArray:
    """Replace members by lower indices that give the same value (ties to the lowest index)."""
    tolerance = TIE_TOLERANCE * max(abs(problem.value(members)), problem.scale)
    diagonal = np.diagonal(problem.Q)
    for position, member in enumerate(members):
        products = problem.Q[:, members].sum(axis=1)
        gains = 2 * products + diagonal - 2 * problem.Q[:, member]
        gains -= 2 * products[member] - diagonal[member]
        gains[members] = -np.inf
        tied = np.flatnonzero(np.abs(gains[:member]) <= tolerance)
        if len(tied):
            members = members.copy()
            members[position] = tied[0]
    return members
