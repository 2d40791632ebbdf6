"""Mutual information with its data: counts, pairs, sets and permutations."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from featsieve.measures.information.coded_rows import CodedRows, gather_codes
from featsieve.measures.information.coding import Coder
from featsieve.measures.information.conditional_gains import ConditionalGains
from featsieve.measures.information.pair_information import MeanInformation, OutputInformation
from featsieve.measures.information.pair_matrices import conditional_matrix, mutual_matrix
from featsieve.measures.information.pair_source import OutputCounter, OutputCounts, open_pairs
from featsieve.measures.information.pair_sums import PairSource
from featsieve.pool import ordered_map
from featsieve.progress import Monitor
from featsieve.protocols import Engine, PairTerms
from featsieve.schema import FloatArray, IntArray

if TYPE_CHECKING:
    from featsieve.measures.information.binned_information import MutualInformation


class BoundInformation:
    """Codes and counts of an engine's rows."""

    def __init__(self, measure: MutualInformation, engine: Engine) -> None:
        self.n_units = engine.schema.n_units
        self.monitor: Monitor = engine.monitor
        self.information_scale = max(1.0, float(np.log(engine.n_samples)))  # no entropy is larger
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
            open_pairs(self._engine, self._coder, counts, output, lambda: self._rows)
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
        return ConditionalGains(self._rows)

    @cached_property
    def _rows(self) -> CodedRows:
        return gather_codes(self._engine, self._coder)

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
        rows, layouts = self._rows, [counts.layout for counts in self._counts.outputs]
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
