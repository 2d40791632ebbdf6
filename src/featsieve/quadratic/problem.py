"""The problem max x'Qx with k ones, checked once, the answers to it, and the solvers by name."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property
from importlib import import_module
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from featsieve.arrays import FloatArray, IntArray
from featsieve.errors import InputError
from featsieve.input.parameters import check_array, is_integer
from featsieve.input.tables import is_rounded, is_sparse, narrowed, unmasked
from featsieve.runtime.ordering import best_first
from featsieve.runtime.pool import single_threaded_blas
from featsieve.runtime.progress import SILENT, Monitor
from featsieve.runtime.user_warnings import warn_user

PROOF_TOLERANCE = 1e-10


@dataclass(frozen=True)
class Answer:
    """The best set so far, best first, and what is known about the optimum."""

    indices: IntArray
    value: float
    upper_bound: float = np.inf

    def bounded(self, limit: float) -> Answer:
        """The same with a bound that is at least as tight, and never below the value."""
        return Answer(self.indices, self.value, max(min(self.upper_bound, limit), self.value))

    @property
    def is_proven(self) -> bool:
        """The bound leaves no room above the value, up to rounding."""
        if not np.isfinite(self.upper_bound):
            return False
        return self.upper_bound - self.value <= PROOF_TOLERANCE * abs(self.upper_bound)


@dataclass(frozen=True)
class BQPResult:
    """A set of k indices and how good it can be said to be.

    Parameters
    ----------
    indices
        The selected indices, best first (by the solver's own order, else by their share of
        the value).
    value
        x'Qx of the symmetrised matrix.
    upper_bound
        No set of k indices has a larger value; None if ``bound="none"`` left it out.
    proven_optimal
        The value reaches the bound (to 1e-10 relative).
    elapsed
        Seconds.

    Examples
    --------
    >>> from featsieve.quadratic import solve
    >>> result = solve([[3, 1, 0], [1, 2, 1], [0, 1, 1]], 2)
    >>> result.value, result.upper_bound, result.gap
    (7.0, 7.0, 0.0)
    """

    indices: IntArray
    value: float
    upper_bound: float | None
    proven_optimal: bool
    elapsed: float

    @property
    def gap(self) -> float | None:
        """How far below the best possible the value can be at most, as a share of the bound."""
        if self.upper_bound is None:
            return None
        room = max(self.upper_bound - self.value, 0.0)
        return room / abs(self.upper_bound) if room else 0.0

    @property
    def approximation(self) -> str | None:
        """The same in words; None where the value is proven to be the best."""
        if self.proven_optimal:
            return None
        if self.gap is None:
            return "no bound on the best possible value was asked for"
        return f"within {100 * self.gap:.2g} % of the best possible value"


def shares(Q: FloatArray, chosen: IntArray) -> FloatArray:
    """What each index itself adds to x'Qx: its diagonal, and its entry for each (other) chosen one.

    Over the chosen ones this sums to x'Qx; Q need not be symmetric.
    """
    sums = Q[chosen].sum(axis=0)
    outside = np.ones(len(Q), dtype=bool)
    outside[chosen] = False
    return sums + np.where(outside, np.diag(Q), 0.0)


# CMI estimated from counts is non-negative up to rounding: less than this share is rounding.
NEGATIVE_TOLERANCE = 1e-12
DENSE_EIGEN_LIMIT = 200
ROUNDING = 1e-13
BLOCK_ENTRIES = 1 << 20
LARGEST_ENTRY = 1e100  # solvers multiply entries with each other and sum over all of them


@dataclass(frozen=True)
class Problem:
    """A symmetric float64 matrix and the number of ones."""

    Q: FloatArray
    k: int

    @property
    def n(self) -> int:
        return len(self.Q)

    @cached_property
    def scale(self) -> float:
        """The largest entry in absolute value."""
        return float(max(self.Q.max(), -self.Q.min()))

    @cached_property
    def row_sums(self) -> FloatArray:
        return self.Q.sum(axis=1)

    @cached_property
    def is_nonnegative(self) -> bool:
        return bool(self.Q.min() >= -NEGATIVE_TOLERANCE * self.scale)

    @cached_property
    def row_bound(self) -> float:
        """LP2 with only k − 1 partners per row: no set has a larger value, for any Q."""
        best = np.diagonal(self.Q) + self._best_partners()
        return float(np.sort(best)[-self.k :].sum())

    def _best_partners(self) -> FloatArray:
        """For each row the sum of its k − 1 largest entries off the diagonal."""
        partners = self.k - 1
        sums = np.zeros(self.n)
        step = max(1, BLOCK_ENTRIES // self.n)
        for first in range(0, self.n if partners else 0, step):
            rows = self.Q[first : first + step].copy()
            at = np.arange(len(rows))
            rows[at, first + at] = -np.inf
            rows.partition(self.n - partners, axis=1)
            sums[first : first + step] = rows[:, self.n - partners :].sum(axis=1)
        return sums

    def value(self, indices: IntArray) -> float:
        members = np.sort(indices)  # one order of summation: the same set has the same value
        return float(self.Q[np.ix_(members, members)].sum())

    def top(self, scores: FloatArray) -> IntArray:
        """The k largest scores, best first."""
        return best_first(scores)[: self.k]

    def answer(self, indices: IntArray, upper_bound: float = np.inf) -> Answer:
        return Answer(indices, self.value(indices), upper_bound)

    def ranked(self, indices: IntArray) -> Answer:
        """The same set, ordered by each member's share of the value."""
        members = np.sort(indices)
        shares = self.Q[np.ix_(members, members)].sum(axis=1)
        return self.answer(members[best_first(shares)])

    def eigenpairs(self, rank: int) -> tuple[FloatArray, FloatArray]:
        """The ``rank`` largest eigenvalues, largest first, and their vectors."""
        if self.n <= DENSE_EIGEN_LIMIT or rank >= self.n // 4:
            values, vectors = np.linalg.eigh(self.Q)
        else:
            # A fixed start keeps the answer the same from run to run.
            values, vectors = lanczos(self.Q, rank, "LA", np.linspace(1.0, 2.0, self.n))
        order = np.argsort(-values, kind="stable")[:rank]
        return values[order], vectors[:, order]


