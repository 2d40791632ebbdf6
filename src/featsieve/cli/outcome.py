"""What a run found, ready to be shown: plain values, names instead of numbers."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from featsieve import __version__


@dataclass(frozen=True)
class Column:
    """One column of the table; ``rank`` is 1 for the best one, None where there is no order."""

    name: str
    index: int
    score: float | None
    pvalue: float | None
    rank: int | None
    selected: bool
    adjusted: float | None = None
    adds: float | None = None
    interval: tuple[float, ...] | None = None


@dataclass(frozen=True)
class Outcome:
    """One selection."""

    method: str
    reason: str
    columns: tuple[Column, ...]
    params: dict[str, Any]
    seed: int | None
    elapsed: float
    stop_reason: str
    task: str
    n_rows: int
    target: str
    notes: tuple[str, ...] = ()
    score: str = ""
    symbol: str = "score"
    by_step: bool = False
    threshold: float | None = None
    guarantee: str = ""
    explanation: str = ""
    selector: Any = None

    @property
    def selected(self) -> list[Column]:
        """The selected columns, best first."""
        return [column for column in self.columns if column.selected]

    def as_json(self) -> dict[str, Any]:
        """The contract's fields; lists run parallel to ``selected``, best first."""
        chosen = self.selected
        return {
            "selected": [column.name for column in chosen],
            "indices": [column.index for column in chosen],
            "scores": [column.score for column in chosen],
            "pvalues": [column.pvalue for column in chosen] if self.has_pvalues else None,
            "adjusted": [column.adjusted for column in chosen] if self.has_pvalues else None,
            "adds": [column.adds for column in chosen] if self.has_gains else None,
            "intervals": [column.interval for column in chosen] if self.has_intervals else None,
            "threshold": self.threshold,
            "guarantee": self.guarantee or None,
            "explanation": self.explanation or None,
            "score_meaning": self.score,
            "notes": list(self.notes),
            "method": self.method,
            "reason": self.reason,
            "params": self.params,
            "seed": self.seed,
            "elapsed": self.elapsed,
            "version": __version__,
            "stop_reason": self.stop_reason,
            "task": self.task,
            "target": self.target,
            "n_samples": self.n_rows,
            "n_features": len(self.columns),
            "columns": [vars(column) for column in self.columns],
        }

    @property
    def has_pvalues(self) -> bool:
        return any(column.pvalue is not None for column in self.columns)

    @property
    def has_intervals(self) -> bool:
        return any(column.interval is not None for column in self.columns)

    @property
    def has_gains(self) -> bool:
        return any(column.adds is not None for column in self.columns)


def describe(
    selector: Any, names: Sequence[str], gains: Sequence[float] = ()
) -> tuple[Column, ...]:
    """All columns of a fitted selector: the selected ones best first, then the others.

    ``gains``: what the first of the selected ones add, each to those before it.
    """
    order = [int(j) for j in selector.indices_]
    chosen = set(order)
    others = [j for j in range(len(names)) if j not in chosen]
    others.sort(key=lambda j: (int(selector.ranking_[j]), _descending(selector.scores_[j]), j))
    pvalues = getattr(selector, "pvalues_", None)
    adjusted = getattr(selector, "adjusted_pvalues_", None)
    intervals = getattr(selector, "intervals_", None)
    return tuple(
        Column(
            name=str(names[j]),
            index=j,
            score=finite(selector.scores_[j]),
            pvalue=None if pvalues is None else finite(pvalues[j]),
            rank=position + 1 if j in chosen else None,
            selected=j in chosen,
            adjusted=None if adjusted is None else finite(adjusted[j]),
            adds=finite(gains[position]) if position < len(gains) else None,
            interval=None if intervals is None else tuple(map(float, intervals[j])),
        )
        for position, j in enumerate([*order, *others])
    )


def finite(value: Any) -> float | None:
    """A number that JSON can hold, or None."""
    number = float(value)
    return number if math.isfinite(number) else None


def _descending(score: Any) -> float:
    number = float(score)
    return math.inf if math.isnan(number) else -number


def plain(value: Any) -> Any:
    """A parameter as JSON can hold it."""
    if value is None or isinstance(value, (bool, int, str)):
        return value
    if isinstance(value, float):
        return finite(value)
    if isinstance(value, dict):
        return {str(key): plain(item) for key, item in value.items()}
    if isinstance(value, Iterable):
        return [plain(item) for item in value]
    return repr(value)
