"""Mutual information of discretised columns with the target, alone and in pairs."""

from __future__ import annotations

from typing import Any, ClassVar, Literal

import numpy as np

from featsieve.discretize.choice import choose_discretizer
from featsieve.errors import InputError
from featsieve.measures.base import BaseMeasure
from featsieve.measures.information.bound_information import (
    BoundConditionalInformation,
    BoundMutualInformation,
    BoundPermutable,
)
from featsieve.measures.information.coding import Coder, fit_coder
from featsieve.measures.information.contingency import ClassCounts
from featsieve.measures.information.joint_counts import (
    Correction,
    JointCounts,
    check_correction,
    information,
)
from featsieve.measures.information.pair_source import OutputCounts
from featsieve.protocols import Engine
from featsieve.schema import FloatArray


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
            from featsieve.measures.information.neighbour_information import BoundKSG

            return BoundKSG(
                engine,
                self.n_neighbors,
                normalized=self.normalized,
                correction=self.correction,
            )
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
