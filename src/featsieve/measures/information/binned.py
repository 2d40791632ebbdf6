"""Mutual and conditional information of discretised columns."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from typing import Any, ClassVar, Literal

import numpy as np

from featsieve.arrays import FloatArray, IntArray
from featsieve.discretize.base import check_bins
from featsieve.engines.memory import gathered
from featsieve.errors import InputError
from featsieve.input.parameters import (
    Check,
    check_choice,
    check_flag,
    check_integer,
    check_parameters,
)
from featsieve.measures.base import BaseMeasure
from featsieve.measures.information.coded_table import CodedTable, open_table
from featsieve.measures.information.coding import Coder, fit_coder
from featsieve.measures.information.counts import (
    ClassCounts,
    MeanInformation,
    OutputCounts,
    OutputInformation,
)
from featsieve.measures.information.joint import (
    CORRECTIONS,
    ConditionalGains,
    Correction,
    JointCounts,
    information,
)
from featsieve.measures.information.pair_sums import PackedPairs, PairSource, PlaneSplit
from featsieve.measures.information.pairs import (
    Ahead,
    CountedPairs,
    conditional_matrix,
    mutual_matrix,
)
from featsieve.protocols import Bound, CanPermuteTarget, Engine, HasScores, PairTerms
from featsieve.runtime.pool import ordered_map
from featsieve.runtime.progress import Monitor


@dataclass(kw_only=True, eq=False, repr=False)
class MutualInformation(BaseMeasure):
    """I(X; Y) in nats; between two columns, I(X_i; X_j) is redundancy.

    Categorical columns keep their states, a missing cell is a state of its own. Several outputs:
    their mean.

    Parameters
    ----------
    discretizer : "quantile", "equal_width", "sigma", "caim", an object of featsieve.discretize, \
