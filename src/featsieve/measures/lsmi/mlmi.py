"""Mutual information by a density ratio (MLMI, Suzuki et al. 2008)."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from typing import ClassVar, Literal, get_args

import numpy as np

from featsieve.arrays import BoolArray, FloatArray
from featsieve.compiled.mixture import maximise_mixture
from featsieve.errors import MemoryBudgetError
from featsieve.input.parameters import Check, check_choice, check_parameters
from featsieve.measures.lsmi.basis import Rows, gaussian, weighted_distances
from featsieve.measures.lsmi.sampled import SampledBasis, SampledMeasure
from featsieve.protocols import Engine
from featsieve.runtime.ordering import best_index
from featsieve.runtime.pool import ordered_map, single_threaded_blas
from featsieve.runtime.progress import Monitor
from featsieve.statistics.moments import Dummies

Solver = Literal["em", "authors"]
_AUTHORS_STEPS = 10.0 ** np.arange(3, -4, -1)
_AUTHORS_ITERATIONS = 100
_EM_STEPS = 10
_NEGLIGIBLE = 0.1  # of an equal weight: such centres leave after the EM steps
_NEWTON_STEPS = 200
_NUMBERS_PER_LOOK = 1 << 23
_AT_THE_MAXIMUM, _NEAR_THE_MAXIMUM = 1e-10, 1e-5  # gaps of likelihood: for an answer, for σ
_NO_LIKELIHOOD = 1e-300


def solve_kliep(A: FloatArray, b: FloatArray, solver: Solver) -> FloatArray:
    """α for the rows A (rows × centres) and the normaliser b: max Σ log(Aα) with b'α = 1, α ≥ 0."""
    if solver == "authors":
        return _authors_ascent(A, b)
    b = _positive_normaliser(b, len(A))
    rows = np.ones(len(A), dtype=bool)
    return Components(A).maximum(rows, b, _AT_THE_MAXIMUM) / b


def mean_log(ratio: FloatArray) -> float:
    """Mean log ratio over the rows that some centre reaches, as the authors take it."""
    reached = ratio[ratio > 0]
    return float(np.log(reached).mean()) if len(reached) else 0.0


def _positive_normaliser(b: FloatArray, n_samples: int) -> FloatArray:
    """Leaving out the centre's own row can make b vanish; with it, b is at least 1/n²."""
    return np.maximum(b, 1.0 / n_samples**2)


