"""Linear (P-CMI, LP2): the k largest row sums of a non-negative matrix."""

from __future__ import annotations

from collections.abc import Iterator

from featsieve.quadratic.problem import Answer, Options, Problem


def steps(problem: Problem, options: Options) -> Iterator[Answer]:
    """One answer: the solution of LP2, where 2w_ij = x_i + x_j turns x'Qx into ||Qx||_1."""
    yield problem.answer(problem.top(problem.row_sums))
