"""Relief (Kira and Rendell 1992), ReliefF (Kononenko 1994) and RReliefF (Robnik-Šikonja and
Kononenko 1997): does a column differ between near rows of different classes, and not within one?"""

from __future__ import annotations

import numbers
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any, ClassVar

import numpy as np

from featsieve.arrays import FloatArray, IntArray
from featsieve.input.parameters import (
    Check,
    check_fraction_or_count,
    check_integer,
    check_parameters,
    unless,
)
from featsieve.measures.base import BaseMeasure
from featsieve.measures.relief.columns import Columns, Survey
from featsieve.measures.relief.comparison import Differences
from featsieve.measures.relief.passes import compare_rows, output_side
from featsieve.protocols import Engine
from featsieve.runtime.progress import TimeUp
from featsieve.runtime.seeds import root_seed
from featsieve.schema import Schema


@dataclass(kw_only=True, eq=False, repr=False)
class Relief(BaseMeasure):
    """Difference to near rows of other classes, minus the difference to near rows of the same.

    For every row, the k nearest rows of each class are found (Manhattan distance on columns scaled
    to their range). A column loses its mean difference to the nearest rows of the same class, and
    gains that to the nearest rows of each other class c, times P(c)/(1 − P(own class)); the score
    is the mean over all rows (ReliefF). With two classes and ``n_neighbors=1`` this is Relief.

    For a numeric target it is RReliefF: W = N_dCdA/N_dC − (N_dA − N_dCdA)/(m − N_dC) over the k
    nearest of all rows, with rank r weighted by exp(−(r/50)²).

    Categories differ by 0 or 1. A missing cell differs from a known one by what a cell of its class
    differs on average (regression: any cell), and two missing cells likewise; averages are taken
    over 64 bins of a column's range. Rows that are equally far (to 1e-12 of the largest possible
    distance) share the ranks that they hold, so the order of the rows does not matter. A class with
    fewer than k rows is used as it is. A group of columns scores the sum of its columns, a constant
    column 0. Several outputs: their mean.

    Parameters
    ----------
    n_neighbors : int, default=10
        k, per class.
    max_samples : int, float or None, default=None
        How many rows (or which fraction) are compared with all others; None for every row.
    random_state : int, generator or None, default=None
        Seed of the sample of rows.

    Examples
    --------
    >>> from featsieve import FeatureSelector
    >>> from featsieve.measures import Relief
    >>> from featsieve.searches import Ranking
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> selector = FeatureSelector(Relief(), Ranking(), n_features_to_select=2)
    >>> selector.fit(X, y).indices_.tolist()
    [3, 2]
    """

    takes_missing: ClassVar[bool] = True
    checks: ClassVar[Mapping[str, Check]] = {
        "n_neighbors": partial(check_integer, minimum=1),
        "max_samples": unless(
            None, partial(check_fraction_or_count, inclusive="high", also="None")
        ),
    }

    n_neighbors: int = 10
    max_samples: int | float | None = None
    random_state: Any = None

    def bind(self, engine: Engine) -> BoundRelief:
        check_parameters(self, self.checks)
        n_visited = sample_size(self.max_samples, engine.n_samples)
        # Every row is visited without max_samples: the order only decides what max_time leaves.
        seed = 0 if n_visited == engine.n_samples else root_seed(self.random_state)
        order = np.random.default_rng(seed).permutation(engine.n_samples).astype(np.intp)
        return BoundRelief(engine, int(self.n_neighbors), order[:n_visited])


def sample_size(max_samples: Any, n_samples: int) -> int:
    """
    >>> sample_size(None, 50), sample_size(20, 50), sample_size(0.5, 50), sample_size(99, 50)
    (50, 20, 25, 50)
    """
    if max_samples is None:
        return n_samples
    if isinstance(max_samples, numbers.Integral):
        return min(int(max_samples), n_samples)
    return max(1, int(max_samples * n_samples))


class BoundRelief:
    """Relief with its data."""

    def __init__(self, engine: Engine, n_neighbors: int, visited: IntArray) -> None:
        self.n_units = engine.schema.n_units
        self.monitor = engine.monitor
        self._engine = engine
        self._n_neighbors = min(n_neighbors, engine.n_samples - 1)
        self._visited = visited
        self._report: dict[str, Any] = {}

    def scores(self) -> FloatArray:
        engine = self._engine
        survey = engine.reduce_rows(partial(Survey.of_block, target=engine.target))
        survey.refuse_infinite(engine.schema)
        columns = Columns.of(survey, engine.schema)
        outputs = range(engine.target.n_outputs)
        by_output = [self._of_output(survey, columns, output) for output in outputs]
        by_unit = [sum_by_unit(scores, engine.schema) for scores, _ in by_output]
        n_visited = min(n for _, n in by_output)
        self._report = {"output_scores": np.array(by_unit), "n_rows_compared": n_visited}
        if n_visited < engine.n_samples:
            approximation = f"{n_visited} of {engine.n_samples} rows were compared with all others"
            self._report["approximation"] = approximation
        return np.mean(by_unit, axis=0)

    def report(self) -> dict[str, Any]:
        return self._report

    def _of_output(self, survey: Survey, columns: Columns, output: int) -> tuple[FloatArray, int]:
        side = output_side(self._engine, survey, columns, output, self._n_neighbors)
        parts = compare_rows(self._engine, side, self._visited)
        total = self._sum_in_time(parts)
        finish = _regression_weights if side.comparison.uses_target else _class_weights
        return finish(total), total.n_rows

    def _sum_in_time(self, parts: Iterator[Differences]) -> Differences:
        """The visited rows are in random order, so what is there when time is up is a sample."""
        total: Differences | None = None
        try:
            for part in parts:
                total = part if total is None else total.merge(part)
                self.monitor.tick("comparing rows", total.n_rows, len(self._visited))
        except TimeUp:
            if total is None:
                raise
        if total is None:
            raise RuntimeError("no row was compared")
        return total


def sum_by_unit(by_column: FloatArray, schema: Schema) -> FloatArray:
    """What a unit scores: the sum over its columns."""
    if schema.groups is None:
        return by_column
    return np.array([by_column[list(columns)].sum() for columns in schema.groups])


def _class_weights(total: Differences) -> FloatArray:
    return np.asarray(total.by_column[0] / total.n_rows)


def _regression_weights(total: Differences) -> FloatArray:
    """N_dCdA/N_dC − (N_dA − N_dCdA)/(m − N_dC); a term without any weight is 0."""
    any_difference, with_target = total.by_column
    rest = total.n_rows - total.of_target
    gain = with_target / total.of_target if total.of_target > 0 else 0.0
    # Rounding leaves a rest where every neighbour differs by the range of the target.
    has_rest = rest > 1e-12 * total.n_rows
    loss = (any_difference - with_target) / rest if has_rest else 0.0
    return np.asarray(gain - loss)
