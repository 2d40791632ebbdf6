"""The HSIC family: ranking, FOHSIC, BAHSIC, l1-HSIC and HSIC Lasso."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar, Self

from featsieve.engines.base import require_memory
from featsieve.errors import InputError
from featsieve.input.parameters import is_word, parse_memory
from featsieve.measures.hsic.hsic import HSIC, seed_of
from featsieve.measures.hsic.object_kernels import ObjectKernel
from featsieve.methods.l1_weights import L1Weights
from featsieve.procedures.hsic_lasso import HSICLassoPath
from featsieve.procedures.pairing import Pairing
from featsieve.protocols import Procedure, Search
from featsieve.result import SelectionResult
from featsieve.searches import Backward, Forward, Ranking
from featsieve.searches.ascent import StepRule
from featsieve.selector import BaseSelector, PairingSelector


@dataclass(kw_only=True, eq=False, repr=False)
class KernelTarget(BaseSelector):
    """A selector whose target can be numbers, classes, a Gram matrix, sequences or graphs."""

    target_kernel: Any = "auto"

    def fit(self, X: Any, y: Any = None, **params: Any) -> Self:
        """Select columns of X for the target y.

        Parameters
        ----------
        X : array, sparse matrix, dataframe (pandas, polars, pyarrow), Dask collection, or a table \