def lanczos(
    matrix: FloatArray,
    count: int,
    which: Literal["LA", "SA"],
    start: FloatArray,
    tol: float = 1e-10,
) -> tuple[FloatArray, FloatArray]:
    """The largest ("LA") or smallest ("SA") eigenvalues and their vectors.

    Products with one vector are limited by memory: BLAS threads would only wait for each other.
    """
    from scipy.sparse.linalg import eigsh

    with single_threaded_blas():
        size = min(len(matrix), max(60, 2 * count + 1))  # twice as fast here as the default of 20
        values, vectors = eigsh(matrix, k=count, which=which, v0=start, tol=tol, ncv=size)
    return values, vectors


def make_problem(Q: npt.ArrayLike, k: int) -> Problem:
    """Check a user's matrix and k, and symmetrise the matrix."""
    matrix = _as_matrix(Q)
    if matrix.ndim != 2 or matrix.shape[0] != matrix.shape[1]:
        raise InputError(
            f"Q has shape {matrix.shape}; give a square matrix, one row and one column per feature."
        )
    if not np.isfinite(matrix).all():
        raise InputError("Q has NaN or infinite entries; give finite numbers only.")
    _check_k(k, len(matrix))
    if max(matrix.max(), -matrix.min()) > LARGEST_ENTRY:
        raise InputError(
            f"Q has entries beyond {LARGEST_ENTRY:.0e}, where sums overflow; divide Q by its "
            "largest entry, the best set stays the same."
        )
    symmetric = np.add(matrix, matrix.T, order="C")
    symmetric *= 0.5
    return Problem(symmetric, int(k))


