"""What a selection hands back."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from featsieve.arrays import FloatArray, IntArray
from featsieve.errors import MissingExtraError
from featsieve.markup import html_table, short_number

COMPLETED = "completed"
TIME_LIMIT = "max_time"
INTERRUPTED = "interrupted"
MOST_SHOWN = 20


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
    names
        Of the units; a selector fills them in.

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
    names: tuple[str, ...] = ()

    def with_extras(self, extras: Mapping[str, Any], **changes: Any) -> SelectionResult:
        """A copy with more ``extras``, and with other fields changed."""
        return replace(self, extras={**self.extras, **extras}, **changes)

    def to_frame(self) -> Any:
        """One row per unit, best first, as a pandas dataframe.

        Its columns are ``name``, ``rank`` (missing for units that were not selected),
        ``selected``, ``score``, and ``pvalue`` and ``adjusted`` where there are any.

        Examples
        --------
        >>> from featsieve import PearsonRanking
        >>> from sklearn.datasets import load_iris
        >>> X, y = load_iris(return_X_y=True, as_frame=True)
        >>> result = PearsonRanking(n_features_to_select=2).fit(X, y).result_
        >>> result.to_frame().round(2).head(3)
                        name  rank  selected  score
        2  petal length (cm)     1      True   0.62
        3   petal width (cm)     2      True   0.59
        0  sepal length (cm)  <NA>     False   0.48
        """
        try:
            import pandas as pd
        except ImportError:
            raise MissingExtraError("pandas", "frame", "to_frame") from None
        order = self._best_first()
        n_selected = len(self.indices)
        ranks = [*range(1, n_selected + 1), *([None] * (len(order) - n_selected))]
        columns: dict[str, Any] = {
            "name": [self._name(unit) for unit in order],
            "rank": pd.array(ranks, dtype="Int64"),
            "selected": np.arange(len(order)) < n_selected,
            "score": np.asarray(self.scores, dtype=np.float64)[order],
        }
        for column, key in (("pvalue", "pvalues"), ("adjusted", "adjusted_bh")):
            if key in self.extras:
                columns[column] = np.asarray(self.extras[key])[order]
        return pd.DataFrame(columns, index=order)

    def _repr_html_(self) -> str:
        """What a notebook shows: the selected units, and how the run ended."""
        tested = "pvalues" in self.extras
        head = ["rank", "column", "score"] + ["p", "adjusted p"] * tested
        rows = [self._cells(rank, tested) for rank in range(min(len(self.indices), MOST_SHOWN))]
        notes = [f"{self.stop_reason} in {self.elapsed:.2f} s"]
        if len(self.indices) > MOST_SHOWN:
            notes.insert(0, f"and {len(self.indices) - MOST_SHOWN:,} more: to_frame() has all")
        if self.approximation:
            notes.append(f"approximation: {self.approximation}")
        title = f"{len(self.indices):,} of {len(self.scores):,} columns selected"
        return html_table(title, head, rows, notes)

    def _cells(self, rank: int, tested: bool) -> list[str]:
        unit = int(self.indices[rank])
        numbers = [self.scores[unit]]
        if tested:
            adjusted = self.extras.get("adjusted_bh")
            numbers += [
                self.extras["pvalues"][unit],
                np.nan if adjusted is None else adjusted[unit],
            ]
        return [str(rank + 1), self._name(unit), *map(short_number, map(float, numbers))]

    def _name(self, unit: int) -> str:
        return self.names[unit] if self.names else f"x{unit}"

    def _best_first(self) -> list[int]:
        """Selected units, then the others in the order of the method, or by score."""
        chosen = self.indices.tolist()
        scores = np.nan_to_num(np.asarray(self.scores, dtype=np.float64), nan=-np.inf)
        rest = np.argsort(-scores, kind="stable") if self.order is None else self.order
        taken = set(chosen)
        return chosen + [unit for unit in rest.tolist() if unit not in taken]
