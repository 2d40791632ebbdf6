"""HSIC, MMD and kernel-target alignment of a set of columns (P-HSIC)."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from copy import copy
from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import Any, ClassVar

import numpy as np

from featsieve.arrays import Array, FloatArray, IntArray
from featsieve.errors import InputError
from featsieve.input.parameters import Check, check_choice, check_parameters
from featsieve.measures.base import BaseMeasure
from featsieve.measures.hsic.features import BoundFeatureHSIC
from featsieve.measures.hsic.kernels import (
    KernelFunction,
    UnitColumns,
    WidthPolicy,
    kernel_function,
    no_columns,
    width_policy,
)
from featsieve.measures.hsic.object_kernels import ObjectKernel
from featsieve.measures.hsic.passes import (
    GATHERED_SHARE,
    SetChanges,
    SetPass,
    TargetTiles,
    WeightGradientPass,
    block_pairs,
    brought_here,
    fit_target_side,
    fixed_matrix,
    function_pass,
    row_pairs,
)
from featsieve.measures.hsic.projected import ProjectsRows
from featsieve.measures.hsic.target_kernel import fit_target_kernel
from featsieve.measures.hsic.tiles import RowPairs, TileFunction
from featsieve.protocols import Engine
from featsieve.runtime.progress import SILENT, Monitor
from featsieve.runtime.seeds import random_source
from featsieve.schema import Schema

APPROXIMATIONS = ("auto", "none", "block", "rff", "nystrom")
DTYPES: dict[str, Any] = {"double": np.float64, "single": np.float32}


@dataclass(kw_only=True, eq=False, repr=False)
class HSIC(BaseMeasure):
    """HSIC between a set of columns and the target, and its relatives MMD and KTA.

    Parameters
    ----------
    kernel : {"rbf", "laplace", "linear", "poly", "delta"} or function, default="rbf"
        Kernel on the data: exp(−d²/2σ²), exp(−d₁/σ), ⟨x, x'⟩, (⟨x, x'⟩/d + 1)³, 1 for rows that
        agree in all columns of the set and 0 for others, or a function of two 2-D arrays. A
        categorical column adds a squared distance of 0 or 1.
    target_kernel : {"auto", "bin", "mul", "reg", "delta", "rbf", "laplace", "linear", "poly", \
"precomputed"}, string kernel or function, default="auto"
        Kernel on the target; ``"auto"``: BIN for two classes, MUL for more, REG for numbers
        (Song et al. 2007, section 5). ``"precomputed"``: y is the Gram matrix of the target.
    bandwidth : {"median", "dimension", "optimize"} or float, default="median"
        σ: the median distance of the columns used; √d for d columns (1/(2d) in Song et al. 2007);
        the one with the largest criterion, searched for again at each round; or a number.
    target_bandwidth : "median" or float, default="median"
        σ of the target's kernel; "poly" divides the target by it, so that the unit of the target
        does not matter.
    estimator : {"unbiased", "biased", "v_statistic"}, default="unbiased"
        Song et al. 2007, eq. (4); Jitkrittum et al. 2013, eq. (4) with (n − 1)²; Masaeli et al.
        2010, eq. (8) with n².
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

    Examples
    --------
    >>> from featsieve import FeatureSelector
    >>> from featsieve.measures import HSIC
    >>> from featsieve.searches import Backward
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> selector = FeatureSelector(HSIC(), Backward(), n_features_to_select=2)
    >>> selector.fit(X, y).indices_.tolist()
    [2, 3]
    """

    scale_ddof: ClassVar[int | None] = 0

    checks: ClassVar[Mapping[str, Check]] = {
        "approximation": partial(check_choice, allowed=APPROXIMATIONS),
        "criterion": partial(check_choice, allowed=("hsic", "mmd", "kta")),
        "estimator": partial(check_choice, allowed=("unbiased", "biased", "v_statistic")),
        "precision": partial(check_choice, allowed=DTYPES),
    }

    kernel: Any = "rbf"
    target_kernel: Any = "auto"
    bandwidth: float | str = "median"
    target_bandwidth: float | str = "median"
    estimator: str = "unbiased"
    criterion: str = "hsic"
    approximation: str = "auto"
    precision: str = "double"
    random_state: Any = None

    @property
    def compares_text(self) -> bool:
        return isinstance(self.target_kernel, ObjectKernel)

    def bind(self, engine: Engine) -> BoundHSIC | BoundFunctionHSIC | BoundFeatureHSIC:
        self._check(engine)
        seed = self.seed
        if self.approximation not in ("rff", "nystrom"):
            engine = brought_here(engine)
        if callable(self.kernel):
            return BoundFunctionHSIC(self._paired_rows(engine, seed), self.kernel)
        kernel = kernel_function(self.kernel)
        widths = width_policy(self.bandwidth, kernel, engine, seed)
        if self.approximation in ("rff", "nystrom"):
            return self._bind_features(engine, kernel, widths, seed)
        optimizes = self.bandwidth == "optimize" and kernel.has_bandwidth
        return BoundHSIC(self._paired_rows(engine, seed), kernel, widths, optimizes=optimizes)

    def _check(self, engine: Engine) -> None:
        check_parameters(self, self.checks)
        if self.criterion != "hsic" and self.approximation not in ("auto", "none"):
            raise InputError(
                f"criterion={self.criterion!r} is summed exactly; use approximation='none'."
            )
        if self.criterion == "mmd" and not _has_two_classes(engine):
            raise InputError("criterion='mmd' compares two classes; y has another kind of values.")

    def _paired_rows(self, engine: Engine, seed: int) -> PairedRows:
        exact = self.criterion != "hsic"
        pairs = choose_pairs(engine, "none" if exact else self.approximation, seed)
        kernel = fit_target_kernel(
            engine, self.target_kernel, self.target_bandwidth, seed, pairs.order
        )
        fixed = fixed_matrix(pairs.rows_together, self.estimator, self.criterion)
        fixed = replace(fixed, scale=fixed.scale / pairs.n_groups)  # a mean over groups of rows
        dtype = DTYPES[self.precision]
        target = fit_target_side(engine.memory_limit, pairs, kernel, fixed, dtype)
        unit = target.unit * (engine.n_samples**2 if exact else 1)  # tr KL is a sum, not a mean
        return PairedRows(engine.schema, engine.monitor, pairs, target.tiles, unit, dtype)

    def _bind_features(
        self, engine: Engine, kernel: KernelFunction, widths: WidthPolicy, seed: int
    ) -> BoundFeatureHSIC:
        target = fit_target_kernel(engine, self.target_kernel, self.target_bandwidth, seed)
        n = engine.n_samples
        divisor = float(n**2 if self.estimator == "v_statistic" else (n - 1) ** 2)
        return BoundFeatureHSIC(engine, kernel, widths, target, self.approximation, seed, divisor)

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


@dataclass(frozen=True)
class PairedRows:
    """What every sum needs: the rows in pairs, and the target's fixed matrix.

    ``unit`` is the size of the target kernel's values: a criterion is as large as they are.
    """

    schema: Schema
    monitor: Monitor
    pairs: RowPairs
    target: TargetTiles
    unit: float
    dtype: Any


class BoundHSIC(ProjectsRows, SetChanges):
    """HSIC with its data: every question is one pass over pairs of rows."""

    def __init__(
        self, rows: PairedRows, kernel: KernelFunction, widths: WidthPolicy, *, optimizes: bool
    ) -> None:
        self.n_units = rows.schema.n_units
        self.monitor: Monitor = rows.monitor
        self._rows, self._kernel, self._widths = rows, kernel, widths
        self._optimizes = optimizes
        self._tuned: float | None = None
        self._unit = 1.0

    # --- sets of units --------------------------------------------------------------------------

    def value(self, subset: Sequence[int]) -> float:
        if not len(subset):
            return 0.0
        width = self._best_width(subset) if self._optimizes else self._widths.of_set(subset)
        return float(self._at_widths(subset, np.array([width]))[0])

    def _changed(self, subset: Sequence[int], candidates: Sequence[int], sign: int) -> FloatArray:
        widths = self._round_widths(subset, candidates, sign)
        units = self._kernel.columns_of(self._rows.schema, candidates)
        return self._set_pass(subset, units, sign, widths).over(self._rows.pairs)

    def _set_pass(
        self, subset: Sequence[int], candidates: UnitColumns, sign: int, widths: FloatArray
    ) -> SetPass:
        base = self._kernel.columns_of(self._rows.schema, subset)
        rates, rows = self._kernel.rate(widths), self._rows
        return SetPass(base, candidates, sign, self._kernel, rates, rows.target, rows.dtype)

    def _round_widths(
        self, subset: Sequence[int], candidates: Sequence[int], sign: int
    ) -> FloatArray:
        """One width per candidate; the optimal one of the current set for all of them."""
        if not self._optimizes:
            return self._widths.of_changes(subset, candidates, sign)
        if len(subset):
            return np.full(len(candidates), self._best_width(subset))
        return np.array([self._best_width([unit]) for unit in candidates])

    def _at_widths(self, subset: Sequence[int], widths: FloatArray) -> FloatArray:
        """The criterion of one set at several widths: candidates that add no column."""
        return self._set_pass(subset, no_columns(len(widths)), 1, widths).over(self._rows.pairs)

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
            self._tuned = self._projected.width(weights)
        else:
            self._tuned = self._widths.of_weights(self._column_scale(weights))

    def restart(self, seed: int) -> BoundHSIC:
        """For one restart of a search among others: the same data, its own tuning.

        Values and gradients are in units of the target kernel, so that the search's step lengths
        and tolerances fit: labels ±1/m make values of the order of 1/m².
        """
        other = copy(self)
        other._unit = self._rows.unit or 1.0
        other._tuned, other.monitor = None, SILENT
        other._rows = replace(self._rows, pairs=self._rows.pairs.alone())
        return other

    @property
    def is_helped(self) -> bool:
        schema = self._rows.schema
        return self._rows.pairs.alone().n_helped(schema.n_columns) > 1

    def _column_scale(self, weights: FloatArray) -> FloatArray:
        return self._kernel.scale(weights)[self._rows.schema.unit_of_column]

    def _rate_at(self, weights: FloatArray) -> float:
        if self._tuned is None:
            self.tune(weights)
        return float(self._kernel.rate(self._tuned or 1.0))

    def value_and_gradient(self, weights: FloatArray) -> tuple[float, FloatArray]:
        weights = np.asarray(weights, dtype=np.float64)
        if not self._kernel.has_slope:
            raise InputError(
                "kernel='delta' has no gradient for weights; use another kernel, or a search that "
                "compares sets, such as backward elimination."
            )
        rate = self._rate_at(weights)
        used = self._kernel.units_with_slope(weights)
        units = self._kernel.columns_of(self._rows.schema, used)
        scale = self._column_scale(weights)[units.columns]
        gradient = np.zeros(self.n_units)
        summed = WeightGradientPass(units, scale, self._kernel, rate, self._rows.target)
        value, slopes = summed.over(self._rows.pairs)
        gradient[used] = slopes * self._kernel.scale_slope(weights[used])
        return float(value) / self._unit, gradient / self._unit

    def report(self) -> Mapping[str, Any]:
        tuned = {} if self._tuned is None else {"bandwidth": self._tuned}
        is_exact = self._rows.pairs.n_groups == 1
        return tuned if is_exact else {**tuned, "approximation": self._approximation}

    @cached_property
    def _approximation(self) -> str:
        """Which approximation, and its error on all columns together."""
        everything = range(self.n_units)
        widths = np.array([self._widths.of_set(everything)])
        summed = self._set_pass(everything, no_columns(1), 1, widths)
        pairs = self._rows.pairs
        error = relative_error(pairs, summed, summed.columns)
        return (
            f"block HSIC: pairs inside {pairs.n_groups} random blocks of {pairs.rows_together} "
            f"rows; standard error {error:.1%} of the value of all columns together"
        )


class BoundFunctionHSIC:
    """HSIC with a user's kernel function on the data: one set of columns at a time."""

    def __init__(self, rows: PairedRows, function: Callable[[Array, Array], Array]) -> None:
        self.n_units = rows.schema.n_units
        self.monitor: Monitor = rows.monitor
        self._rows = rows
        self._sum = partial(function_pass, function, rows.target)

    def value(self, subset: Sequence[int]) -> float:
        if not len(subset):
            return 0.0
        columns = self._rows.schema.columns_of_units(subset)
        return float(self._rows.pairs.reduce(self._sum, columns).parts[0])

    def scores(self) -> FloatArray:
        return np.array([self.value([unit]) for unit in range(self.n_units)])