def _as_matrix(Q: Any) -> FloatArray:
    if is_sparse(Q):
        raise InputError("Q is sparse, and solvers need all entries; give Q.toarray().")
    matrix = check_array("Q", unmasked(Q), "a square matrix of numbers")
    if is_rounded(matrix):
        warn_user(
            "Q holds integers beyond 2^53, which lose their last digits as floating-point numbers; "
            "subtract a constant, the best set stays the same."
        )
    try:
        if matrix.dtype.kind not in "biufO":
            raise TypeError
        return np.asarray(narrowed(matrix), dtype=np.float64)
    except (TypeError, ValueError):
        raise InputError(
            f"Q holds values of type {matrix.dtype}; give a matrix of real numbers."
        ) from None


def _check_k(k: int, n: int) -> None:
    if not is_integer(k):
        raise InputError(f"k must be an integer, not {k!r}; give the number of features to select.")
    if n < 1:
        raise InputError("Q is 0 × 0, so there is nothing to choose; give at least one feature.")
    if not 1 <= k <= n:
        raise InputError(f"k = {k} of {n} features cannot be chosen; give 1 <= k <= {n}.")


def check_nonnegative(problem: Problem, solver: str) -> None:
    """Refuse a matrix with negative entries where the solver's relaxation needs none."""
    if not problem.is_nonnegative:
        raise InputError(
            f'solver="{solver}" needs Q without negative entries (the smallest is '
            f'{problem.Q.min():.3g}); use solver="auto", "tpower", "lowrank", "sdp" or "exact".'
        )


SolverName = Literal["auto", "linear", "spectral", "sdp", "tpower", "lowrank", "exact"]
BoundEffort = Literal["auto", "cheap", "sdp", "none"]
Iterates = Literal["real", "binary"]
Shift = Literal["schedule", "none", "partial", "full"]
Start = Literal["linear", "diagonal", "uniform"]
SdpForm = Literal["product", "plain"]


@dataclass(frozen=True)
class Options:
    """The hyper-parameters of all solvers, each used by the solver that its comment names."""

    rng: np.random.Generator = field(default_factory=np.random.default_rng)
    monitor: Monitor = SILENT  # all
    rank: int = 3  # lowrank
    epsilon: float = 0.1  # lowrank
    delta: float = 0.1  # lowrank
    n_samples: int | None = None  # lowrank: None = as many as epsilon and delta ask
    iterates: Iterates = "real"  # tpower
    shift: Shift = "schedule"  # tpower
    start: Start = "linear"  # tpower
    max_iter: int = 50  # tpower
    n_projections: int = 100  # sdp
    sdp_form: SdpForm = "product"  # sdp
    node_limit: int | None = None  # exact


@dataclass(frozen=True)
class Solver:
    """Where a solver lives, what it needs, and what it does without being asked."""

    module: str
    function: str
    needs_nonnegative: bool = False
    local_search: bool = False
    bound: BoundEffort = "auto"

    def steps(self, problem: Problem, options: Options) -> Iterator[Answer]:
        """Yield the best answer so far, again and again; the last one is final."""
        module = import_module(f"featsieve.quadratic.{self.module}")
        answers: Iterator[Answer] = getattr(module, self.function)(problem, options)
        return answers


SOLVERS: dict[str, Solver] = {
    "auto": Solver("exact", "auto_steps", local_search=True),
    "linear": Solver("heuristics", "linear_steps", needs_nonnegative=True, bound="cheap"),
    "spectral": Solver("heuristics", "spectral_steps", needs_nonnegative=True, bound="cheap"),
    "sdp": Solver("relaxation", "sdp_steps"),
    "tpower": Solver("heuristics", "tpower_steps", bound="cheap"),
    "lowrank": Solver("lowrank", "lowrank_steps", local_search=True, bound="cheap"),
    "exact": Solver("exact", "exact_steps"),
}