from :func:`featsieve.open_parquet`
        y : one value per row, or one row of outputs per row; a column's name with a Parquet \
table; a Gram matrix with ``target_kernel="precomputed"``; a list of sequences or graphs with a \
string or graph kernel

        Returns
        -------
        self
        """
        if isinstance(self.target_kernel, ObjectKernel) and y is not None:
            n_numbers = 2 * len(y) ** 2
            require_memory(n_numbers, parse_memory(self.memory_limit), "the target's Gram matrix")
            y = self.target_kernel.gram(y)
        return super().fit(X, y, **params)

    @property
    def _task(self) -> str:
        """A Gram matrix as y is numbers, whatever values it holds."""
        return "regression" if is_word(self._fitted_kernel, "precomputed") else self.task

    def _auto_count(self, procedure: Procedure) -> Procedure:
        if is_word(self._fitted_kernel, "precomputed"):
            raise InputError(
                "n_features_to_select='auto' predicts y on held-out rows, which a Gram matrix, "
                "sequences or graphs do not allow; give a number."
            )
        return super()._auto_count(procedure)

    @property
    def _fitted_kernel(self) -> Any:
        """The target kernel as the procedure sees it: sequences and graphs are Gram matrices."""
        is_object = isinstance(self.target_kernel, ObjectKernel)
        return "precomputed" if is_object else self.target_kernel


@dataclass(kw_only=True, eq=False, repr=False)
class HSICSelector(KernelTarget, PairingSelector):
    """The parameters that all HSIC methods share: those of :class:`featsieve.measures.HSIC`."""

    kernel: Any = "rbf"
    target_kernel: Any = "auto"
    bandwidth: float | str = "median"
    target_bandwidth: float | str = "median"
    estimator: str = "unbiased"
    criterion: str = "hsic"
    approximation: str = "auto"
    standardize: bool = True
    random_state: Any = None

    _measure_type = HSIC
    _auto_target_kernel: ClassVar[str] = "auto"  # what "auto" stands for

    def measure(self) -> HSIC:
        """The measure that these parameters make."""
        is_auto = is_word(self.target_kernel, "auto")
        return HSIC(
            kernel=self.kernel,
            target_kernel=self._auto_target_kernel if is_auto else self._fitted_kernel,
            bandwidth=self.bandwidth,
            target_bandwidth=self.target_bandwidth,
            estimator=self.estimator,
            criterion=self.criterion,
            approximation=self.approximation,
            random_state=self.random_state,
        )

    def _search(self) -> Search:
        raise NotImplementedError(f"{type(self).__name__} does not name its search")

    def _pairing(self) -> Pairing:
        return Pairing(self.measure(), self._search())


@dataclass(kw_only=True, eq=False, repr=False)
class HSICRanking(HSICSelector):
    """Keep the columns with the largest HSIC of their own with the target.

    It sees any kind of dependence, but each column alone: neither redundancy nor interaction.

    Parameters
    ----------
    kernel, target_kernel, bandwidth, target_bandwidth, estimator, criterion, approximation
        See :class:`featsieve.measures.HSIC`.
    standardize : bool, default=True
        Bring numeric columns to mean 0 and deviation 1 (ddof 0) first.
    random_state : int, default=None
        Seed of subsamples and random features; they only come with many rows.

    Examples
    --------
    >>> from featsieve import HSICRanking
    >>> from featsieve.datasets import make_quad
    >>> data = make_quad(200, random_state=0)
    >>> sorted(HSICRanking(n_features_to_select=2).fit(data.data, data.target).indices_.tolist())
    [0, 1]
    """

    def _search(self) -> Search:
        return Ranking()


@dataclass(kw_only=True, eq=False, repr=False)
class FOHSIC(HSICSelector):
    """Forward selection by HSIC (Song et al. 2007, section 3).

    Parameters
    ----------
    step : int or float, default=1
        How many columns a round adds: a count, or a fraction f of the m columns outside, which is
        int(f·m) + 1 of them. With more than one column per round, columns that are redundant with
        each other can enter together.
    bandwidth : default="dimension"
        The rate 1/(2d) of Song et al. (2007); the other parameters as in :class:`HSICRanking`.

    Examples
    --------
    >>> from featsieve import FOHSIC
    >>> from featsieve.datasets import make_quad
    >>> data = make_quad(200, random_state=0)
    >>> sorted(FOHSIC(n_features_to_select=2).fit(data.data, data.target).indices_.tolist())
    [0, 1]
    """

    bandwidth: float | str = "dimension"
    step: float = 1

    _checks = Forward.checks

    def _search(self) -> Search:
        return Forward(step=self.step)


@dataclass(kw_only=True, eq=False, repr=False)
class BAHSIC(HSICSelector):
    """Backward elimination by HSIC (Song et al. 2007): sees columns that matter only together.

    Parameters
    ----------
    step : int or float, default=0.1
        How many columns a round removes: a count, or a fraction f of the m current columns, which
        is int(f·m) + 1 of them.
    bandwidth : default="dimension"
        The rate 1/(2d) of Song et al. (2007); the other parameters as in :class:`HSICRanking`.

    Examples
    --------
    >>> from featsieve import BAHSIC
    >>> from featsieve.datasets import make_xor
    >>> data = make_xor(200, random_state=0)
    >>> sorted(BAHSIC(n_features_to_select=2).fit(data.data, data.target).indices_.tolist())
    [0, 1]
    """

    bandwidth: float | str = "dimension"
    step: float = 0.1

    _checks = Backward.checks

    def _search(self) -> Search:
        return Backward(step=self.step)


@dataclass(kw_only=True, eq=False, repr=False)
class L1HSIC(L1Weights, HSICSelector):
    """l1-HSIC: non-negative weights of bounded sum that maximise HSIC (Jitkrittum et al. 2013).

    σ is set to the median distance of the weighted columns every five iterations.

    Parameters
    ----------
    n_init : int, default=20
        Restarts from random weights; they run side by side on ``n_jobs`` threads.
    n_agree : int or None, default=3
        End the restarts once this many of them ended in the best set so far; None: run all.
    max_iter : int, default=100
        Most iterations for one radius.
    tol : float, default=1e-5
        An ascent ends when the value changes by less than this on average.
    step : {"authors", "adaptive"}, default="authors"
        The authors' length 1/√t, or a spectral one with a line search. HSIC at the median width
        does not change with the scale of the weights, so its true maximum often holds fewer than
        k columns: a line search finds it, the authors' short steps stop before it.
    target_kernel : default="auto"
        Delta for classes, Gaussian for numbers, as Jitkrittum et al. (2013); the other parameters
        as in :class:`HSICRanking`, with ``estimator="biased"``.

    Attributes
    ----------
    weights_ : one weight per column, zero where it is not selected
    radius_ : the radius of the l1 ball that gave them
    n_iter_ : iterations over all radii and restarts

    Examples
    --------
    >>> from featsieve import L1HSIC
    >>> from featsieve.datasets import make_xor
    >>> data = make_xor(200, random_state=0)
    >>> selector = L1HSIC(n_features_to_select=2, n_init=3, random_state=0)
    >>> sorted(selector.fit(data.data, data.target).indices_.tolist())
    [0, 1]
    """

    estimator: str = "biased"
    step: StepRule = "authors"

    _auto_target_kernel = "delta_or_rbf"


@dataclass(kw_only=True, eq=False, repr=False)
class HSICLasso(KernelTarget):
    """HSIC Lasso (Yamada et al. 2014): relevant columns that are not redundant, convex.

    A non-negative Lasso regresses the target's centred Gram matrix on those of the columns, along
    the LAR path until k columns are active.

    Parameters
    ----------
    kernel : {"rbf", "laplace", "delta"}, default="rbf"
    target_kernel : default="auto"
        Delta divided by the class size for classes, Gaussian for numbers (then standardised).
    bandwidth, target_bandwidth : float or "median", default=1.0
        As in the authors' program, on columns of deviation 1.
    n_blocks : int or None, default=None
        Compare rows only inside this many random blocks of equal size, each centred by itself, as
        block HSIC Lasso (Climente-González et al. 2019) does: the cost is n²/n_blocks instead of
        n². Rows that do not fill a block are left out. None: all pairs of rows.
    approximation : {"none", "nystrom"}, default="none"
        ``"nystrom"``: Gram matrices from 24 landmark rows per column, chosen at even ranks; the
        cost is linear in n, and it works in one pass over the rows on any engine.
    standardize : bool, default=True
    random_state : int, default=None
        Seed of the blocks, and of the rows for medians and landmarks when there are more than 2000.

    Attributes
    ----------
    coef_ : the non-negative coefficient of each column
    alphas_, coef_path_ : penalties and coefficients at the corners of the path

    Examples
    --------
    >>> from featsieve import HSICLasso
    >>> from featsieve.datasets import make_quad
    >>> data = make_quad(200, random_state=0)
    >>> sorted(HSICLasso(n_features_to_select=2).fit(data.data, data.target).indices_.tolist())
    [0, 1]
    """

    kernel: str = "rbf"
    target_kernel: Any = "auto"
    bandwidth: float | str = 1.0
    target_bandwidth: float | str = 1.0
    n_blocks: int | None = None
    approximation: str = "none"
    standardize: bool = True
    random_state: Any = None

    def _procedure(self) -> HSICLassoPath:
        return HSICLassoPath(
            kernel=self.kernel,
            target_kernel=self._fitted_kernel,
            bandwidth=self.bandwidth,
            target_bandwidth=self.target_bandwidth,
            n_blocks=self.n_blocks,
            approximation=self.approximation,
            seed=seed_of(self.random_state),
        )

    _scale_ddof = 0
    _result_attributes = {"alphas_": "alphas"}  # noqa: RUF012
    _column_attributes = {"coef_": "scores"}  # noqa: RUF012

    def _store(self, engine: Any, result: SelectionResult, k: int | None) -> None:
        super()._store(engine, result, k)
        self.coef_path_ = result.extras["coef_path"][:, engine.schema.unit_of_column]