or None for columns that are codes already
    n_bins : int, default=5
        For "quantile" and "equal_width".
    target_discretizer : as ``discretizer``, for a numeric target; default "auto"
        "auto" cuts at the mean and multiples of the deviation, which keeps rare large deviations
        apart; into equally frequent states if more than 99 % of the rows would share one.
    estimator : "binned" or "ksg"
        "ksg" estimates from the nearest neighbours, without bins: scores only.
    n_neighbors : int, default=3
        For "ksg".
    normalized : bool, default=False
        I / √(H(X) H(Y)) (Sugiyama, lecture notes).
    correction : None, "miller_madow" or "shrink"
        Against the bias of scores from few rows.

    Examples
    --------
    >>> from featsieve import FeatureSelector
    >>> from featsieve.measures import MutualInformation
    >>> from featsieve.searches import Greedy
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> selector = FeatureSelector(MutualInformation(), Greedy(), n_features_to_select=2)
    >>> selector.fit(X, y).indices_.tolist()
    [3, 1]
    """

    takes_missing: ClassVar[bool] = True
    takes_weights: ClassVar[bool] = True
    checks: ClassVar[Mapping[str, Check]] = {
        "n_bins": check_bins,
        "estimator": partial(check_choice, allowed=("binned", "ksg")),
        "n_neighbors": partial(check_integer, minimum=1),
        "normalized": check_flag,
        "correction": partial(check_choice, allowed=CORRECTIONS),
    }

    discretizer: Any = "quantile"
    n_bins: int = 5
    target_discretizer: Any = "auto"
    estimator: Literal["binned", "ksg"] = "binned"
    n_neighbors: int = 3
    normalized: bool = False
    correction: Correction = None

    def bind(self, engine: Engine) -> Bound:
        check_parameters(self, self.checks)
        if self.estimator == "ksg":
            from featsieve.measures.information.ksg import BoundKSG

            if engine.has_weights:
                raise InputError("estimator='ksg' does not take sample_weight; use 'binned'.")
            return BoundKSG(
                engine,
                self.n_neighbors,
                normalized=self.normalized,
                correction=self.correction,
            )
        coder = self.coder(engine)
        bound = BoundMutualInformation if coder.by_classes else BoundPermutable
        return bound(self, engine, coder)

    def coder(self, engine: Engine) -> Coder:
        return fit_coder(engine, self.discretizer, self.n_bins, self.target_discretizer)

    def scores_of(self, counts: OutputCounts) -> FloatArray:
        """One row per output, one number per unit."""
        return np.array([self._scores_of_output(output) for output in counts.outputs])

    def _scores_of_output(self, counts: ClassCounts) -> FloatArray:
        if self.correction is not None:
            return _corrected(counts, self.correction, self.normalized)
        if not self.normalized:
            return counts.information
        scale = np.sqrt(counts.entropies * counts.class_entropy)
        return _ratio(counts.information, scale)


class ConditionalMutualInformation(MutualInformation):
    """I(X; Y), and between two columns I(X_j; Y | X_i), which is complement.

    This is the matrix of Venkateswara et al. (2015), eq. 4.

    Parameters are those of :class:`MutualInformation`; ``estimator="ksg"`` is refused.

    Examples
    --------
    >>> from featsieve import FeatureSelector
    >>> from featsieve.measures import ConditionalMutualInformation
    >>> from featsieve.searches import GlobalQuadratic
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> measure, search = ConditionalMutualInformation(), GlobalQuadratic()
    >>> selector = FeatureSelector(measure, search, n_features_to_select=2)
    >>> selector.fit(X, y).result_.extras["proven_optimal"]
    True
    """

    checks: ClassVar[Mapping[str, Check]] = {
        **MutualInformation.checks,
        "estimator": partial(check_choice, allowed=("binned",)),
    }

    def bind(self, engine: Engine) -> Bound:
        check_parameters(self, self.checks)
        return BoundConditionalInformation(self, engine, self.coder(engine))


def _corrected(counts: ClassCounts, correction: Correction, normalized: bool) -> FloatArray:
    edges = counts.layout.cells[1:-1]
    scores = []
    for table in np.split(counts.table, edges, axis=1):
        joint = JointCounts.of_table(table[:, table.any(axis=0)], correction)
        value = information(joint)
        scale = np.sqrt(joint.entropy(0) * joint.entropy(1)) if normalized else 1.0
        scores.append(value / scale if scale > 0 else 0.0)
    return np.array(scores)


def _ratio(values: FloatArray, scale: FloatArray) -> FloatArray:
    return np.divide(values, scale, out=np.zeros(len(values)), where=scale > 0)


class BoundInformation:
    """Codes and counts of an engine's rows."""

    def __init__(self, measure: MutualInformation, engine: Engine, coder: Coder) -> None:
        self.n_units = engine.schema.n_units
        self.monitor: Monitor = engine.monitor
        self.information_scale = max(1.0, float(np.log(engine.n_samples)))  # no entropy is larger
        self._measure = measure
        self._engine = engine
        self._coder = coder

    @cached_property
    def _table(self) -> CodedTable:
        return open_table(self._engine, self._coder)

    @cached_property
    def _counts(self) -> OutputCounts:
        """Scores alone need no codes, so these are kept only if relevance was asked for first."""
        if "_table" in self.__dict__:
            return self._table.counts
        return self._engine.reduce_rows(self._coder.count_block)

    @cached_property
    def _sources(self) -> list[PairSource]:
        engine, n_outputs = self._engine, self._engine.target.n_outputs
        return [open_pairs(engine, self._table, output) for output in range(n_outputs)]

    @cached_property
    def _output_scores(self) -> FloatArray:
        return self._measure.scores_of(self._counts)

    def scores(self) -> FloatArray:
        return self._output_scores.mean(axis=0)

    def relevance(self) -> FloatArray:
        """I(X_j; Y), the mean over the outputs; whoever asks for it goes on to pairs or sets."""
        return np.mean([counts.information for counts in self._table.counts.outputs], axis=0)

    def information_with(self, unit: int, others: IntArray | None = None) -> MeanInformation:
        columns = slice(None) if others is None else others
        return MeanInformation(
            tuple(
                OutputInformation(source.counts, unit, columns, *source.row(unit, others))
                for source in self._sources
            )
        )

    @property
    def brings_pairs(self) -> bool:
        return any(source.brings_rows for source in self._sources)

    def bring_pairs(self, unit: int, likely: Sequence[int], most: int) -> None:
        for source in self._sources:
            source.bring(unit, likely, most)

    def conditional_gains(self, subset: Sequence[int]) -> FloatArray:
        """I(X_j; Y | X_S) for all units j, the mean over the outputs."""
        return self._gains.given(subset)

    def value(self, subset: Sequence[int]) -> float:
        """I(X_S; Y) of the units together, by the chain rule."""
        chain = [self.conditional_gains(subset[:size])[u] for size, u in enumerate(subset)]
        return float(sum(chain))

    def values_with(self, subset: Sequence[int], candidates: Sequence[int]) -> FloatArray:
        return self.value(subset) + self.conditional_gains(subset)[list(candidates)]

    @cached_property
    def _gains(self) -> ConditionalGains:
        return ConditionalGains(self._table.all_rows(), self._engine.n_jobs)

    def report(self) -> Mapping[str, Any]:
        report: dict[str, Any] = {"output_scores": self._output_scores}
        if self._coder.approximation:
            report["approximation"] = self._coder.approximation
        return report


