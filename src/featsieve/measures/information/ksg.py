"""Mutual information from nearest neighbours, without bins (Kraskov et al. 2004; Ross 2014).

Both estimators assume that no two distances are equal. Rounded numbers break that: which of many
equal distances counts as nearer would depend on the last bit, and so on dtype and row order. So
equal values are spread over the gap to their neighbours before anything is counted. Let X' = X + U
be that with U independent of Y: X is known from X', hence I(X'; Y) = I(X; Y). Different values with
a fixed number of decimals still have equal distances; they are moved by up to half of their step.
"""

from __future__ import annotations

from functools import cached_property, lru_cache
from typing import Any

import numpy as np
from scipy.special import digamma

from featsieve.arrays import FloatArray, IntArray
from featsieve.compiled.neighbors import common_step, label_digammas, pair_digammas
from featsieve.errors import InputError
from featsieve.measures.information.joint import Correction, JointCounts, information
from featsieve.protocols import Engine
from featsieve.runtime.progress import Monitor

SPREAD_SEED = 2004
MANY_ROWS = 50_000  # from here on a column is not begun before its time is known
PROBED = 64  # one row of so many
ROUNDING = 2.0 * float(np.finfo(np.float32).eps)
MOST_STEPS = 1 << 20
FINEST_STEP = 8  # times what single precision can tell apart


def ksg_information(
    x: FloatArray,
    y: FloatArray,
    *,
    n_neighbors: int = 3,
    discrete_x: bool = False,
    discrete_y: bool = False,
) -> float:
    """I(X; Y) in nats; a pair of numbers by Kraskov's first estimator, a mixed pair by Ross's.

    Numbers are brought to deviation 1, and equal ones are spread apart; rows with a missing cell
    are left out; never below 0. The order of the rows does not matter.
    """
    known = ~(np.isnan(x) | np.isnan(y))
    x, y = x[known].astype(np.float64), y[known].astype(np.float64)
    if len(x) < 2 or x.min() == x.max() or y.min() == y.max():
        return 0.0
    if discrete_x and discrete_y:
        return information(JointCounts.of([_labels(x), _labels(y)]))
    if discrete_x or discrete_y:
        values, labels = (y, x) if discrete_x else (x, y)
        return _mixed(values, _labels(labels), n_neighbors)
    return _continuous(x, y, n_neighbors)


def _continuous(x: FloatArray, y: FloatArray, n_neighbors: int) -> float:
    """ψ(n) + ψ(k) − ⟨ψ(n_x + 1) + ψ(n_y + 1)⟩ (Kraskov et al. 2004, eq. 8)."""
    n, k = len(x), min(n_neighbors, len(x) - 1)
    draws = np.random.default_rng(SPREAD_SEED)
    y, x = _spread(y, x, draws)
    x, y = _spread(x, y, draws)
    x, y = x / np.std(x), y / np.std(np.sort(y))
    psi = _digammas(n)
    near = pair_digammas(x, y, np.sort(y), np.empty(k), psi)
    return max(0.0, float(psi[n] + psi[k] - near / n))


def _mixed(values: FloatArray, labels: IntArray, n_neighbors: int) -> float:
    """ψ(n) + ⟨ψ(k)⟩ − ⟨ψ(n_label)⟩ − ⟨ψ(m)⟩ over labels that occur twice (Ross 2014)."""
    several = np.bincount(labels)[labels] > 1
    if not several.any():
        return 0.0
    draws = np.random.default_rng(SPREAD_SEED)
    values, labels = _spread(values[several], labels[several], draws)
    n, psi, total = len(values), _digammas(len(values)), 0.0
    for label in np.unique(labels):
        alike = values[labels == label]
        k = min(n_neighbors, len(alike) - 1)
        total += len(alike) * (psi[k] - psi[len(alike)]) - label_digammas(alike, values, k, psi)
    return max(0.0, float(psi[n] + total / n))


@lru_cache(maxsize=4)
def _digammas(n: int) -> FloatArray:
    """ψ(0) … ψ(n); the first is never used."""
    return np.concatenate(([np.nan], digamma(np.arange(1, n + 1))))


def _spread(values: FloatArray, others: Any, draws: np.random.Generator) -> tuple[FloatArray, Any]:
    """Both, sorted by the values; equal values lie anywhere between the midpoints to the next ones.

    Where depends on the sorted pairs only, so not on the order of the rows; and numbers are taken
    in single precision, so that their dtype does not decide which of two distances is larger. If
    they come in steps, no two distances of theirs may be equal, whatever the unit.
    """
    order = np.lexsort((others, values))
    values, others = _unit_size(values[order]), others[order]
    starts = np.flatnonzero(np.concatenate(([True], values[1:] > values[:-1])))
    times = np.diff(np.append(starts, len(values)))
    steps = _steps(values[starts])
    if steps is not None:
        values = np.repeat(steps, times)
    elif len(starts) < len(values):
        values = _single(values, len(starts))
    else:
        return _single(values, len(starts)), others
    half = np.diff(values[starts]) / 2
    below = np.repeat(np.append(half[0], half), times)
    above = np.repeat(np.append(half, half[-1]), times)
    single = np.repeat(times, times) == 1
    below[single] = above[single] = 0.0 if steps is None else 0.5
    spread = values + draws.random(len(values)) * (below + above) - below
    order = np.argsort(spread, kind="stable")
    return spread[order], others[order]


