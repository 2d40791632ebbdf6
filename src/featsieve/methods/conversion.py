"""Transformations turned into selectors by a penalty on the rows of W (Masaeli et al. 2010)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from featsieve.measures.hsic.hsic import HSIC
from featsieve.measures.lda.lda import LDA
from featsieve.measures.pca.pca import PCA
from featsieve.methods.hsic import HSICSelector
from featsieve.procedures.pairing import Pairing
from featsieve.searches.l1_linf import L1LInf, Solver
from featsieve.selector import PairingSelector


@dataclass(kw_only=True, eq=False, repr=False)
class RowPenalty(PairingSelector):
    """The parameters of :class:`featsieve.searches.L1LInf`, and the W that it finds."""

    n_components: int | None = None
    p: float = np.inf
    solver: Solver = "proximal"
    n_init: int = 1
    max_iter: int = 1000
    tol: float = 1e-6
    random_state: Any = None

    _checks = L1LInf.checks

    def _search(self) -> L1LInf:
        return L1LInf(
            n_components=self.n_components,
            p=self.p,
            solver=self.solver,
            n_init=self.n_init,
            max_iter=self.max_iter,
            tol=self.tol,
            random_state=self.random_state,
        )

    _result_attributes = {"components_": "components"}  # noqa: RUF012


@dataclass(kw_only=True, eq=False, repr=False)
class HSFS(RowPenalty, HSICSelector):
    """Hilbert-Schmidt feature selection (Masaeli et al. 2010): HSIC of XW, few rows of W.

    W projects the columns on a few components whose dependence on the target, of any kind, HSIC
    measures. A penalty on the rows of W keeps k columns, which may matter only together.

    The bandwidth σ is set once, to the median distance between rows of XW at the start, and then
    held: set again for each W, it would undo every change of W's scale, and the penalty would not
    bind.

    Parameters
    ----------
    n_components : int or None, default=None
        Columns of W; None: 2.
    p : {inf, 2, 1}, default=inf
        Norm of the rows in the penalty.
    solver : {"proximal", "two-metric"}, default="proximal"
    n_init : int, default=3
        Starts: the steepest directions of HSIC of all columns, then random ones.
    max_iter : int, default=1000
        Most iterations for one penalty.
    tol : float, default=1e-6
        KKT residual, relative to W and the penalty, of the final W.
    refine : bool, default=True
        At the end, begin again from a set of forward selection if the HSIC of its columns, as they
        are, is larger, and exchange columns while it rises: with many columns, W fits noise.
        False: exactly the columns that the penalty leaves, as in the paper.
    target_kernel : default="auto"
        Delta for classes, Gaussian for numbers; the other parameters as in :class:`HSICRanking`.
    estimator : default="v_statistic"
        tr(KHLH)/n², as the paper has it.

    Attributes
    ----------
    components_ : W, one row per column (one per state of a categorical column)
    n_iter_ : iterations over all penalties
    result_ : ``path`` holds one entry per penalty; ``extras`` the final ``penalty``, its \
