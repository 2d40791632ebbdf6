"""The information of one column with others, from sums over their tables."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from featsieve.measures.information.contingency import ClassCounts
from featsieve.schema import FloatArray, IntArray


@dataclass(frozen=True)
class OutputInformation:
    """Of column ``i`` with ``others`` for one output; H = log n − Σ n log n / n throughout."""

    counts: ClassCounts
    i: int
    others: IntArray | slice
    pair: FloatArray
    triple: FloatArray

    def mutual(self) -> FloatArray:
        alone = self.counts.column_sums
        return self._gain(self.pair - alone[self.others], alone[self.i], self.counts.log_total)

    def joint(self) -> FloatArray:
        counts = self.counts
        return self._gain(self.triple - self.pair, counts.class_nlogn, counts.log_total)

    def conditional(self) -> FloatArray:
        given = self.counts.class_sums[self.i] - self.counts.column_sums[self.i]
        return self._gain(self.triple - self.pair, given, 0.0)

    def within_classes(self) -> FloatArray:
        alone = self.counts.class_sums
        other = alone[self.i] - self.counts.class_nlogn
        return self._gain(self.triple - alone[self.others], other, 0.0)

    def symmetric_relevance(self) -> FloatArray:
        joint_entropy = self.counts.log_total - self.triple / self.counts.total
        known = joint_entropy > 0
        return np.divide(self.joint(), joint_entropy, out=np.zeros(len(known)), where=known)

    def _gain(self, sums: FloatArray, less: float, level: float) -> FloatArray:
        """level + (sums − less) / n, never below 0; ``sums`` is used up."""
        sums -= less
        sums /= self.counts.total
        sums += level
        return np.maximum(sums, 0.0, out=sums)


@dataclass(frozen=True)
class MeanInformation:
    """The mean over the outputs (a :class:`~featsieve.protocols.PairInformation`)."""

    outputs: tuple[OutputInformation, ...]

    @property
    def mutual(self) -> FloatArray:
        return self.outputs[0].mutual()  # the target does not enter

    @property
    def joint(self) -> FloatArray:
        return _mean([output.joint() for output in self.outputs])

    @property
    def conditional(self) -> FloatArray:
        return _mean([output.conditional() for output in self.outputs])

    @property
    def within_classes(self) -> FloatArray:
        return _mean([output.within_classes() for output in self.outputs])

    @property
    def symmetric_relevance(self) -> FloatArray:
        return _mean([output.symmetric_relevance() for output in self.outputs])


def _mean(rows: list[FloatArray]) -> FloatArray:
    return rows[0] if len(rows) == 1 else np.mean(rows, axis=0)
