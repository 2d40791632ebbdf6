"""HSIC Lasso (Yamada et al. 2014): a non-negative Lasso of centred Gram matrices.

min ½‖L̄ − Σ β_u K̄_u‖² + λ Σ β_u, β ≥ 0, where K̄_u is the centred Gram matrix of one unit, scaled to
norm 1. No Gram matrix is stored: the LAR path needs only their inner products."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from featsieve.arrays import FloatArray
from featsieve.errors import InputError
from featsieve.input.parameters import check_choice, check_integer, is_word
from featsieve.linalg.nonnegative_lar import LarPoint, nonnegative_lar
from featsieve.measures.hsic.kernels import (
    KernelFunction,
    kernel_function,
    positive_bandwidth,
    width_policy,
)
from featsieve.measures.hsic.landmark_grams import landmark_grams
from featsieve.measures.hsic.passes import block_pairs, centring, fit_target_side, row_pairs
from featsieve.measures.hsic.target_kernel import NO_COLUMNS, fit_target_kernel
from featsieve.measures.hsic.tiles import RowPairs
from featsieve.measures.hsic.unit_grams import (
    UnitGrams,
    can_store,
    paired_grams,
    stored_grams,
)
from featsieve.protocols import Engine, Nesting
from featsieve.result import SelectionResult
from featsieve.runtime.ordering import best_first, best_index

FEWEST_ROWS_TOGETHER = 2


@dataclass(frozen=True)
class HSICLassoPath:
    """The procedure: LAR until k units are active."""

    kernel: str = "rbf"
    target_kernel: Any = "auto"
    bandwidth: float | str = 1.0
    target_bandwidth: float | str = 1.0
    n_blocks: int | None = None
    approximation: str = "none"
    seed: int = 0

    nesting: ClassVar[Nesting] = "path"

    def steps(self, engine: Engine, k: int | None) -> Iterator[SelectionResult]:
        """The best so far after each unit that enters or leaves."""
        assert k is not None  # only a procedure that counts by itself gets None
        n_units = engine.schema.n_units
        grams = self._grams(engine)
        relevance = grams.with_target()
        points: list[LarPoint] = []
        for point in nonnegative_lar(relevance, grams.columns, k, best_index, grams.together):
            points.append(point)
            yield _answer(point, relevance, points)
        if not points:
            yield _answer(LarPoint((), np.zeros(n_units), np.inf), relevance, points)

    def _grams(self, engine: Engine) -> UnitGrams:
        self._check(engine)
        kernel = _exponential_kernel(self.kernel)
        everything = range(engine.schema.n_units)
        units = kernel.columns_of(engine.schema, everything)
        widths = width_policy(self.bandwidth, kernel, engine, self.seed)
        rates = kernel.rate(widths.of_changes([], everything, 1))
        kind = self.target_kernel
        kind = "balanced_delta_or_rbf" if is_word(kind, "auto") else kind
        width = self._target_width(engine)
        if self.approximation == "nystrom":
            target = fit_target_kernel(engine, kind, width, self.seed)
            return landmark_grams(engine, units, kernel, rates, target, self.seed)
        pairs = self._pairs(engine)
        target = fit_target_kernel(engine, kind, width, self.seed, pairs.order)
        fixed = centring(pairs.rows_together)
        side = fit_target_side(engine.memory_limit, pairs, target, fixed, np.float64)
        if can_store(pairs, units.n_units, engine.memory_limit):
            return stored_grams(pairs, units, kernel, rates, side.tiles)
        return paired_grams(pairs, units, kernel, rates, side.tiles, engine.memory_limit)

    def _pairs(self, engine: Engine) -> RowPairs:
        if self.n_blocks is None:
            return row_pairs(engine)
        n_blocks = int(self.n_blocks)
        return block_pairs(engine, n_blocks, engine.n_samples // n_blocks, self.seed)

    def _check(self, engine: Engine) -> None:
        check_choice("approximation", self.approximation, ("none", "nystrom"))
        if self.n_blocks is None:
            return
        most = engine.n_samples // FEWEST_ROWS_TOGETHER
        check_integer("n_blocks", self.n_blocks, 1, most, also="None for all pairs of rows")
        if self.approximation == "nystrom":
            raise InputError("give either n_blocks or approximation='nystrom', not both.")

    def _target_width(self, engine: Engine) -> float | str:
        """A number is in units of the target's own deviation."""
        is_given = is_word(self.target_kernel, "precomputed")
        if is_given or isinstance(self.target_bandwidth, str) or engine.target.is_classification:
            return self.target_bandwidth
        _, y = engine.take(columns=NO_COLUMNS)
        size = float(np.abs(y).max()) or 1.0  # squares of very small or large numbers would fail
        width = positive_bandwidth(self.target_bandwidth, "target_bandwidth") / engine.target.factor
        return width * size * float(np.sqrt((y / size).var(axis=0).mean()))


def _exponential_kernel(name: Any) -> KernelFunction:
    kernel = kernel_function(name)
    if kernel.degree:
        raise InputError(
            f"kernel={name!r} is not possible for HSIC Lasso; give 'rbf', 'laplace' or 'delta'."
        )
    return kernel


def _answer(point: LarPoint, relevance: FloatArray, points: list[LarPoint]) -> SelectionResult:
    order = best_first(point.coefficients)
    path = np.array([p.coefficients for p in points]).reshape(len(points), len(relevance))
    return SelectionResult(
        order[: len(point.active)],
        point.coefficients,
        path=tuple(p.active for p in points),
        trace=tuple(p.penalty for p in points),
        extras={
            "relevance": relevance,
            "alphas": np.array([p.penalty for p in points]),
            "coef_path": path,
        },
    )