``kkt_residual``, the ``bandwidth`` and the number of exchanges

    Examples
    --------
    >>> from featsieve import HSFS
    >>> from featsieve.datasets import make_binary_xor
    >>> data = make_binary_xor(200, random_state=0)
    >>> selector = HSFS(n_features_to_select=2).fit(data.data, data.target)
    >>> sorted(selector.indices_.tolist())
    [0, 1]
    """

    estimator: str = "v_statistic"
    n_init: int = 3
    refine: bool = True

    _measure_type = HSIC
    _auto_target_kernel = "delta_or_rbf"

    def _search(self) -> L1LInf:
        return super()._search().set_params(refine=self.refine)


@dataclass(kw_only=True, eq=False, repr=False)
class LDFS(RowPenalty):
    """Linear discriminant feature selection (Masaeli et al. 2010): the ratio trace, few rows of W.

    Maximises tr[(W'S_W W + I)⁻¹ W'S_B W] minus a penalty on the rows of W, for classes. Columns
    that repeat others add to the penalty but not to the criterion, and are dropped.

    Parameters
    ----------
    n_components : int or None, default=None
        Columns of W; None: the number of classes minus one, beyond which the criterion gains
        nothing.
    ridge : float or "auto", default="auto"
        Added to the diagonal of the within-class scatter S_W, in units of the mean variance. With
        more columns than rows S_W is singular, and without a ridge there is no minimiser.
        ``"auto"``: columns/rows − ½, at least 0.001.
    p : {inf, 2, 1}, default=inf
        Norm of the rows in the penalty.
    solver : {"proximal", "two-metric"}, default="proximal"
    n_init : int, default=1
        Starts: the discriminants of all columns, then random ones.
    max_iter : int, default=1000
        Most iterations for one penalty.
    tol : float, default=1e-6
        KKT residual, relative to W and the penalty, of the final W.
    refine : bool, default=True
        At the end, exchange selected columns against others from the path while the ratio trace
        of the set rises. False: exactly the columns that the penalty leaves, as in the paper.
    standardize : bool, default=True
        Bring numeric columns to mean 0 and deviation 1 (ddof 0) first.

    Attributes
    ----------
    components_ : W, one row per column (one per state of a categorical column)
    n_iter_ : iterations over all penalties
    result_ : ``path`` holds one entry per penalty; ``extras`` the final ``penalty``, its \
``kkt_residual`` and the number of exchanges

    Examples
    --------
    >>> from featsieve import LDFS
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> LDFS(n_features_to_select=2).fit(X, y).components_.shape
    (4, 2)
    """

    ridge: float | str = "auto"
    refine: bool = True
    standardize: bool = True

    _measure_type = LDA

    def _pairing(self) -> Pairing:
        return Pairing(LDA(ridge=self.ridge), self._search().set_params(refine=self.refine))


@dataclass(kw_only=True, eq=False, repr=False)
class PrincipalFeatures(RowPenalty):
    """Columns from which all columns can be rebuilt: PCA with few rows of W (Masaeli et al. 2010).

    Minimises ½‖X − XWB'‖² over W and B with B'B = I, plus a penalty on the rows of W. The target
    is not used and need not be given.

    Parameters
    ----------
    n_components : int or None, default=None
        Columns of W; None: 2.
    p : {inf, 2, 1}, default=inf
        Norm of the rows in the penalty.
    solver : {"proximal", "two-metric"}, default="proximal"
    n_init : int, default=1
        Starts: the principal directions, then random ones.
    max_iter : int, default=1000
        Most iterations for one penalty.
    tol : float, default=1e-6
        KKT residual, relative to W and the penalty, of the final W.
    refine : bool, default=True
        At the end, exchange selected columns against others from the path while the share of the
        variance that they rebuild rises. False: exactly what the penalty leaves.
    standardize : bool, default=True
        Bring numeric columns to mean 0 and deviation 1 (ddof 0) first.

    Attributes
    ----------
    components_ : W, one row per column (one per state of a categorical column)
    n_iter_ : iterations over all penalties
    result_ : ``path`` holds one entry per penalty; ``objective`` the share of the variance rebuilt

    Examples
    --------
    >>> import numpy as np
    >>> from featsieve import PrincipalFeatures
    >>> rng = np.random.default_rng(0)
    >>> source = rng.normal(size=(100, 2))
    >>> X = np.hstack([source, source @ rng.normal(size=(2, 4)) + 0.5 * rng.normal(size=(100, 4))])
    >>> PrincipalFeatures(n_features_to_select=2).fit_transform(X).shape
    (100, 2)
    """

    refine: bool = True
    standardize: bool = True

    _measure_type = PCA
    _needs_target = False

    def _pairing(self) -> Pairing:
        return Pairing(PCA(), self._search().set_params(refine=self.refine))
