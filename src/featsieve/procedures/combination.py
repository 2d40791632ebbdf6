"""A set out of the sets of several methods: they vote, and leave-one-out errors decide.

Units are added one by one. Of the units whose addition cannot be told from the best one, by the
standard error of the paired differences of the rows' errors, the most favoured one is taken: by its
votes, and after the first few by its place in two forests that see only the units with the most
votes, too. So the errors decide where there are rows enough to see a difference, and the methods
and the trees where not. Not the trees at first: copies of the best unit share its importance.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from scipy.stats import rankdata

from featsieve.arrays import FloatArray, IntArray
from featsieve.procedures.judging.leave_one_out import LeaveOneOut
from featsieve.procedures.judging.rows import RowSample, draw_rows
from featsieve.procedures.tree_importance import importance_by_kind
from featsieve.protocols import Engine
from featsieve.result import SelectionResult
from featsieve.runtime.ordering import best_first
from featsieve.runtime.pool import single_threaded_blas
from featsieve.runtime.progress import Monitor

VOTE_SIZES = (5, 10, 20)
PENALTY = 0.03
MOST_IN_POOL = 40
BEAM = 12
FULL_ROUNDS = 2
LEVEL = 1.0  # standard errors within which additions are level
N_TREES = 100  # of each kind
FIRST = 5  # units that are favoured by votes alone
CLEAR = 2.0  # standard errors by which the set of a single method has to be better

Ballot = Mapping[int, IntArray]  # the sets of one method by their sizes


def ballot_sizes(wanted: Sequence[int], n_units: int) -> list[int]:
    """Of the sets that methods are asked for: the wanted ones and those that are votes."""
    return sorted({*wanted, *(size for size in VOTE_SIZES if size < n_units)})


def count_votes(ballots: Sequence[Ballot], n_units: int, wanted: Sequence[int]) -> FloatArray:
    """The share of the sets that hold each unit; sets of several sizes, so that first units count.

    >>> ballots = [{1: np.array([2]), 2: np.array([2, 0])}]
    >>> count_votes(ballots, 3, [1, 2])
    array([0.5, 0. , 1. ])
    """
    counted = {*VOTE_SIZES, *(wanted if len(wanted) < len(VOTE_SIZES) else ())}
    votes, n_sets = np.zeros(n_units), 0
    for ballot in ballots:
        for size, units in ballot.items():
            if size in counted:
                votes[units] += 1.0
                n_sets += 1
    return votes / max(n_sets, 1)


def tree_places(sample: RowSample, pool: IntArray, seed: int) -> FloatArray:
    """1 / √place of each unit of the pool, the mean over kinds of forests.

    Places instead of importance: a share of 90 % for one unit would leave nothing to the votes.
    """
    kinds = importance_by_kind(sample, pool, N_TREES, seed)
    places = [rankdata(-importance, method="min") for importance in kinds]
    return np.asarray(np.mean([1.0 / np.sqrt(place) for place in places], axis=0))


@dataclass(frozen=True)
class Combination:
    """A forward search among the units with the most votes.

    Where the set of one method is clearly better, by the same errors, it takes the place of what
    the search found: adding one by one may miss units that act only together.
    """

    ballots: Sequence[Ballot]
    seed: int
    max_samples: int

    def sets(self, engine: Engine, sizes: Sequence[int]) -> dict[int, SelectionResult]:
        """One answer per size, in order."""
        with single_threaded_blas():  # small products: its threads would keep cores from ours
            return self._sets(engine, sizes)

    def _sets(self, engine: Engine, sizes: Sequence[int]) -> dict[int, SelectionResult]:
        votes = count_votes(self.ballots, engine.schema.n_units, sizes)
        pool = np.sort(best_first(votes)[: max(MOST_IN_POOL, sizes[-1] + 10)])
        affordable = int((engine.memory_limit / (16 * len(pool))) ** 0.5)
        sample = draw_rows(engine, self.seed, max(2, min(self.max_samples, affordable)))
        errors = LeaveOneOut(sample, pool, PENALTY, neighbors=True)
        places: FloatArray = np.zeros(len(pool))
        if sizes[-1] > FIRST:
            places = tree_places(sample, pool, self.seed)
            engine.monitor.check()
        search = _Search(errors, votes[pool], places, engine.monitor)
        path = search.forward(sizes[-1])
        answers = {}
        for size in sizes:
            positions = search.refined(path[:size], self._rivals(size, pool))
            answers[size] = SelectionResult(
                pool[positions], votes.copy(), objective=-errors.mean(search.losses(positions))
            )
        return answers

    def _rivals(self, size: int, pool: IntArray) -> list[list[int]]:
        """The sets of single methods, as positions in the pool."""
        found = [ballot[size] for ballot in self.ballots if size in ballot]
        inside = [units for units in found if len(units) == size and np.isin(units, pool).all()]
        return [np.searchsorted(pool, units).tolist() for units in inside]


class _Search:
    """Sets of positions in a pool, compared by the paired differences of their rows' losses."""

    def __init__(
        self, errors: LeaveOneOut, votes: FloatArray, places: FloatArray, monitor: Monitor
    ) -> None:
        self._errors, self._votes, self._places, self._monitor = errors, votes, places, monitor
        self._known: dict[frozenset[int], FloatArray] = {}

    def losses(self, positions: Sequence[int]) -> FloatArray:
        self._judge([positions])
        return self._known[frozenset(positions)]

    def _judge(self, sets: Sequence[Sequence[int]], base: Sequence[int] = ()) -> None:
        """Sets together with a base, as far as they are not known."""
        new: dict[frozenset[int], Sequence[int]] = {}
        for positions in sets:
            key = frozenset([*base, *positions])
            if key not in self._known:
                new.setdefault(key, positions)
        if new:
            losses = self._errors.each(list(new.values()), base)
            for key, of_rows in zip(new, losses, strict=True):
                self._known[key] = of_rows
                self._monitor.check()

    def forward(self, k: int) -> list[int]:
        """All units in the first rounds, then those that were best in the round before."""
        n = len(self._errors.pool)
        selected: list[int] = []
        last = np.full(n, np.inf)
        while len(selected) < min(k, n):
            outside = np.setdiff1d(np.arange(n), selected)
            if len(selected) >= FULL_ROUNDS:
                outside = outside[best_first(-last[outside])[:BEAM]]
            self._judge([[position] for position in outside.tolist()], selected)
            for position in outside.tolist():
                last[position] = self._errors.mean(self.losses([*selected, position]))
            selected.append(self._addition(selected, outside.tolist(), last))
            self._monitor.tick("combining", len(selected), k)
        return selected

    def _addition(self, selected: list[int], outside: list[int], last: FloatArray) -> int:
        """The most favoured of the additions that are level with the best."""
        best = min(outside, key=lambda position: (last[position], position))
        least = self.losses([*selected, best])
        level = [
            position
            for position in outside
            if last[position] - last[best]
            <= LEVEL * self._errors.spread(self.losses([*selected, position]) - least)
        ]
        favour = self._votes + self._places if len(selected) >= FIRST else self._votes
        return min(level, key=lambda p: (-favour[p], last[p], p))

    def refined(self, positions: list[int], rivals: Sequence[list[int]]) -> list[int]:
        """The best rival if it is clearly better, else the positions as they are."""
        self._judge([positions, *rivals])
        best = min(
            rivals, key=lambda rival: self._errors.mean(self.losses(rival)), default=positions
        )
        gains = self.losses(positions) - self.losses(best)
        is_better = self._errors.mean(gains) > CLEAR * self._errors.spread(gains)
        return best if is_better else positions
