"""What all support vector machines start from: dense columns by unit, and two-class problems."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations

import numpy as np

from featsieve.arrays import Array, BoolArray, FloatArray, IntArray
from featsieve.engines.base import require_memory
from featsieve.input.targets import require_classes
from featsieve.protocols import Engine
from featsieve.result import SelectionResult
from featsieve.runtime.ordering import first_of_copies
from featsieve.schema import Block
from featsieve.statistics.moments import Dummies

_SAME = 1e-9  # of the largest cell: columns that differ by less are copies


@dataclass(frozen=True)
class Problem:
    """Two classes: the rows that take part, and +1 or −1 for each of them."""

    rows: IntArray
    sign: FloatArray


@dataclass(frozen=True)
class Rows:
    """Numeric columns and centred indicators, with the unit that each column belongs to."""

    X: FloatArray
    unit_of: IntArray
    n_units: int
    unit: float = 1.0  # X times this is what the user gave, standardised if that was asked for

    @property
    def n_samples(self) -> int:
        return len(self.X)

    @cached_property
    def is_plain(self) -> bool:
        """Every column is a unit of its own."""
        return len(self.unit_of) == self.n_units

    def per_unit(self, per_column: FloatArray) -> FloatArray:
        """Sums of one number per column."""
        if self.is_plain:
            return per_column
        sums = np.bincount(self.unit_of, weights=per_column, minlength=self.n_units)
        return np.asarray(sums, dtype=np.float64)

    def columns_of(self, units: IntArray) -> IntArray:
        """In the order of the columns, not of the units, unless every column is a unit."""
        return units if self.is_plain else np.flatnonzero(np.isin(self.unit_of, units))

    @cached_property
    def is_copy(self) -> BoolArray:
        """Units whose columns are those of an earlier unit, but for their signs and rounding."""
        key = self.per_unit(np.abs(np.random.default_rng(0).normal(size=self.n_samples) @ self.X))
        return first_of_copies(key, self._same, _SAME) != np.arange(self.n_units)

    def _same(self, a: int, b: int) -> bool:
        X, Z = (self.X[:, self.columns_of(np.array([unit]))] for unit in (a, b))
        if X.shape != Z.shape:
            return False
        Z = Z * np.where(np.einsum("ij,ij->j", X, Z) < 0, -1.0, 1.0)
        return bool(np.allclose(X, Z, rtol=0, atol=_SAME * np.abs(X).max(initial=0.0)))

    def of_units(self, units: IntArray) -> Rows:
        """These units only (ascending), numbered again from 0."""
        columns = self.columns_of(units)
        unit_of = np.searchsorted(units, self.unit_of[columns])
        return Rows(self.X[:, columns], unit_of, len(units), self.unit)


def read_rows(engine: Engine, *, gram_matrices: int, standardize: bool) -> tuple[Rows, Array]:
    """Every column as float64 and the class codes, if they and the Gram matrices fit the budget."""
    searches = ("embedded: l1 path", "non-negative LAR")
    require_classes(engine.target, "a support vector machine", *searches)
    dummies, n = Dummies(engine.schema), engine.n_samples
    what = f"a support vector machine on {n} rows and {len(dummies.owner)} columns"
    require_memory(n * len(dummies.owner) + gram_matrices * n**2, engine.memory_limit, what)
    X, y = engine.take()
    expanded = dummies.expand(Block(0, X, y))
    if expanded is X:  # nothing is categorical; X must stay as it is
        expanded = np.array(X, dtype=np.float64)
    for column in engine.schema.categories:
        engine.monitor.check()  # a column may have thousands of states
        indicators = expanded[:, dummies.of_column(column)]
        indicators[:] = centre_indicators(indicators, standardize)
    unit_of = engine.schema.unit_of_column[dummies.owner]
    unit = common_unit(expanded)
    if unit != 1.0:
        expanded /= unit
    return Rows(expanded, unit_of, engine.schema.n_units, unit), y


def common_unit(X: FloatArray) -> float:
    """A power of two by which numbers as large or small as these are divided, else 1.

    Without standardisation products of columns may overflow; a division of all columns by one
    number only changes the meaning of C.
    """
    top = float(max(X.max(initial=0.0), -X.min(initial=0.0)))
    return float(2.0 ** np.floor(np.log2(top))) if top > 1e6 or 0 < top < 1e-6 else 1.0


def centre_indicators(indicators: FloatArray, standardize: bool) -> FloatArray:
    """Together of variance 1, so that two states count exactly as one number."""
    centred = indicators - indicators.mean(axis=0)
    variance = float(np.vdot(centred, centred)) / max(len(centred), 1)
    if standardize and variance > 0:
        centred /= np.sqrt(variance)
    return centred


def one_vs_one(codes: Array) -> Iterator[Problem]:
    """Every pair of classes, rows ordered by class, the first of the pair positive: as libsvm."""
    rows = [np.flatnonzero(codes == c) for c in np.unique(codes)]
    for a, b in combinations(rows, 2):
        yield Problem(np.concatenate([a, b]), np.repeat([1.0, -1.0], [len(a), len(b)]))


def one_vs_rest(codes: Array) -> Iterator[Problem]:
    """Every class against all others; two classes are one problem."""
    present = np.unique(codes)
    for c in present[1:] if len(present) == 2 else present:
        yield Problem(np.arange(len(codes)), np.where(codes == c, 1.0, -1.0))


def problems_of(y: Array, scheme: Callable[[Array], Iterator[Problem]]) -> list[Problem]:
    """Those of all outputs together."""
    return [problem for output in y.T for problem in scheme(output)]


def loop_result(
    order: IntArray, scores: FloatArray, k: int, trace: Sequence[float]
) -> SelectionResult:
    """After a loop of training; ``trace`` holds the objective of each."""
    return SelectionResult(
        order[:k],
        scores.copy(),
        objective=trace[-1],
        order=order,
        trace=tuple(trace),
        extras={"n_iter": len(trace)},
    )
