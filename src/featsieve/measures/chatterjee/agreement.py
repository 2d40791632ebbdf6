"""How much the targets of two rows agree, and how much they would by chance."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from featsieve.arrays import Array, FloatArray, IntArray
from featsieve.engines.base import require_memory, slices
from featsieve.measures.chatterjee.neighbours import Points
from featsieve.measures.hsic.target_kernel import HasFeatures, LabelVectors, fit_target_kernel
from featsieve.protocols import Engine
from featsieve.schema import Block

SHARE_OF_BUDGET = 2
ROWS_AT_ONCE = 256


class Agreement(Protocol):
    """A coefficient is (mean agreement of neighbours − chance) / room, or 0 without room."""

    @property
    def chance(self) -> float: ...

    @property
    def room(self) -> float: ...

    def of_pairs(self, rows: IntArray, others: IntArray) -> FloatArray: ...

    def sums(self, rows: IntArray, near: IntArray, points: Points) -> FloatArray:
        """Of each row with all rows of a point."""
        ...


@dataclass(frozen=True)
class RankAgreement:
    """min(R_i, R_j)/n, where R counts the targets up to one (Azadkia and Chatterjee 2021, eq. 11).

    Several outputs are averaged, each by its own room.
    """

    ranks: FloatArray  # one column per output: #{y ≤ y_i}/n over the output's room
    chance: float
    room: float = 1.0

    def of_pairs(self, rows: IntArray, others: IntArray) -> FloatArray:
        return np.asarray(np.minimum(self.ranks[rows], self.ranks[others]).mean(axis=1))

    def sums(self, rows: IntArray, near: IntArray, points: Points) -> FloatArray:
        """Σ min(r, r_m): the smaller ranks of a point themselves, and r for each of the others."""
        total = np.zeros(len(rows))
        for ranks in self.ranks.T:
            levels, level = np.unique(ranks, return_inverse=True)
            order, keys = _sorted_keys(points.codes, level, len(levels))
            cumulated = np.concatenate([[0.0], np.cumsum(ranks[order])])
            start = points.starts[near]
            middle = np.searchsorted(keys, near * len(levels) + level[rows], side="right")
            n_larger = start + points.sizes[near] - middle
            total += cumulated[middle] - cumulated[start] + n_larger * ranks[rows]
        return total / self.ranks.shape[1]


def rank_agreement(Y: FloatArray) -> RankAgreement:
    """R and L = #{y ≥ y_i} of each output; a constant output has no room and says nothing."""
    n = len(Y)
    ranks, chance = np.zeros(Y.shape), []
    varies = False
    for output in range(Y.shape[1]):
        rising = np.sort(Y[:, output])
        upper = np.searchsorted(rising, Y[:, output], side="right") / n
        above = 1.0 - np.searchsorted(rising, Y[:, output], side="left") / n
        room = float(np.mean(above * (1.0 - above)))
        if room > 0:
            varies = True
            ranks[:, output] = upper / room
            chance.append(float(np.mean(above**2)) / room)
    return RankAgreement(ranks, sum(chance) / Y.shape[1], float(varies))


@dataclass(frozen=True)
class ClassAgreement:
    """1 for rows of the same class: the ranks of each class indicator, taken together."""

    codes: Array
    chance: float
    room: float

    def of_pairs(self, rows: IntArray, others: IntArray) -> FloatArray:
        return np.asarray((self.codes[rows] == self.codes[others]).mean(axis=1))

    def sums(self, rows: IntArray, near: IntArray, points: Points) -> FloatArray:
        """How many rows of a point are of the row's class."""
        total = np.zeros(len(rows))
        for codes in self.codes.T:
            states, state = np.unique(codes, return_inverse=True)
            _, keys = _sorted_keys(points.codes, state, len(states))
            pairs = near * len(states) + state[rows]
            total += np.searchsorted(keys, pairs, side="right") - np.searchsorted(keys, pairs)
        return total / self.codes.shape[1]


def class_agreement(codes: Array) -> ClassAgreement:
    shares = [np.unique(column, return_counts=True)[1] / len(codes) for column in codes.T]
    chance = float(np.mean([share @ share for share in shares]))
    return ClassAgreement(codes, chance, 1.0 - chance)


@dataclass(frozen=True)
class KernelAgreement:
    """K(y_i, y_j) of any kernel, by its Gram matrix or its features (Huang et al. 2022)."""

    values: FloatArray
    is_gram: bool
    chance: float
    room: float

    def of_pairs(self, rows: IntArray, others: IntArray) -> FloatArray:
        if self.is_gram:
            return np.asarray(self.values[rows, others])
        return np.asarray(np.einsum("ij,ij->i", self.values[rows], self.values[others]))

    def sums(self, rows: IntArray, near: IntArray, points: Points) -> FloatArray:
        if not self.is_gram:
            of_points = np.add.reduceat(self.values[points.order], points.starts, axis=0)
            return np.asarray(np.einsum("ij,ij->i", self.values[rows], of_points[near]))
        total = np.empty(len(rows))
        for some in slices(len(rows), ROWS_AT_ONCE):
            gram = self.values[rows[some]][:, points.order]
            of_points = np.add.reduceat(gram, points.starts, axis=1)
            total[some] = of_points[np.arange(len(of_points)), near[some]]
        return total


def _sorted_keys(point: IntArray, level: IntArray, n_levels: int) -> tuple[IntArray, IntArray]:
    """The rows by point, then by level, and a number for each such pair in this order."""
    keys = point * n_levels + level
    order = np.argsort(keys, kind="stable")
    return order, keys[order]


def kernel_agreement(engine: Engine, kind: Any) -> KernelAgreement:
    """Chance is the mean of K over pairs of different rows, room what K(y, y) has above it."""
    kernel = fit_target_kernel(engine, kind, "median")
    y, n = engine.targets(), engine.n_samples
    fits = 8 * n * n * SHARE_OF_BUDGET <= engine.memory_limit
    if isinstance(kernel, LabelVectors) or (isinstance(kernel, HasFeatures) and not fits):
        features = kernel.features(y)
        total = features.sum(axis=0)
        diagonal = np.einsum("ij,ij->i", features, features)
        chance = float((total @ total - diagonal.sum()) / (n * (n - 1)))
        return KernelAgreement(features, False, chance, float(diagonal.mean()) - chance)
    require_memory(SHARE_OF_BUDGET * n * n, engine.memory_limit, "the Gram matrix of the target")
    block = Block(0, np.empty((n, 0)), y)
    gram = kernel.tile(block, block)
    diagonal = np.diag(gram)
    chance = float((gram.sum() - diagonal.sum()) / (n * (n - 1)))
    return KernelAgreement(gram, True, chance, float(diagonal.mean()) - chance)


def target_agreement(engine: Engine) -> Agreement:
    """Ranks of numbers, or classes as they are."""
    y = engine.targets()
    if engine.target.is_classification:
        return class_agreement(y)
    return rank_agreement(np.asarray(y, dtype=np.float64))
