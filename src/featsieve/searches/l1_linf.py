"""Rows of a transformation: criterion of XW plus λ Σ_u ‖w_u‖_p, λ raised until k units remain.

The conversion of P-L1INF: any criterion with a gradient for W becomes a search for columns.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any, ClassVar, Literal

import numpy as np
from sklearn.base import BaseEstimator

from featsieve.arrays import FloatArray, IntArray
from featsieve.errors import IncompatibleError, InputError
from featsieve.input.parameters import (
    Check,
    check_choice,
    check_flag,
    check_integer,
    check_parameters,
    check_real,
    not_allowed,
)
from featsieve.protocols import (
    HasColumnSets,
    HasMatrixGradient,
    HasTransform,
    HasTransformValue,
    HasTuning,
)
from featsieve.result import COMPLETED, SelectionResult
from featsieve.runtime.seeds import root_seed
from featsieve.runtime.user_warnings import warn_user
from featsieve.searches.penalty_path import (
    BoundMatrix,
    Continuation,
    PenalizedRows,
    PenaltyStep,
    Stage,
)
from featsieve.searches.refinement import best_columns, exchanged

Solver = Literal["proximal", "two-metric"]
SOLVERS = ("proximal", "two-metric")
ORDERS = (np.inf, 2, 1)
TOO_FEW_ROWS = "no more columns carry weight, however small the penalty"
MOST_STARTS = 1_000_000
_FEW_COMPONENTS = 2


@dataclass(kw_only=True, eq=False, repr=False)
class L1LInf(BaseEstimator):
    """Minimise −criterion(XW) + λ Σ_u ‖w_u‖_p over W; λ is searched for k units (Masaeli 2010).

    w_u holds the rows of W that belong to unit u: one for a numeric column, one per state for a
    categorical column, those of all its columns for a group. A unit whose rows are zero plays no
    part in XW. λ grows by warm starts from a weak penalty, and is bisected where the number of
    units jumps over k; where even that does not give k, the weakest unit is dropped and the rest
    solved again.

    Parameters
    ----------
    n_components : int or None, default=None
        Columns of W. None: as many as the measure can use (classes minus one for LDA), else 2.
    p : {inf, 2, 1}, default=inf
        The norm of a unit's rows: the largest entry (Masaeli et al. 2010), the length (group
        lasso), or the sum of absolute values.
    solver : {"proximal", "two-metric"}, default="proximal"
        Proximal steps with L-BFGS on smooth faces, or the paper's two-metric projection (p = inf).
    n_init : int, default=4
        Start matrices; the one with the lowest objective at the first penalty is followed. The
        first is the measure's own, where it has one; the others are random.
    max_iter : int, default=1000
        Most iterations of the solver for one penalty.
    tol : float, default=1e-6
        KKT residual, relative to W and λ, at which the final W counts as solved.
    refine : bool, default=True
        Exchange selected units against others while the criterion of the set rises, where the
        measure can tell it: the best over W (LDA, PCA), since the penalty shrinks weights and
        therefore favours copies of strong columns over weak but new ones; or that of the columns
        as they are (HSIC), also from a set of forward selection, since W fits noise.
    random_state : int, default=None

    Examples
    --------
    >>> from featsieve import FeatureSelector
    >>> from featsieve.measures import LDA
    >>> from featsieve.searches import L1LInf
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> selector = FeatureSelector(LDA(), L1LInf(n_components=1), n_features_to_select=2)
    >>> selector.fit(X, y).indices_.tolist()
    [2, 0]
    """

    requires: ClassVar[tuple[type, ...]] = (HasMatrixGradient,)
    checks: ClassVar[Mapping[str, Check]] = {
        "solver": partial(check_choice, allowed=SOLVERS),
        "n_init": partial(check_integer, minimum=1, maximum=MOST_STARTS),
        "max_iter": partial(check_integer, minimum=1),
        "tol": partial(check_real, low=0, inclusive="neither"),
        "refine": check_flag,
    }

    n_components: int | None = None
    p: float = np.inf
    solver: Solver = "proximal"
    n_init: int = 4
    max_iter: int = 1000
    tol: float = 1e-6
    refine: bool = True
    random_state: Any = None

    def steps(self, bound: BoundMatrix, k: int) -> Iterator[SelectionResult]:
        """The best answer after each penalty."""
        self._check()
        rows = self._rows(bound)
        path = Continuation(rows, k)
        first: Stage | None = None
        for start in self._starts(bound, rows):
            if first is None and rows.grows_without_bound(start):
                raise IncompatibleError(
                    "the criterion grows with W without bound, faster than any penalty on W, so "
                    "there is nothing to find; give a bounded one (for HSIC: kernel='rbf')."
                )
            stage = rows.solve_from(start)
            first = stage if first is None or stage.objective < first.objective else first
            yield _result(rows, [first.step], first, k)
        assert first is not None  # there is at least one start
        for stage in path.stages(first):
            yield _result(rows, path.steps, stage, k)
            bound.monitor.tick("penalties", len(path.steps), len(path.steps) + 1)
        yield self._final(bound, rows, path, stage, k)

    # --- parameters -----------------------------------------------------------------------------

    def _check(self) -> None:
        check_parameters(self, self.checks)
        if not any(isinstance(self.p, float | int) and self.p == order for order in ORDERS):
            raise not_allowed("p", self.p, "inf, 2 or 1")
        if self.solver == "two-metric" and self.p != np.inf:
            raise InputError(
                f"solver='two-metric' solves p=inf only, got p={self.p!r}; use solver='proximal'."
            )

    def _rows(self, bound: BoundMatrix) -> PenalizedRows:
        owner: IntArray = np.arange(bound.n_units, dtype=np.intp)
        if isinstance(bound, HasTransform):
            owner = bound.unit_of_row
        return PenalizedRows(bound, owner, self.p, self.solver, self.max_iter, self.tol)

    def _n_components(self, bound: BoundMatrix, n_rows: int) -> int:
        wanted = self.n_components
        if wanted is None:
            useful = _FEW_COMPONENTS
            if isinstance(bound, HasTransform):
                useful = bound.useful_components
            return max(1, min(useful, n_rows))
        return check_integer("n_components", wanted, 1, n_rows, also="None")

    # --- starts ---------------------------------------------------------------------------------

    def _starts(self, bound: BoundMatrix, rows: PenalizedRows) -> Iterator[FloatArray]:
        """The measure's own start, then random ones; a measure with tuning is tuned to the first.

        What tuning chooses (a bandwidth) then holds for the whole path: chosen again for each W
        it would undo the scale of W, and the penalty would bind nothing.
        """
        q = self._n_components(bound, rows.n_rows)
        seed = root_seed(0 if self.random_state is None else self.random_state)
        given = bound.start(q) if isinstance(bound, HasTransform) else None
        first = _random_matrix(seed, 0, rows.n_rows, q) if given is None else given
        if isinstance(bound, HasTuning):
            bound.tune(first)
        yield first
        for number in range(1, self.n_init):
            yield rows.as_large_as(_random_matrix(seed, number, rows.n_rows, q))

    # --- the end --------------------------------------------------------------------------------

    def _final(
        self, bound: BoundMatrix, rows: PenalizedRows, path: Continuation, stage: Stage, k: int
    ) -> SelectionResult:
        n_exchanges = 0
        if self.refine and stage.size >= k:
            units = _refined(bound, path, stage)
            n_exchanges = len(set(units) - set(stage.support))
            if n_exchanges:
                stage = rows.solve_on(units, stage)
        if not stage.step.converged:
            warn_user(
                f"the solver of L1LInf reached a KKT residual of {stage.step.residual:.1e} where "
                f"tol={self.tol:g} was asked for; raise max_iter or tol."
            )
        return _result(rows, path.steps, stage, k, n_exchanges)


def _refined(bound: BoundMatrix, path: Continuation, stage: Stage) -> list[int]:
    if isinstance(bound, HasTransformValue):
        return exchanged(bound, stage.support, path.order(), stage.W.shape[1])
    if isinstance(bound, HasColumnSets):
        return best_columns(bound.column_sets(), stage.best_first(), path.order())
    return stage.support


def _random_matrix(seed: int, number: int, n_rows: int, n_columns: int) -> FloatArray:
    return np.random.default_rng([seed, number]).standard_normal((n_rows, n_columns))


def _result(
    rows: PenalizedRows, steps: list[PenaltyStep], stage: Stage, k: int, n_exchanges: int = 0
) -> SelectionResult:
    sizes = stage.step.sizes
    selected = stage.best_first()[:k] or [0]
    return SelectionResult(
        indices=np.asarray(selected, dtype=np.intp),
        scores=sizes,
        objective=stage.step.value,
        path=tuple(sorted(steps, key=lambda step: step.penalty)),
        trace=tuple(step.objective for step in steps),
        stop_reason=COMPLETED if len(selected) == k else TOO_FEW_ROWS,
        extras={
            "components": stage.W,
            "unit_of_row": rows.owner,
            "penalty": stage.step.penalty,
            "kkt_residual": stage.step.residual,
            "penalized_objective": stage.step.objective,
            "n_iter": sum(step.n_iter for step in steps),
            "n_evaluations": rows.n_evaluations,
            "n_exchanges": n_exchanges,
        },
    )
