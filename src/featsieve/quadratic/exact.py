"""Exact: branch and bound, with a proof or, out of time, with the bound of what is left.

The bound of a node is the row bound of :mod:`~featsieve.quadratic.bounds`. One split of the pairs
serves all nodes and is improved at each of them: every split is valid everywhere.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from featsieve.arrays import Array, IntArray
from featsieve.quadratic.bounds import Rounds, tighten, upper_bound
from featsieve.quadratic.problem import PROOF_TOLERANCE, Answer, Options, Problem
from featsieve.quadratic.tpower import improve

ROOT_ROUNDS = 300
NODE_ROUNDS = 20
FREE, OUT, IN = -1, 0, 1


class Node(NamedTuple):
    """Which indices are decided, and what no answer below can exceed."""

    fixed: Array
    bound: float


@dataclass
class Tree:
    """Open nodes (a stack), the best answer so far, and the split of the pairs."""

    problem: Problem
    best: IntArray
    value: float
    limit: float

    def __post_init__(self) -> None:
        self.shares = self.problem.Q.copy()
        root = np.full(self.problem.n, FREE, dtype=np.int8)
        self.open = [Node(root, self.limit)]
        self.margin = PROOF_TOLERANCE / 10 * max(abs(self.limit), self.problem.scale)

    @property
    def goal(self) -> float:
        """A node whose bound is not above this holds nothing better."""
        return self.value + self.margin

    @property
    def upper_bound(self) -> float:
        return max([self.value, *(node.bound for node in self.open)])

    def expand(self, rounds: int) -> None:
        """Take the deepest open node, tighten its bound, and split it if that is not enough."""
        node = self.open.pop()
        if node.bound <= self.goal:
            return
        node, branch = self._tighten(node, rounds)
        if branch is not None:
            for side in (OUT, IN):  # "in" comes next: good answers come early
                child = node.fixed.copy()
                child[branch] = side
                self.open.append(Node(child, node.bound))

    def _tighten(self, node: Node, rounds: int) -> tuple[Node, int | None]:
        """The node with a better bound, and the index to branch on; None if it is done."""
        fixed, bound = node.fixed.copy(), node.bound
        while bound > self.goal:
            members, free = np.flatnonzero(fixed == IN), np.flatnonzero(fixed == FREE)
            left = self.problem.k - len(members)
            if not 0 < left < len(free):
                self._try(members if left == 0 else np.concatenate([members, free]))
                break
            base, found = self._rounds(members, free, rounds)
            self._try(np.concatenate([members, free[found.better]]))
            if found.is_done:
                break
            bound = min(bound, base + found.bound)
            if found.decided is None:
                leader = np.argmax(np.where(found.is_top, found.worth, -np.inf))
                return Node(fixed, bound), int(free[leader])
            fixed[free] = found.decided
        return Node(fixed, bound), None

    def _rounds(self, members: IntArray, free: IntArray, rounds: int) -> tuple[float, Rounds]:
        """The value of the members, and the tightened row bound of what the free ones add."""
        Q = self.problem.Q
        base = Q[np.ix_(members, members)].sum()
        window = np.ix_(free, free)
        shares, pairs = self.shares[window], Q[window]
        found = tighten(
            shares,
            pairs,
            np.diagonal(pairs) + 2 * Q[np.ix_(free, members)].sum(axis=1),
            self.problem.k - len(members),
            rounds=rounds,
            value=self.value - base,
            margin=self.margin,
        )
        self.shares[window] = shares
        return float(base), found

    def _try(self, indices: IntArray) -> None:
        """Keep this set if it is an answer, and the best one."""
        if len(indices) == self.problem.k:
            value = self.problem.value(indices)
            if value > self.value:
                self.best, self.value = indices, value


def prove(problem: Problem, start: Answer, node_limit: int | None = None) -> Iterator[Answer]:
    """The best so far and its bound after each node; the last one is proven.

    With a ``node_limit`` the search may end before the proof: the bound then says how far it got.
    """
    tree = Tree(problem, start.indices, start.value, upper_bound(problem))
    answer, done = start, 0
    while tree.open and (node_limit is None or done < node_limit):
        tree.expand(NODE_ROUNDS if done else ROOT_ROUNDS)
        done += 1
        if tree.value > answer.value:
            answer = improve(problem, tree.best)  # also sends ties to the lowest index
            tree.best, tree.value = answer.indices, answer.value
        yield Answer(answer.indices, answer.value, max(tree.upper_bound, answer.value))


def steps(problem: Problem, options: Options) -> Iterator[Answer]:
    """A good start by swaps, then the proof."""
    start = improve(problem, problem.top(problem.row_sums), patience=200 + 10 * problem.k)
    yield start
    yield from prove(problem, start, options.node_limit)
