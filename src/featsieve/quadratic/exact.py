"""Proofs by branch and bound: "exact" goes on to the end, "auto" only where it is cheap.

The bound of a node is the row bound. One split of the pairs
serves all nodes and is improved at each of them: every split is valid everywhere.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import chain, combinations
from math import comb
from typing import NamedTuple

import numpy as np

from featsieve.arrays import Array, FloatArray, IntArray
from featsieve.quadratic.heuristics import (
    improve,
    linear_steps,
    patience,
    spectral_steps,
    tpower_steps,
)
from featsieve.quadratic.problem import PROOF_TOLERANCE, ROUNDING, Answer, Options, Problem
from featsieve.runtime.ordering import best_first
from featsieve.runtime.progress import SILENT, Monitor

ROOT_ROUNDS = 300
NODE_ROUNDS = 20
ROUND_ENTRIES = 10_000_000  # between two looks at the clock: some tenths of a second
NODES_PER_STEP = 32  # between two answers, unless a better one comes or the time is up
N_RANDOM_STARTS = 4
FEW_ENTRIES = 200_000  # of all sets together: to add them up takes some thousandths of a second
PROOF_SIZE = 100
PROOF_WORK = 2_000_000  # nodes times n²: below a second
FREE, OUT, IN = -1, 0, 1


@dataclass(frozen=True)
class Rounds:
    """What some rounds of tightening came to, over the free indices."""

    is_done: bool  # no answer here is better than the one known
    bound: float
    worth: FloatArray
    is_top: Array
    better: Array  # the best answer met if it beats the one known, else empty
    decided: Array | None  # 1: must be in, 0: must be out, −1: open


def tighten(
    shares: FloatArray,
    pairs: FloatArray,
    linear: FloatArray,
    left: int,
    *,
    rounds: int,
    value: float,
    margin: float,
    monitor: Monitor = SILENT,
) -> Rounds:
    """Up to ``rounds`` rounds for choosing ``left`` indices; ``shares`` is changed in place.

    ``pairs`` is the symmetric matrix, ``linear`` what each index adds on its own, ``value`` the
    best known; an answer has to beat it by more than ``margin``.
    """
    from featsieve.compiled.quadratic import DECIDED, DONE, OPEN, tighten_rows

    size = len(linear)
    lines = np.empty((size + 1, size))
    lines[:size] = shares
    np.fill_diagonal(lines[:size], -np.inf)
    flags = np.zeros((size + 1, size), dtype=np.int8)
    better = np.zeros(size, dtype=np.int8)
    state = np.array([np.inf, value, 1.0, 0.0])
    scratch, at_once = np.empty(size), max(1, ROUND_ENTRIES // size**2)
    for first in range(0, rounds, at_once):
        count = min(at_once, rounds - first)
        end, spare = tighten_rows(
            lines, pairs, linear, left, count, margin, scratch, flags, better, state
        )
        if end != OPEN:
            break
        monitor.check()
    shares[:] = lines[:size]
    worth, is_top = lines[size], flags[size] == 1
    fixed = _decided(worth, is_top, spare) if end == DECIDED else None
    return Rounds(end == DONE, float(state[0]), worth, is_top, np.flatnonzero(better), fixed)


def _decided(worth: FloatArray, is_top: Array, spare: float) -> Array:
    """1 or 0 for each index whose move to the other side costs ``spare`` or more, else −1."""
    cost = np.where(is_top, worth - worth[~is_top].max(), worth[is_top].min() - worth)
    return np.where(cost >= spare, is_top, -1).astype(np.int8)


def split_bound(
    problem: Problem, value: float, n_rounds: int = 100, monitor: Monitor = SILENT
) -> float:
    """The row bound after some rounds on the split of the pairs; ``value``: the best known."""
    diagonal = np.ascontiguousarray(np.diagonal(problem.Q))
    outcome = tighten(
        problem.Q.copy(),
        problem.Q,
        diagonal,
        problem.k,
        rounds=n_rounds,
        value=value,
        margin=-np.inf,  # go on to the last round: the bound is what is wanted
        monitor=monitor,
    )
    return outcome.bound + ROUNDING * problem.n * problem.scale * problem.k


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
    monitor: Monitor

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
            base, outcome = self._rounds(members, free, rounds)
            self._try(np.concatenate([members, free[outcome.better]]))
            if outcome.is_done:
                break
            bound = min(bound, base + outcome.bound)
            if outcome.decided is None:
                leader = np.argmax(np.where(outcome.is_top, outcome.worth, -np.inf))
                return Node(fixed, bound), int(free[leader])
            fixed[free] = outcome.decided
        return Node(fixed, bound), None

    def _rounds(self, members: IntArray, free: IntArray, rounds: int) -> tuple[float, Rounds]:
        """The value of the members, and the tightened row bound of what the free ones add."""
        Q = self.problem.Q
        base = Q[np.ix_(members, members)].sum()
        window = np.ix_(free, free)
        shares, pairs = self.shares[window], Q[window]
        outcome = tighten(
            shares,
            pairs,
            np.diagonal(pairs) + 2 * Q[np.ix_(free, members)].sum(axis=1),
            self.problem.k - len(members),
            rounds=rounds,
            value=float(self.value - base),
            margin=self.margin,
            monitor=self.monitor,
        )
        self.shares[window] = shares
        return float(base), outcome

    def cut(self, limit: float) -> None:
        """Use a bound on all answers for every open node."""
        self.open = [Node(fixed, min(bound, limit)) for fixed, bound in self.open]

    def _try(self, indices: IntArray) -> None:
        """Keep this set if it is an answer, and the best one."""
        if len(indices) == self.problem.k:
            value = self.problem.value(indices)
            if value > self.value:
                self.best, self.value = indices, value


def prove(problem: Problem, start: Answer, options: Options) -> Iterator[Answer]:
    """The best so far and its bound after some nodes; the last one is proven.

    With a ``node_limit`` the search may end before the proof: the bound then says how far it got.
    The semidefinite bound only comes when the first node did not do.
    """
    monitor = options.monitor
    limit = min(problem.row_bound, start.upper_bound)
    tree = Tree(problem, start.indices, start.value, limit, monitor)
    answer, done = start, 0
    while tree.open and (options.node_limit is None or done < options.node_limit):
        tree.expand(NODE_ROUNDS if done else ROOT_ROUNDS)
        done += 1
        if done == 1 and tree.open:
            tree.cut(_relaxed_bound(problem, monitor))
        if tree.value > answer.value:
            answer = improve(problem, tree.best, monitor=monitor)  # and ties to the lowest index
            tree.best, tree.value = answer.indices, answer.value
        elif done % NODES_PER_STEP and monitor.remaining() > 0:
            continue
        yield _bounded(answer, tree)
    yield _bounded(answer, tree)


def _relaxed_bound(problem: Problem, monitor: Monitor) -> float:
    from featsieve.quadratic.relaxation import upper_bound  # rarely needed, and scipy with it

    return upper_bound(problem, monitor=monitor)


def _bounded(answer: Answer, tree: Tree) -> Answer:
    return Answer(answer.indices, answer.value, max(tree.upper_bound, answer.value))


def exact_steps(problem: Problem, options: Options) -> Iterator[Answer]:
    """A good start by swaps, then the proof."""
    start = problem.ranked(problem.top(problem.row_sums))
    yield start
    start = improve(problem, start.indices, 200 + 10 * problem.k, options.monitor)
    yield start
    yield from prove(problem, start, options)


def auto_steps(problem: Problem, options: Options) -> Iterator[Answer]:
    """The best so far: cheap starts, swaps and tabu search on each, a proof if it is cheap."""
    best: Answer | None = None
    known: set[bytes] = set()  # several starts come to the same set
    for start in _starts(problem, options):
        if best is None:
            yield start
        key = np.sort(start.indices).tobytes()
        if key not in known:
            known.add(key)
            improved = improve(problem, start.indices, patience(problem), options.monitor)
            best = improved if best is None or improved.value > best.value else best
        assert best is not None  # the first start is new
        yield best
    if best is not None and comb(problem.n, problem.k) * problem.k**2 <= FEW_ENTRIES:
        yield _proven_by_all(problem, best, options.monitor)
    elif best is not None and problem.n <= PROOF_SIZE:
        yield from prove(problem, best, replace(options, node_limit=PROOF_WORK // problem.n**2))


def _proven_by_all(problem: Problem, best: Answer, monitor: Monitor) -> Answer:
    """Of few sets all are looked at: a node of the proof takes as long, and its kernel a second."""
    n_sets = comb(problem.n, problem.k)
    indices = chain.from_iterable(combinations(range(problem.n), problem.k))
    sets = np.fromiter(indices, dtype=np.int64).reshape(n_sets, problem.k)
    values = problem.Q[sets[:, :, None], sets[:, None, :]].sum(axis=(1, 2))
    margin = PROOF_TOLERANCE / 10 * max(abs(problem.row_bound), problem.scale)
    if values.max() > best.value + margin:
        best = improve(problem, sets[best_first(values)[0]], monitor=monitor)
    return replace(best, upper_bound=best.value)


def _starts(problem: Problem, options: Options) -> Iterator[Answer]:
    """Linear, Spectral and TPower (here only starts, so any Q will do), then random sets."""
    yield from linear_steps(problem, options)
    yield from spectral_steps(problem, options)
    yield from tpower_steps(problem, replace(options, shift="schedule", iterates="real"))
    for _ in range(N_RANDOM_STARTS):
        yield problem.answer(options.rng.permutation(problem.n)[: problem.k])
