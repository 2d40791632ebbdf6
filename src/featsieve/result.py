"""What a selection hands back."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from featsieve.arrays import FloatArray, IntArray

COMPLETED = "completed"
TIME_LIMIT = "max_time"
INTERRUPTED = "interrupted"


@dataclass(frozen=True)
class SelectionResult:
    """The outcome of one run, in units (a unit is a column unless groups were given).

    Parameters
    ----------
    indices
        Selected units, best first.
    scores
        One number per unit, larger is better, NaN where the method gives none.
    objective
        The value of the criterion for the selected set.
    order
        All units from best to worst, where the method gives a full order.
    path
        What the search went through, one entry per step.
    trace
        Numbers along the way (objective or score per step).
    elapsed
        Seconds.
    stop_reason
        ``"completed"``, ``"max_time"`` or ``"interrupted"``, or a method's own word.
    approximation
        Which approximation was used, in words; None when the answer is exact.
    extras
        What only this method has (weights, p-values, per-output scores, …).

    Examples
    --------
    >>> from featsieve import PearsonRanking
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> result = PearsonRanking(n_features_to_select=2).fit(X, y).result_
    >>> result.indices.tolist(), result.stop_reason
    ([2, 3], 'completed')
    >>> result.scores.round(2).tolist()
    [0.48, 0.4, 0.62, 0.59]
    """

    indices: IntArray
    scores: FloatArray
    objective: float | None = None
    order: IntArray | None = None
    path: tuple[Any, ...] = ()
    trace: tuple[float, ...] = ()
    elapsed: float = 0.0
    stop_reason: str = COMPLETED
    approximation: str | None = None
    extras: Mapping[str, Any] = field(default_factory=dict)

    def evolve(self, **changes: Any) -> SelectionResult:
        """A copy with some fields changed."""
        return replace(self, **changes)