class Components:
    """Σ log(Lx) over the rows of L that some centre reaches.

    A row counts by its logarithm, so its scale does not matter: with 1 for its largest entry,
    nothing overflows.
    """

    def __init__(self, A: FloatArray, look: Callable[[], object] = bool) -> None:
        self._look = look
        top = A.max(axis=1)
        self.reached = top > 0
        self._by_center = np.ascontiguousarray((A[self.reached] / top[self.reached, None]).T)

    def maximum(
        self, rows: BoolArray, b: FloatArray, tol: float, start: FloatArray | None = None
    ) -> FloatArray:
        """The weights of sum 1 that maximise Σ log(A (x/b)) over some of the rows."""
        share = rows[self.reached].astype(np.float64)
        x = np.full(len(b), 1.0 / len(b)) if start is None else start.copy()
        if share.any():
            share /= share.sum()
            L = self._by_center / b[:, None]
            x = _em_steps(L, share, x, self._look) if start is None else x
            self._newton_steps(L, share, x, tol)
        return x

    def _newton_steps(self, L: FloatArray, share: FloatArray, x: FloatArray, tol: float) -> None:
        """Of very many rows a few at a time, for one may take a second."""
        at_once = max(1, min(_NEWTON_STEPS, _NUMBERS_PER_LOOK // L.size))
        for _ in range(0, _NEWTON_STEPS, at_once):
            before = x.copy()
            gap = maximise_mixture(L, share, x, tol, at_once)
            self._look()
            if gap <= tol or np.array_equal(x, before):
                return


def _em_steps(
    L: FloatArray, share: FloatArray, x: FloatArray, look: Callable[[], object]
) -> FloatArray:
    """A few EM steps; then the small weights leave, if every row can spare them.

    EM needs thousands of steps to bring a weight near 0; Newton's method is quick from few weights.
    """
    for _ in range(_EM_STEPS):
        x = x * (L @ (share / (x @ L)))
        look()
    large = np.where(x * len(x) >= _NEGLIGIBLE, x, 0.0)
    return large / large.sum() if (large @ L > 0).all() else x


def _authors_ascent(A: FloatArray, b: FloatArray) -> FloatArray:
    """Gradient ascent with steps 10³ … 10⁻³, each as long as it gains, at most 100 times.

    A step that overflows gains nothing and is not taken.
    """
    with np.errstate(over="ignore", divide="ignore", invalid="ignore"):
        return _ascend(A, b)


def _ascend(A: FloatArray, b: FloatArray) -> FloatArray:
    alpha = _onto_constraint(np.ones(len(b)), b)
    value = mean_log(A @ alpha)
    for step in _AUTHORS_STEPS:
        for _ in range(_AUTHORS_ITERATIONS):
            moved = _onto_constraint(alpha + step * (A.T @ _inverse(A @ alpha)), b)
            gained = mean_log(A @ moved)
            if not gained > value:
                break
            alpha, value = moved, gained
    return alpha


def _onto_constraint(alpha: FloatArray, b: FloatArray) -> FloatArray:
    feasible = np.maximum(alpha + b * (1.0 - b @ alpha) / (b @ b), 0.0)
    return feasible / (b @ feasible)


def _inverse(ratio: FloatArray) -> FloatArray:
    return np.divide(1.0, ratio, out=np.zeros_like(ratio), where=ratio > 0)


@dataclass(kw_only=True, eq=False, repr=False)
class MLMI(SampledMeasure):
    """MLMI of a set of columns with the target, in nats.

    Parameters
    ----------
    n_basis, sigmas, cv, centers, scale_target, random_state
        As for :class:`featsieve.measures.LSMI`; σ is chosen by the likelihood of held-out rows.
    solver : {"em", "authors"}, default="em"
        ``"em"`` reaches the maximum of the likelihood (a few EM steps, then Newton steps);
        ``"authors"`` is the gradient ascent of Suzuki et al., which can stop far below it, or in
        a corner where only some rows have a likelihood.

    Examples
    --------
    >>> from featsieve import FeatureSelector
    >>> from featsieve.measures import MLMI
    >>> from featsieve.searches import Ranking
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> selector = FeatureSelector(MLMI(random_state=0), Ranking(), n_features_to_select=2)
    >>> selector.fit(X, y).indices_.tolist()
    [3, 2]
    """

    checks: ClassVar[Mapping[str, Check]] = {
        **SampledMeasure.checks,
        "solver": partial(check_choice, allowed=get_args(Solver)),
    }

    solver: Solver = "em"

    def bind(self, engine: Engine) -> BoundMLMI:
        check_parameters(self, self.checks)
        _require_memory(engine, int(self.n_basis))
        return BoundMLMI(self._basis(engine), self.solver, engine.monitor)


@dataclass(frozen=True)
class RatioFit:
    """The value, the σ it belongs to, and one α per centre (sorted by class)."""

    value: float
    sigma: float
    alpha: FloatArray


class BoundMLMI:
    """MLMI with its rows: gathered, because every iteration needs all of them."""

    def __init__(self, basis: SampledBasis, solver: Solver, monitor: Monitor) -> None:
        self.basis = basis
        self.n_units = basis.rows.n_units
        self.monitor = monitor
        self._solver: Solver = solver

    @cached_property
    def _rows(self) -> Rows:
        n = self.basis.rows.n_samples
        X, y = self.basis.rows.take(np.arange(n))
        return Rows(X, y, np.array([0, n]))

    def scores(self) -> FloatArray:
        values = []
        _ = self._rows, self.basis.centers, self.basis.folds  # once, before threads ask for them
        units = ([unit] for unit in range(self.n_units))
        with single_threaded_blas():
            for value in ordered_map(self.value, units, self.basis.rows.n_jobs):
                values.append(value)
                self.monitor.tick("measuring columns", len(values), self.n_units)
        return np.array(values)

    def value(self, subset: Sequence[int]) -> float:
        return self.fit(subset).value

    def fit(self, subset: Sequence[int]) -> RatioFit:
        weights = np.zeros(self.n_units)
        weights[list(subset)] = 1.0
        sigmas = self.basis.candidate_sigmas(weights)
        distances = weighted_distances(
            self._rows, self.basis.centers, self.basis.column_weights(weights)
        )
        sigma = self._choose_sigma(distances, sigmas)
        ratio = self._ratio(distances, sigma)
        alpha = self._fit_ratio(ratio, ratio.all_rows, _AT_THE_MAXIMUM).alpha
        return RatioFit(mean_log(ratio.A @ alpha), sigma, alpha)

    def _choose_sigma(self, distances: FloatArray, sigmas: FloatArray) -> float:
        """By the likelihood of held-out rows."""
        if len(sigmas) == 1:
            return float(sigmas[0])
        scores = []
        for sigma in sigmas:
            scores.append(self._held_out(distances, float(sigma)))
            self.monitor.check()
        return float(sigmas[best_index(np.array(scores))])

    def _ratio(self, distances: FloatArray, sigma: float) -> _RatioModel:
        centers, phi = self.basis.centers, gaussian(distances, sigma)
        psi = np.empty_like(phi)
        for group, part in enumerate(centers.slices):
            psi[:, part] = centers.psi(self._rows.y, group, sigma)
        return _RatioModel(phi, psi, centers.slices, self.monitor.check)

    def _held_out(self, distances: FloatArray, sigma: float) -> float:
        """Mean held-out log-likelihood over the folds."""
        ratio = self._ratio(distances, sigma)
        self.monitor.check()
        everything = self._fit_ratio(ratio, ratio.all_rows, _NEAR_THE_MAXIMUM)
        scores = []
        for fold in range(self.basis.n_folds):
            held_out = self.basis.folds == fold
            trained = self._fit_ratio(ratio, ~held_out, _NEAR_THE_MAXIMUM, everything.shares)
            scores.append(self._likelihood(ratio.A[held_out] @ trained.alpha))
        return float(np.mean(scores))

    def _fit_ratio(
        self,
        ratio: _RatioModel,
        rows: BoolArray,
        tol: float,
        start: Sequence[FloatArray | None] | None = None,
    ) -> _Trained:
        if self._solver == "authors":
            return _Trained(_authors_ascent(ratio.A[rows], ratio.normaliser(rows)), ())
        return ratio.train(rows, tol, start)

    def _likelihood(self, ratio: FloatArray) -> float:
        """The authors leave out rows that no centre reaches; such a σ would look too good."""
        if self._solver == "authors":
            return mean_log(ratio)
        return float(np.log(np.maximum(ratio, _NO_LIKELIHOOD)).mean())


@dataclass(frozen=True)
class _Trained:
    """α, and the weights of sum 1 within each group of centres that it was made of."""

    alpha: FloatArray
    shares: tuple[FloatArray, ...]


@dataclass(frozen=True)
class _RatioModel:
    """φ and ψ of all rows, rows × centres; the ratio is A α with A = φ ∘ ψ.

    For classes ψ is 0 or 1: a row meets the centres of its class only. The likelihood then falls
    into one problem per class, and the sum of b'α over a class is its share of the rows.
    """

    phi: FloatArray
    psi: FloatArray
    groups: tuple[slice, ...]
    look: Callable[[], object] = bool  # at the clock

    @cached_property
    def A(self) -> FloatArray:
        return self.phi * self.psi

    @property
    def all_rows(self) -> BoolArray:
        return np.ones(len(self.phi), dtype=bool)

    def normaliser(self, rows: BoolArray) -> FloatArray:
        """b: the mean of φψ over all pairs of different rows (KLIEP's constraint b'α = 1)."""
        share, n = rows.astype(np.float64), int(rows.sum())
        pairs = (share @ self.phi) * (share @ self.psi) - share @ self.A
        return pairs / max(n * (n - 1), 1)

    @cached_property
    def _parts(self) -> list[tuple[BoolArray, Components]]:
        """By group of centres: the rows that can meet them, and A of both."""
        if len(self.groups) == 1:
            return [(self.all_rows, Components(self.A, self.look))]
        members = [self.psi[:, part.start] > 0 for part in self.groups]
        return [
            (rows, Components(self.A[rows, part], self.look))
            for rows, part in zip(members, self.groups, strict=True)
        ]

    def train(
        self, rows: BoolArray, tol: float, start: Sequence[FloatArray | None] | None
    ) -> _Trained:
        b = _positive_normaliser(self.normaliser(rows), int(rows.sum()))
        alpha, shares = np.zeros(len(b)), []
        for number, (members, components) in enumerate(self._parts):
            part, chosen = self.groups[number], rows[members]
            x = components.maximum(chosen, b[part], tol, None if start is None else start[number])
            alpha[part] = np.count_nonzero(chosen & components.reached) * x / b[part]
            shares.append(x)
        return _Trained(alpha / (b @ alpha or 1.0), tuple(shares))


def _require_memory(engine: Engine, n_basis: int) -> None:
    width = len(Dummies(engine.schema).owner)
    width *= 2 if engine.schema.categories else 1  # the indicators, and the same about an origin
    needed = 8 * engine.n_samples * (width + 4 * n_basis)
    if needed > engine.memory_limit:
        raise MemoryBudgetError(
            f"MLMI needs {needed} bytes for {engine.n_samples} rows and {n_basis} centres, but "
            f"memory_limit is {engine.memory_limit}; raise it, or use LSMI, which streams."
        )
