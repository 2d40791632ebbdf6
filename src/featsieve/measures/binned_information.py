"""Mutual information of discretised columns with the target, alone and in pairs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import Any, ClassVar, Literal

import numpy as np

from featsieve.discretize.choice import choose_discretizer
from featsieve.errors import InputError
from featsieve.measures.base import BaseMeasure
from featsieve.measures.coding import Coder, fit_coder
from featsieve.measures.conditional_gains import ConditionalGains
from featsieve.measures.contingency import ClassCounts
from featsieve.measures.joint_counts import Correction, JointCounts, check_correction, information
from featsieve.measures.pair_information import MeanInformation, OutputInformation
from featsieve.measures.pair_matrices import conditional_matrix, mutual_matrix
from featsieve.measures.pair_source import OutputCounter, OutputCounts, open_pairs
from featsieve.measures.pair_sums import PairSource
from featsieve.pool import ordered_map
from featsieve.progress import Monitor
from featsieve.protocols import Engine, PairTerms
from featsieve.schema import FloatArray, IntArray


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
    target_discretizer : as ``discretizer``, for a numeric target
    estimator : "binned" or "ksg"
        "ksg" estimates from the nearest neighbours, without bins: scores only.
    n_neighbors : int, default=3
        For "ksg".
    normalized : bool, default=False
        I / √(H(X) H(Y)) (P-LECTURE).
    correction : None, "miller_madow" or "shrink"
        Against the bias of scores from few rows.
    """

    takes_missing: ClassVar[bool] = True
    takes_weights: ClassVar[bool] = True

    def __init__(
        self,
        *,
        discretizer: Any = "quantile",
        n_bins: int = 5,
        target_discretizer: Any = "quantile",
        estimator: Literal["binned", "ksg"] = "binned",
        n_neighbors: int = 3,
        normalized: bool = False,
        correction: Correction = None,
    ) -> None:
        self.discretizer = discretizer
        self.n_bins = n_bins
        self.target_discretizer = target_discretizer
        self.estimator = estimator
        self.n_neighbors = n_neighbors
        self.normalized = normalized
        self.correction = correction

    def bind(self, engine: Engine) -> Any:
        check_correction(self.correction)
        if self.estimator == "ksg":
            from featsieve.measures.neighbour_information import BoundKSG

            return BoundKSG(engine, self.n_neighbors, normalized=self.normalized)
        if self.estimator != "binned":
            raise InputError(
                f"estimator={self.estimator!r} is not known; allowed are 'binned' and 'ksg'."
            )
        chosen = choose_discretizer(self.discretizer, self.n_bins)
        by_classes = chosen is not None and chosen.needs_target
        return (BoundMutualInformation if by_classes else BoundPermutable)(self, engine)

    def coder(self, engine: Engine) -> Coder:
        return fit_coder(engine, self.discretizer, self.n_bins, self.target_discretizer)

    def scores_of(self, counts: OutputCounts) -> FloatArray:
        """One row an output, one number a unit."""
        return np.array([self._scores_of_output(output) for output in counts.outputs])

    def _scores_of_output(self, counts: ClassCounts) -> FloatArray:
        if self.correction is not None:
            return _corrected(counts, self.correction, self.normalized)
        if not self.normalized:
            return counts.information
        scale = np.sqrt(counts.entropies * counts.class_entropy)
        return _ratio(counts.information, scale)


class ConditionalMutualInformation(MutualInformation):
    """I(X; Y), and between two columns I(X_j; Y | X_i), which is complement (P-CMI eq. 4).

    Parameters are those of :class:`MutualInformation`.
    """

    def bind(self, engine: Engine) -> Any:
        return BoundConditionalInformation(self, engine)


class BoundInformation:
    """Codes and counts of an engine's rows."""

    def __init__(self, measure: MutualInformation, engine: Engine) -> None:
        self.n_units = engine.schema.n_units
        self.monitor: Monitor = engine.monitor
        self._measure = measure
        self._engine = engine

    @cached_property
    def _coder(self) -> Coder:
        return self._measure.coder(self._engine)

    @cached_property
    def _counts(self) -> OutputCounts:
        return self._engine.reduce_rows(OutputCounter(self._coder).of_block)

    @cached_property
    def _sources(self) -> list[PairSource]:
        trimmed = [counts.trimmed() for counts in self._counts.outputs]
        return [
            open_pairs(self._engine, self._coder, counts, output)
            for output, counts in enumerate(trimmed)
        ]

    @cached_property
    def _output_scores(self) -> FloatArray:
        return self._measure.scores_of(self._counts)

    def scores(self) -> FloatArray:
        return self._output_scores.mean(axis=0)

    def relevance(self) -> FloatArray:
        """I(X_j; Y), the mean over the outputs."""
        return np.mean([counts.information for counts in self._counts.outputs], axis=0)

    def information_with(self, unit: int, others: IntArray | None = None) -> MeanInformation:
        place = slice(None) if others is None else others
        return MeanInformation(
            tuple(
                OutputInformation(source.counts, unit, place, *source.row(unit, others))
                for source in self._sources
            )
        )

    def conditional_gains(self, subset: Sequence[int]) -> FloatArray:
        """I(X_j; Y | X_S) for all units j, the mean over the outputs."""
        return self._gains.given(subset)

    def value(self, subset: Sequence[int]) -> float:
        """I(X_S; Y) of the units together, by the chain rule."""
        chain = [self.conditional_gains(subset[:place])[u] for place, u in enumerate(subset)]
        return float(sum(chain))

    def values_with(self, subset: Sequence[int], candidates: Sequence[int]) -> FloatArray:
        return self.value(subset) + self.conditional_gains(subset)[list(candidates)]

    @cached_property
    def _gains(self) -> ConditionalGains:
        return ConditionalGains.of_engine(self._engine, self._coder)

    def report(self) -> Mapping[str, Any]:
        found: dict[str, Any] = {"output_scores": self._output_scores}
        if self._coder.approximation:
            found["approximation"] = self._coder.approximation
        return found


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
        return mutual_matrix(self._sources[0])


class BoundPermutable(BoundMutualInformation):
    """Cuts that do not depend on the target stay as they are when it is permuted."""

    @property
    def numbers_an_order(self) -> int:
        return 4 * self._engine.n_samples + self.n_units

    @property
    def score_scale(self) -> float:
        return float(np.max(self._output_scores, initial=0.0))

    def permuted_scores(self, orders: IntArray) -> FloatArray:
        permuted = ordered_map(self._scores_after, orders, self._engine.n_jobs)
        return np.ascontiguousarray(np.stack(list(permuted), axis=1))

    def _scores_after(self, order: IntArray) -> FloatArray:
        rows, layouts = self._gains, [counts.layout for counts in self._counts.outputs]
        counted = [
            layout.count(rows.codes, classes[order], rows.weights)
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
        return np.mean([conditional_matrix(source) for source in self._sources], axis=0)


def _corrected(counts: ClassCounts, correction: Correction, normalized: bool) -> FloatArray:
    edges = counts.layout.cells[1:-1]
    found = []
    for table in np.split(counts.table, edges, axis=1):
        joint = JointCounts.of_table(table[:, table.any(axis=0)], correction)
        value = information(joint)
        scale = np.sqrt(joint.entropy(0) * joint.entropy(1)) if normalized else 1.0
        found.append(value / scale if scale > 0 else 0.0)
    return np.array(found)


def _ratio(values: FloatArray, scale: FloatArray) -> FloatArray:
    return np.divide(values, scale, out=np.zeros(len(values)), where=scale > 0)
