"""HSIC, MMD and kernel-target alignment of a set of columns (P-HSIC)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from copy import copy
from dataclasses import replace
from functools import cached_property, partial
from typing import Any, ClassVar

import numpy as np

from featsieve.arrays import FloatArray
from featsieve.errors import InputError
from featsieve.measures.base import BaseMeasure
from featsieve.measures.hsic.bandwidth import WidthPolicy, width_policy
from featsieve.measures.hsic.estimates import FixedMatrix, SetChanges, fixed_matrix
from featsieve.measures.hsic.features import BoundFeatureHSIC
from featsieve.measures.hsic.kernels import (
    KernelFunction,
    UnitColumns,
    kernel_function,
    no_columns,
    unit_columns,
)
from featsieve.measures.hsic.passes import (
    NO_COLUMNS,
    MatrixGradientPass,
    SetPass,
    WeightGradientPass,
    fit_target_kernel,
    fit_target_tiles,
    function_pass,
)
from featsieve.measures.hsic.target_kernel import TargetKernel, check_gram
from featsieve.measures.hsic.tiles import RowPairs, choose_pairs, relative_error
from featsieve.protocols import Engine
from featsieve.runtime.progress import SILENT, Monitor
from featsieve.runtime.seeds import random_source

APPROXIMATIONS = ("auto", "none", "block", "rff", "nystrom")


class HSIC(BaseMeasure):
    """HSIC between a set of columns and the target, and its relatives MMD and KTA.

    Parameters
    ----------
    kernel : {"rbf", "laplace", "linear", "poly"} or function, default="rbf"
        Kernel on the data: exp(−d²/2σ²), exp(−d₁/σ), ⟨x, x'⟩, (⟨x, x'⟩/d + 1)³, or a function of
        two 2-D arrays. A categorical column adds a squared distance of 0 or 1.
    target_kernel : {"auto", "bin", "mul", "reg", "delta", "rbf", "laplace", "linear", \
"precomputed"} or function, default="auto"
        Kernel on the target; ``"auto"``: BIN for two classes, MUL for more, REG for numbers
        (P-HSIC section 5). ``"precomputed"``: y is the Gram matrix of the target.
    bandwidth : {"median", "dimension", "optimize"} or float, default="median"
        σ: the median distance of the columns used; √d for d columns (P-HSIC's 1/(2d)); the one
        with the largest criterion, sought anew at each round; or a number.
    target_bandwidth : "median" or float, default="median"
    estimator : {"unbiased", "biased", "v_statistic"}, default="unbiased"
        P-HSIC eq. (4); P-LSMI eq. (4) with (n − 1)²; P-L1INF eq. (8) with n².
    criterion : {"hsic", "mmd", "kta"}, default="hsic"
        ``"mmd"`` and ``"kta"`` are tr KL, of two classes and of any target.
    approximation : {"auto", "none", "block", "rff", "nystrom"}, default="auto"
        ``"none"``: all pairs of rows; ``"block"``: pairs inside random blocks of 1024 rows only, an
        unbiased mean over blocks; ``"rff"`` (random Fourier features) and ``"nystrom"`` (landmark
        rows): row statistics that add, of the biased estimate. ``"auto"``: all pairs if a pass
        takes less than about a minute, else blocks. ``result_.approximation`` says which, and its
        error.
    precision : {"double", "single"}, default="double"
        Of the kernel evaluations; sums are always double.
    random_state : int, default=None
        Seed of the rows on which medians are taken when there are more than 2000 (None: 0).
    """

    scale_ddof: ClassVar[int | None] = 0

    def __init__(
        self,
        *,
        kernel: Any = "rbf",
        target_kernel: Any = "auto",
        bandwidth: float | str = "median",
        target_bandwidth: float | str = "median",
        estimator: str = "unbiased",
        criterion: str = "hsic",
        approximation: str = "auto",
        precision: str = "double",
        random_state: Any = None,
    ) -> None:
        self.kernel = kernel
        self.target_kernel = target_kernel
        self.bandwidth = bandwidth
        self.target_bandwidth = target_bandwidth
        self.estimator = estimator
        self.criterion = criterion
        self.approximation = approximation
        self.precision = precision
        self.random_state = random_state

    def bind(self, engine: Engine) -> BoundHSIC | BoundFunctionHSIC | BoundFeatureHSIC:
        self._check_approximation()
        if callable(self.kernel):
            return BoundFunctionHSIC(self, engine)
        if self.approximation in ("rff", "nystrom"):
            return self._bind_features(engine)
        return BoundHSIC(self, engine)

    def _check_approximation(self) -> None:
        if self.approximation not in APPROXIMATIONS:
            allowed = ", ".join(map(repr, APPROXIMATIONS))
            raise InputError(f"approximation must be one of {allowed}, got {self.approximation!r}.")
        if self.criterion != "hsic" and self.approximation not in ("auto", "none"):
            raise InputError(
                f"criterion={self.criterion!r} is summed exactly; use approximation='none'."
            )

    def _bind_features(self, engine: Engine) -> BoundFeatureHSIC:
        kernel = kernel_function(self.kernel)
        n = engine.n_samples
        return BoundFeatureHSIC(
            engine,
            kernel,
            width_policy(self.bandwidth, kernel, engine, self.seed),
            checked_target_kernel(self, engine),
            self.approximation,
            self.seed,
            float(n**2 if self.estimator == "v_statistic" else (n - 1) ** 2),
        )

    @property
    def seed(self) -> int:
        return seed_of(self.random_state)


def seed_of(random_state: Any) -> int:
    """A seed that is the same for every question to one bound object; None is 0."""
    if random_state is None:
        return 0
    return int(random_source(random_state).randint(np.iinfo(np.int32).max))


# The authors' "Opt" variant starts at rates 10⁻⁷ … 10²; three zooms settle three digits.
OPTIMIZE_DECADES = (-7.0, 2.0)
OPTIMIZE_POINTS = 10
OPTIMIZE_ZOOMS = 4


class _TargetBound:
    """What both bound forms share: the rows in pairs, and the target's fixed matrix."""

    def __init__(self, measure: HSIC, engine: Engine) -> None:
        self.n_units = engine.schema.n_units
        self.monitor: Monitor = engine.monitor
        self._schema = engine.schema
        self._dtype = _dtype_of(measure.precision)
        exact = measure.criterion != "hsic"
        self._pairs = choose_pairs(engine, "none" if exact else measure.approximation, measure.seed)
        self._tiles = fit_target_tiles(
            engine,
            self._pairs,
            checked_target_kernel(measure, engine),
            _mean_over_groups(measure, self._pairs),
            self._dtype,
        )


class BoundHSIC(_TargetBound, SetChanges):
    """HSIC with its data: every question is one pass over pairs of rows."""

    def __init__(self, measure: HSIC, engine: Engine) -> None:
        self._kernel: KernelFunction = kernel_function(measure.kernel)
        self._optimizes = measure.bandwidth == "optimize" and self._kernel.has_bandwidth
        self._widths: WidthPolicy = width_policy(
            measure.bandwidth, self._kernel, engine, measure.seed
        )
        self._tuned: float | None = None
        super().__init__(measure, engine)

    # --- sets of units --------------------------------------------------------------------------

    def value(self, subset: Sequence[int]) -> float:
        if not len(subset):
            return 0.0
        width = self._best_width(subset) if self._optimizes else self._widths.of_set(subset)
        return float(self._at_widths(subset, np.array([width]))[0])

    def _changed(self, subset: Sequence[int], candidates: Sequence[int], sign: int) -> FloatArray:
        widths = self._round_widths(subset, candidates, sign)
        units = unit_columns(self._schema, candidates)
        return self._set_pass(subset, units, sign, widths).over(self._pairs)

    def _set_pass(
        self, subset: Sequence[int], candidates: UnitColumns, sign: int, widths: FloatArray
    ) -> SetPass:
        base = unit_columns(self._schema, subset)
        rates = self._kernel.rate(widths)
        return SetPass(base, candidates, sign, self._kernel, rates, self._tiles, self._dtype)

    def _round_widths(
        self, subset: Sequence[int], candidates: Sequence[int], sign: int
    ) -> FloatArray:
        """One width a candidate; the optimal one of the current set for all of them."""
        if not self._optimizes:
            return self._widths.of_changes(subset, candidates, sign)
        if len(subset):
            return np.full(len(candidates), self._best_width(subset))
        return np.array([self._best_width([unit]) for unit in candidates])

    def _at_widths(self, subset: Sequence[int], widths: FloatArray) -> FloatArray:
        """The criterion of one set at several widths: candidates that add no column."""
        return self._set_pass(subset, no_columns(len(widths)), 1, widths).over(self._pairs)

    def _best_width(self, subset: Sequence[int]) -> float:
        """Where the criterion is largest: a grid of rates, then finer grids around the best."""
        low, high = OPTIMIZE_DECADES
        for _ in range(OPTIMIZE_ZOOMS):
            decades = np.linspace(low, high, OPTIMIZE_POINTS)
            values = self._at_widths(subset, self._kernel.width_of_rate(10.0**decades))
            best, step = decades[int(np.argmax(values))], decades[1] - decades[0]
            low, high = best - step, best + step
        return float(self._kernel.width_of_rate(10.0**best))

    # --- weights and matrices -------------------------------------------------------------------

    def tune(self, weights: FloatArray) -> None:
        """Set σ to the policy's width of diag(w)X, or of XW; it stays until the next call."""
        weights = np.asarray(weights, dtype=np.float64)
        if weights.ndim == 2:
            self._tuned = self._widths.of_projection(weights)
        else:
            self._tuned = self._widths.of_weights(self._column_scale(weights))

    def restart(self, seed: int) -> BoundHSIC:
        """For one restart of a search among others: the same data, its own tuning."""
        own = copy(self)
        own._tuned, own._pairs, own.monitor = None, self._pairs.alone(), SILENT
        return own

    def _column_scale(self, weights: FloatArray) -> FloatArray:
        return self._kernel.scale(weights)[self._schema.unit_of_column]

    def _rate_at(self, weights: FloatArray) -> float:
        if self._tuned is None:
            self.tune(weights)
        return float(self._kernel.rate(self._tuned or 1.0))

    def value_and_gradient(self, weights: FloatArray) -> tuple[float, FloatArray]:
        weights = np.asarray(weights, dtype=np.float64)
        rate = self._rate_at(weights)
        used = self._kernel.units_with_slope(weights)
        units = unit_columns(self._schema, used)
        scale = self._column_scale(weights)[units.columns]
        gradient = np.zeros(self.n_units)
        value, slopes = WeightGradientPass(units, scale, self._kernel, rate, self._tiles).over(
            self._pairs
        )
        gradient[used] = slopes * self._kernel.scale_slope(weights[used])
        return float(value), gradient

    def value_and_gradient_matrix(self, W: FloatArray) -> tuple[float, FloatArray]:
        W = np.asarray(W, dtype=np.float64)
        if self._schema.categories or not self._kernel.is_smooth:
            raise InputError(
                "the gradient for a matrix needs numeric columns and an 'rbf', 'linear' or 'poly' "
                "kernel; encode categorical columns first."
            )
        fn = MatrixGradientPass(W, self._kernel, self._rate_at(W), self._tiles)
        value, gradient = fn.over(self._pairs)
        return float(value), gradient

    def report(self) -> Mapping[str, Any]:
        found = {} if self._tuned is None else {"bandwidth": self._tuned}
        return found | ({"approximation": self._in_words} if self._pairs.n_groups > 1 else {})

    @cached_property
    def _in_words(self) -> str:
        """Which approximation, and its error on all columns together."""
        everything = range(self.n_units)
        widths = np.array([self._widths.of_set(everything)])
        whole = self._set_pass(everything, no_columns(1), 1, widths)
        error = relative_error(self._pairs, whole, whole.columns)
        return (
            f"block HSIC: pairs inside {self._pairs.n_groups} random blocks of "
            f"{self._pairs.rows_together} rows; standard error {error:.1%} of the value of all "
            "columns together"
        )


class BoundFunctionHSIC(_TargetBound):
    """HSIC with a user's kernel function on the data: one set of columns at a time."""

    def __init__(self, measure: HSIC, engine: Engine) -> None:
        self._function = measure.kernel
        super().__init__(measure, engine)

    def value(self, subset: Sequence[int]) -> float:
        if not len(subset):
            return 0.0
        columns = unit_columns(self._schema, subset).columns
        sums = self._pairs.reduce(partial(function_pass, self._function, self._tiles), columns)
        return float(sums.parts[0])

    def scores(self) -> FloatArray:
        return np.array([self.value([unit]) for unit in range(self.n_units)])


def _mean_over_groups(measure: HSIC, pairs: RowPairs) -> FixedMatrix:
    """The fixed matrix of one group of rows, so scaled that sums over groups estimate the whole."""
    fixed = fixed_matrix(pairs.rows_together, measure.estimator, measure.criterion)
    return replace(fixed, scale=fixed.scale / pairs.n_groups)


def _dtype_of(precision: str) -> Any:
    if precision not in ("double", "single"):
        raise InputError(f"precision must be 'double' or 'single', got {precision!r}.")
    return np.float64 if precision == "double" else np.float32


def checked_target_kernel(measure: HSIC, engine: Engine) -> TargetKernel:
    """The target kernel that the measure asks for, if it fits the target."""
    if isinstance(measure.target_kernel, str) and measure.target_kernel == "precomputed":
        _, gram = engine.take(columns=NO_COLUMNS)
        check_gram(gram, engine.n_samples, "y")
    if measure.criterion == "mmd" and not _is_binary(engine):
        raise InputError("criterion='mmd' compares two classes; y has another kind of values.")
    return fit_target_kernel(engine, measure.target_kernel, measure.target_bandwidth, measure.seed)


def _is_binary(engine: Engine) -> bool:
    target = engine.target
    return target.is_classification and target.n_outputs == 1 and target.n_classes() == 2