class BoundMutualInformation(BoundInformation):
    """Pairs are redundancy."""

    def relevance_and_pairs(self) -> PairTerms:
        return PairTerms(
            relevance=self.relevance(),
            pair_row=lambda unit: self.information_with(unit).mutual,
            role="redundancy",
            symmetric=True,
        )

    def pair_matrix(self) -> FloatArray:
        """I(X_i; X_j), on the diagonal H(X_i)."""
        return mutual_matrix(self._sources[0], self.monitor)


class BoundPermutable(BoundMutualInformation):
    """Cuts that do not depend on the target stay as they are when it is permuted.

    Weights that move against the columns, or against a numeric target, move the cuts: with the old
    ones, more than 5 % of the p-values of independent columns would be 0.05 or less.
    """

    @property
    def numbers_per_order(self) -> int:
        return 4 * self._engine.n_samples + self.n_units

    @property
    def score_scale(self) -> float:
        return float(np.max(self._output_scores, initial=0.0))

    def permuted_scores(self, orders: IntArray) -> FloatArray:
        if self._cuts_move:
            return np.stack([self._scores_with_new_cuts(order) for order in orders], axis=1)
        permuted = ordered_map(self._scores_after, orders, self._engine.n_jobs)
        return np.ascontiguousarray(np.stack(list(permuted), axis=1))

    @property
    def _cuts_move(self) -> bool:
        engine = self._engine
        if not engine.has_weights:
            return False
        if engine.weights_belong_to_target:
            return self._measure.discretizer is not None and len(engine.schema.numeric_columns) > 0
        return not engine.target.is_classification

    @cached_property
    def _permutable(self) -> CanPermuteTarget:
        engine = self._engine
        return engine if isinstance(engine, CanPermuteTarget) else gathered(engine)

    def _scores_with_new_cuts(self, order: IntArray) -> FloatArray:
        bound = self._measure.bind(self._permutable.with_permuted_target(order))
        assert isinstance(bound, HasScores)
        return bound.scores()

    def _scores_after(self, order: IntArray) -> FloatArray:
        rows, layouts = self._table.all_rows(), [counts.layout for counts in self._counts.outputs]
        weights = rows.weights
        if weights is not None and self._engine.weights_belong_to_target:
            weights = weights[order]
        counted = [
            layout.count(rows.codes, classes[order], weights)
            for layout, classes in zip(layouts, rows.classes.T, strict=True)
        ]
        return self._measure.scores_of(OutputCounts(tuple(counted))).mean(axis=0)


class BoundConditionalInformation(BoundInformation):
    """Pairs are complement."""

    def relevance_and_pairs(self) -> PairTerms:
        return PairTerms(
            relevance=self.relevance(),
            pair_row=lambda unit: self.information_with(unit).conditional,
            role="complement",
            symmetric=False,
        )

    def pair_matrix(self) -> FloatArray:
        """Q[i, j] = I(X_j; Y | X_i), on the diagonal I(X_i; Y), the mean over the outputs."""
        total = conditional_matrix(self._sources[0], self.monitor)
        for source in self._sources[1:]:
            total += conditional_matrix(source, self.monitor)
        return total / len(self._sources) if len(self._sources) > 1 else total


def open_pairs(engine: Engine, table: CodedTable, output: int) -> PairSource:
    """Planes in memory if three quarters of the budget allow it, else a pass for each column."""
    counts = table.counts.outputs[output].trimmed()
    split = PlaneSplit.by_cost(counts)
    held = split.held_bytes(engine.n_samples) * engine.target.n_outputs
    if table.is_kept and 4 * held <= 3 * engine.memory_limit:
        return PackedPairs.of_rows(counts, split, table.blocks, output, engine.n_jobs)
    n_cells = engine.n_samples * counts.layout.n_columns
    ahead = Ahead.over(n_cells) if table.is_remote else Ahead()
    return CountedPairs(counts, table, output, engine.memory_limit, engine.n_jobs, ahead)
