"""Lasso and least angle regression (Sugiyama, lecture notes)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal, Self

import numpy as np

from featsieve.errors import InputError
from featsieve.input.parameters import check_choice, check_integer, check_real
from featsieve.procedures.lasso.lasso import Lasso
from featsieve.protocols import Procedure
from featsieve.result import SelectionResult
from featsieve.runtime.seeds import root_seed
from featsieve.selector import BaseSelector

CHOICES = {"method": ("lasso", "lar"), "count_rule": ("exact", "nearest")}


@dataclass(kw_only=True, eq=False, repr=False)
class LassoSelector(BaseSelector):
    """Keep the columns that a linear model with an l1 penalty uses.

    Minimises ½ mean (y − Xw)² + α‖w‖₁ on standardised columns. Several outputs, and more than two
    classes (one ±1 output per class; two classes are one), share the columns: the penalty is on the
    norm of a column's coefficients over all outputs. The indicators of a categorical column, and
    the columns of a group, are made orthonormal and fall under one penalty as well.

    Parameters
    ----------
    method : {"lasso", "lar"}, default="lasso"
        LAR never drops a column that has entered; one output and single numeric columns only.
    alpha : float, optional
        The Lagrange form: keep what has a coefficient at this penalty (at most
        ``n_features_to_select``, the largest coefficients, where that is given).
    radius : float, optional
        The constraint form ‖w‖₁ ≤ radius, used in the same way.
    count_rule : {"exact", "nearest"}, default="exact"
        Which penalty stands for k columns. "exact": the first one with k coefficients, found by
        bisection; where the path jumps over k, the k largest at the first one with more.
        "nearest": of 100 penalties the one with a count nearest to k, then the largest.
    standardize : bool, default=True
    cv : int or list of (training rows, test rows), default=5
        Folds for the error along the path; 0 for none.
    max_iter : int, default=500
        Steps of the path, at least; four per column are always allowed.
    random_state : int, generator or None, default=0
        Decides the folds, and with ``n_features_to_select="auto"`` (the smallest error) the count.

    Attributes
    ----------
    alphas_ : penalties, falling: the knots of the path, or a grid of 100 for several outputs
    coef_path_ : columns × penalties (outputs first where there are several), of scaled columns
    mse_path_ : penalties × folds
    alpha_ : the penalty of the selection

    Examples
    --------
    >>> from featsieve import LassoSelector
    >>> from featsieve.datasets import make_sparse_linear
    >>> data = make_sparse_linear(100, random_state=0)
    >>> selector = LassoSelector(n_features_to_select=3).fit(data.data, data.target)
    >>> set(selector.indices_.tolist()) <= set(data.relevant)
    True
    """

    method: Literal["lasso", "lar"] = "lasso"
    alpha: float | None = None
    radius: float | None = None
    count_rule: Literal["exact", "nearest"] = "exact"
    standardize: bool = True
    cv: Any = 5
    max_iter: int = 500
    random_state: Any = 0

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:  # type: ignore[override]
        """Follow the path and select; see :meth:`BaseSelector.fit`."""
        return self._fit(X, y, sample_weight=sample_weight)

    def _wanted_count(self) -> Any:
        """A penalty decides the count by itself, unless the user wants fewer."""
        count = self.n_features_to_select
        fixed = self.alpha is not None or self.radius is not None
        return "auto" if count is None and fixed else count

    _offers_auto_count = True

    def _count_for_statistics(self, n_units: int) -> int | None:
        """The penalty with the least cross-validated error: coefficients of half of all columns
        would tell little."""
        count = self.n_features_to_select
        return None if count is None else super()._count_for_statistics(n_units)

    def _procedure(self) -> Procedure:
        self._check()
        return Lasso(
            method=self.method,
            alpha=None if self.alpha is None else float(self.alpha),
            radius=None if self.radius is None else float(self.radius),
            count_rule=self.count_rule,
            standardize=self.standardize,
            cv=self.cv,
            seed=root_seed(self.random_state),
            max_iter=self.max_iter,
        )

    def _check(self) -> None:
        for name, allowed in CHOICES.items():
            check_choice(name, getattr(self, name), allowed)
        for name in ("alpha", "radius"):
            value = getattr(self, name)
            if value is not None:
                check_real(name, value, 0, inclusive="neither", also="None")
        check_integer("max_iter", self.max_iter, 1)
        if self.alpha is not None and self.radius is not None:
            raise InputError("alpha and radius say the same in two ways; give one of them.")
        decided = self.alpha is not None or self.radius is not None
        is_auto = isinstance(self.n_features_to_select, str)
        if is_auto and not decided and isinstance(self.cv, int) and not self.cv:
            raise InputError(
                "n_features_to_select='auto' needs the error of folds; give cv from 2."
            )

    _result_attributes = {  # noqa: RUF012
        "alphas_": "alphas",
        "alpha_": "alpha",
        "coef_path_": "coef_path",
    }

    def _store(self, engine: Any, result: SelectionResult, k: int | None) -> None:
        super()._store(engine, result, k)
        no_folds = np.full((len(self.alphas_), 0), np.nan)
        self.mse_path_ = result.extras.get("mse_path", no_folds)
