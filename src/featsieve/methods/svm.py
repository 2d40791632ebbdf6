"""Selection by support vector machines."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Literal

from featsieve.input.parameters import (
    check_choice,
    check_fraction_or_count,
    check_integer,
    check_real,
)
from featsieve.procedures.svm.l1 import SparseMachine
from featsieve.procedures.svm.r2w2 import ScaleElimination
from featsieve.procedures.svm.rfe import RecursiveElimination
from featsieve.procedures.svm.zero_norm import ZeroNormMachine
from featsieve.protocols import Engine, Procedure
from featsieve.result import SelectionResult
from featsieve.runtime.pool import single_threaded_blas
from featsieve.selector import BaseSelector


@dataclass(kw_only=True, eq=False, repr=False)
class SVMSelector(BaseSelector):
    """What the four share: classes, standardised columns, a tolerance."""

    C: float | None = 1.0
    tol: float = 1e-3
    standardize: bool = True

    _takes_any_unit = True

    _scale_ddof = 0

    def _steps(self, engine: Engine, k: int | None) -> Iterator[SelectionResult]:
        """Many small products: threads of BLAS would mostly wait for each other."""
        with single_threaded_blas():
            yield from super()._steps(engine, k)


@dataclass(kw_only=True, eq=False, repr=False)
class SVMRFE(SVMSelector):
    """Drop the columns with the smallest weights of a linear SVM, train again, and so on.

    Recursive feature elimination (Guyon et al. 2002). With ``step=1`` the order is that of
    scikit-learn's ``RFE(SVC(kernel="linear"))`` on standardised columns: the same two-class
    problems (every pair of classes), the same Σ w², the same stopping rule of training. The Gram
    matrix follows each removal, so a round costs no pass over the columns left.

    The other parameters are shared by all selectors (see the user guide).

    Parameters
    ----------
    C : float, default=1.0
        Cost of an error, as in :class:`sklearn.svm.SVC`.
    step : int or float, default=1
        Columns removed in a round: a count, or a fraction of those left.
    tol : float, default=1e-3
        Training ends when no condition of the optimum is violated by more.
    standardize : bool, default=True
        Bring numeric columns to mean 0 and deviation 1 first.

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from featsieve import SVMRFE
    >>> X, y = load_wine(return_X_y=True, as_frame=True)
    >>> SVMRFE(n_features_to_select=3).fit(X, y).get_feature_names_out().tolist()
    ['flavanoids', 'hue', 'proline']
    """

    step: int | float = 1

    def _procedure(self) -> Procedure:
        return RecursiveElimination(
            C=positive("C", self.C),
            step=check_fraction_or_count("step", self.step),
            tol=tolerance(self.tol),
            standardize=self.standardize,
        )


@dataclass(kw_only=True, eq=False, repr=False)
class L0SVM(SVMSelector):
    """Approximate the linear SVM with the fewest columns.

    Train a linear SVM, multiply every column by the size of its weight, and repeat (l2-AROM, Weston
    et al. 2003). A column whose factor falls below a thousandth of the largest is dropped; the k
    largest factors at the end are selected. Several classes: one problem per class against the
    others, with shared factors.

    The other parameters are shared by all selectors (see the user guide).

    Parameters
    ----------
    C : float, default=1.0
        Cost of an error. The factors are scaled so that rows keep their mean squared length, which
        changes nothing for separable classes and keeps a soft margin from shrinking all factors.
    max_iter : int, default=20
        Loops at most.
    tol : float, default=1e-3
        Training ends when no condition of the optimum is violated by more.
    standardize : bool, default=True

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from featsieve import L0SVM
    >>> X, y = load_wine(return_X_y=True, as_frame=True)
    >>> L0SVM(n_features_to_select=3).fit(X, y).get_feature_names_out().tolist()
    ['alcohol', 'flavanoids', 'proline']
    """

    max_iter: int = 20

    def _procedure(self) -> Procedure:
        return ZeroNormMachine(
            C=positive("C", self.C),
            max_iter=check_integer("max_iter", self.max_iter, 1),
            tol=tolerance(self.tol),
            standardize=self.standardize,
        )


@dataclass(kw_only=True, eq=False, repr=False)
class R2W2(SVMSelector):
    """Scale the columns to make a bound of the SVM's leave-one-out error small.

    The bound is R²W² (Weston et al. 2000): the squared radius of the smallest ball around the rows,
    over the squared margin. One scale per column, all of them non-negative with a fixed sum, is
    moved along the gradient of log R²W²; the columns with the smallest scales are dropped, and so
    on. Several classes: R² times the sum of W² over one problem per class against the others.

    The other parameters are shared by all selectors (see the user guide).

    Parameters
    ----------
    kernel : {"rbf", "linear"}, default="rbf"
        A Gaussian of the median distance between rows sees interactions; a linear kernel is
        divided by the mean squared length of a row.
    C : float, default=1.0
        Soft margin: 1/C is added to the diagonal of the kernel matrix.
    step : int or float, default=0.5
        Columns removed in a round: a count, or a fraction of those left.
    max_iter : int, default=20
        Gradient steps of a round.
    tol : float, default=1e-3
        Training ends when no condition of the optimum is violated by more.
    standardize : bool, default=True

    Examples
    --------
    >>> from featsieve import R2W2
    >>> from featsieve.datasets import make_binary_xor
    >>> data = make_binary_xor(100, random_state=0)
    >>> selector = R2W2(n_features_to_select=2).fit(data.data, data.target)
    >>> set(selector.indices_.tolist()) == set(data.relevant)
    True
    """

    kernel: Literal["rbf", "linear"] = "rbf"
    step: int | float = 0.5
    max_iter: int = 20

    def _procedure(self) -> Procedure:
        return ScaleElimination(
            kernel=check_choice("kernel", self.kernel, ("rbf", "linear")),
            C=positive("C", self.C),
            step=check_fraction_or_count("step", self.step),
            max_iter=check_integer("max_iter", self.max_iter, 1),
            tol=tolerance(self.tol),
            standardize=self.standardize,
        )


@dataclass(kw_only=True, eq=False, repr=False)
class L1SVM(SVMSelector):
    """Keep the columns that a linear SVM with an l1 penalty uses.

    Minimises ‖w‖₁ + C Σ max(0, 1 − y f(x))² with a free intercept (the squared hinge loss of
    ``LinearSVC(penalty="l1")``; Zhu et al. 2003 with the plain one). C grows until exactly k
    columns have a coefficient. Several classes: one problem per class against the others, and the
    penalty is on the norm of a column's coefficients over all of them; likewise for the indicators
    of a categorical column and the columns of a group. Of
    columns that are equal but for unit and sign, the first one has the coefficient of all.

    The other parameters are shared by all selectors (see the user guide).

    Parameters
    ----------
    C : float, optional
        Keep what has a coefficient at this C (at most ``n_features_to_select``, the largest, where
        that is given) instead of searching for C.
    tol : float, default=1e-4
        Training ends when no slope violates its condition by more than this part of the penalty.
    standardize : bool, default=True

    Attributes
    ----------
    C_ : the C of the selection

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from featsieve import L1SVM
    >>> X, y = load_wine(return_X_y=True, as_frame=True)
    >>> L1SVM(n_features_to_select=3).fit(X, y).get_feature_names_out().tolist()
    ['alcohol', 'flavanoids', 'proline']
    """

    C: float | None = None
    tol: float = 1e-4

    def _wanted_count(self) -> Any:
        """C decides the count by itself, unless the user wants fewer."""
        count = self.n_features_to_select
        return "auto" if count is None and self.C is not None else count

    @property
    def _offers_auto_count(self) -> bool:
        return self.C is not None

    def _procedure(self) -> Procedure:
        return SparseMachine(
            C=None if self.C is None else positive("C", self.C),
            tol=tolerance(self.tol),
            standardize=self.standardize,
        )

    def _store(self, engine: Any, result: SelectionResult, k: int | None) -> None:
        super()._store(engine, result, k)
        self.C_ = float(result.extras["C"])


def positive(name: str, value: Any) -> float:
    return check_real(name, value, 0, inclusive="neither")


def tolerance(value: Any) -> float:
    """Where nothing is learnt yet, the conditions of the optimum are violated by more than 1."""
    return check_real("tol", value, 0, 1, inclusive="neither")