def _unit_size(values: FloatArray) -> FloatArray:
    """Divided by a power of two, which is exact: squares neither overflow nor vanish."""
    return np.ldexp(values, -int(np.frexp(np.abs(values).max())[1]))


def _steps(distinct: FloatArray) -> FloatArray | None:
    """Sorted values as integer multiples of one step, if single precision allows that all are."""
    noise = ROUNDING * float(np.abs(distinct).max())
    gaps, span = np.diff(distinct), float(distinct[-1] - distinct[0])
    finest = max(FINEST_STEP * noise, span / MOST_STEPS)
    step = common_step(np.sort(gaps), finest, noise / 2)
    if step == 0.0:
        return None
    counts = np.concatenate(([0.0], np.cumsum(np.rint(gaps / step))))
    counts /= np.gcd.reduce(counts.astype(np.int64))
    all_are = np.abs(distinct - distinct[0] - counts * (span / counts[-1])).max() <= noise
    return counts if all_are else None


def _single(values: FloatArray, n_distinct: int) -> FloatArray:
    """In single precision, unless that makes different values equal."""
    rounded = values.astype(np.float32).astype(np.float64)
    kept = 1 + np.count_nonzero(rounded[1:] > rounded[:-1]) == n_distinct
    return rounded if kept else values


def _labels(values: FloatArray) -> IntArray:
    return np.unique(values, return_inverse=True)[1].reshape(-1)


class BoundKSG:
    """Neighbour estimates of an engine's columns; a group scores what its best column scores."""

    def __init__(
        self, engine: Engine, n_neighbors: int, *, normalized: bool, correction: Correction
    ) -> None:
        if normalized:
            raise InputError(
                "estimator='ksg' has no entropies to normalise by; use estimator='binned'."
            )
        if correction is not None:
            raise InputError(
                f"estimator='ksg' has no bins, so correction={correction!r} is not possible; use "
                "estimator='binned', or correction=None."
            )
        self.n_units = engine.schema.n_units
        self.monitor: Monitor = engine.monitor
        self._engine = engine
        self._n_neighbors = int(n_neighbors)
        self._seconds: float | None = None

    def scores(self) -> FloatArray:
        return self._output_scores.mean(axis=0)

    def report(self) -> dict[str, Any]:
        return {"output_scores": self._output_scores}

    @cached_property
    def _output_scores(self) -> FloatArray:
        """One row per output, one number per unit."""
        engine = self._engine
        y = np.asarray(engine.take(columns=np.arange(1))[1], dtype=float)
        by_column = engine.map_columns(
            lambda X, columns: np.array(
                [self._outputs(x, int(c), y) for x, c in zip(X.T, columns, strict=True)]
            )
        )
        groups = engine.schema.groups
        if groups is not None:
            by_column = np.array([by_column[list(columns)].max(axis=0) for columns in groups])
        return by_column.T

    def _outputs(self, x: FloatArray, column: int, y: FloatArray) -> list[float]:
        schema = self._engine.schema
        discrete = column in schema.categories
        n_infinite = np.count_nonzero(np.isinf(x))
        if n_infinite:
            raise InputError(
                f"column {schema.names[column]!r} has {n_infinite} infinite cells, and "
                "estimator='ksg' needs distances; drop those rows, fill them in, or use "
                "estimator='binned'."
            )
        self.monitor.expect(self._expected_seconds(x, y, discrete))
        return [self._information(x, output, discrete) for output in y.T]

    def _information(self, x: FloatArray, output: FloatArray, discrete: bool) -> float:
        return ksg_information(
            x,
            output,
            n_neighbors=self._n_neighbors,
            discrete_x=discrete,
            discrete_y=self._engine.target.is_classification,
        )

    def _expected_seconds(self, x: FloatArray, y: FloatArray, discrete: bool) -> float:
        """Of one column, which cannot be stopped: from some of the rows, once for all columns.

        A pair of numbers takes n √n, for neighbours in the plane are looked for along one axis.
        """
        if not self.monitor.has_limit or len(x) < MANY_ROWS:
            return 0.0
        if self._seconds is None:
            began = self.monitor.elapsed
            self._information(x[::PROBED], y[::PROBED, 0], discrete)
            is_pair = not (discrete or self._engine.target.is_classification)
            growth = PROBED ** (1.5 if is_pair else 1.0)
            self._seconds = growth * (self.monitor.elapsed - began) * y.shape[1]
        return self._seconds