def _has_two_classes(engine: Engine) -> bool:
    target = engine.target
    return target.is_classification and target.n_outputs == 1 and target.class_counts[0] == 2


BLOCK_ROWS = 1024
FEWEST_BLOCKS = 4
EXACT_EVALUATIONS = 10**11  # kernel evaluations of one pass: about a minute on two cores


def _affordable_blocks(engine: Engine) -> int:
    """As many as time and memory allow, never fewer than a few."""
    by_time = EXACT_EVALUATIONS // (BLOCK_ROWS**2 // 2 * engine.schema.n_units)
    row_bytes = 8 * max(engine.n_features, 1)
    by_memory = engine.memory_limit // (GATHERED_SHARE * BLOCK_ROWS * row_bytes)
    affordable = max(min(by_time, by_memory), FEWEST_BLOCKS)
    return int(min(affordable, engine.n_samples // BLOCK_ROWS))


def is_costly(engine: Engine) -> bool:
    """One exact pass over all pairs and units would take more than about a minute."""
    pairs = engine.n_samples**2 // 2
    return pairs * engine.schema.n_units > EXACT_EVALUATIONS


def choose_pairs(engine: Engine, approximation: str, seed: int) -> RowPairs:
    """All pairs, or random blocks where ``"auto"`` finds all pairs too many."""
    enough_rows = engine.n_samples >= FEWEST_BLOCKS * BLOCK_ROWS
    if approximation == "block" and not enough_rows:
        raise InputError(
            f"approximation='block' needs at least {FEWEST_BLOCKS * BLOCK_ROWS} samples, got "
            f"{engine.n_samples}; use approximation='none'."
        )
    if approximation == "block" or (approximation == "auto" and is_costly(engine) and enough_rows):
        return block_pairs(engine, _affordable_blocks(engine), BLOCK_ROWS, seed)
    return row_pairs(engine)


def relative_error(pairs: RowPairs, fn: TileFunction, columns: IntArray) -> float:
    """The standard error of a mean over blocks, in units of the mean."""
    values = np.array([part.parts[0].item() for part in pairs.reduce_each(fn, columns)])
    error, size = values.std(ddof=1) / np.sqrt(len(values)), np.abs(values.mean())
    return float(error / size) if size > 0 else 0.0
