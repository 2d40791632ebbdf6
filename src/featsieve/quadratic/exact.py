"""Exact: branch and bound, with a proof or, out of time, with the bound of what is left."""

from __future__ import annotations

import time
from collections.abc import Iterator

import numpy as np

from featsieve.quadratic.answer import PROOF_TOLERANCE, Answer
from featsieve.quadratic.bounds import upper_bound
from featsieve.quadratic.problem import Problem
from featsieve.quadratic.registry import Options

CHUNK_SECONDS = 0.05  # about the time between two looks at the clock
ROOT_ROUNDS = 300
NODE_ROUNDS = 20


def prove(problem: Problem, start: Answer, node_limit: int | None = None) -> Iterator[Answer]:
    """The best so far and its bound after each chunk of nodes; the last one is proven.

    With a ``node_limit`` the search may end before the proof: the bound then says how far it got.
    """
    from featsieve.kernels.branching import branch_and_bound

    n = problem.n
    limit = upper_bound(problem)
    shares = problem.Q.copy()
    nodes = np.full((n + 2, n), -1, dtype=np.int8)
    bounds = np.full(n + 2, limit)
    best = np.sort(start.indices).astype(np.int64)
    value, depth, done, chunk = start.value, 1, 0, 1
    margin = PROOF_TOLERANCE / 10 * max(abs(limit), problem.scale)
    while depth and (node_limit is None or done < node_limit):
        began = time.perf_counter()
        rounds = NODE_ROUNDS if done else ROOT_ROUNDS
        depth, value = branch_and_bound(
            problem.Q, shares, nodes, bounds, depth, best, value, margin, chunk, rounds
        )
        done += chunk
        if time.perf_counter() - began < CHUNK_SECONDS:
            chunk *= 2
        left = float(bounds[:depth].max()) if depth else value
        limit = min(limit, max(left, value))
        found = problem.ranked(best)
        yield Answer(found.indices, found.value, max(limit, found.value))


def steps(problem: Problem, options: Options) -> Iterator[Answer]:
    """A good start by swaps, then the proof."""
    from featsieve.quadratic.swaps import improve

    start = improve(problem, problem.top(problem.row_sums), patience=200 + 10 * problem.k)
    yield start
    yield from prove(problem, start, options.node_limit)
