"""What a report says, as plain values: the page, the fragment and the JSON are made from it."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from featsieve import __version__
from featsieve.arrays import FloatArray
from featsieve.errors import InputError
from featsieve.input.parameters import check_lengths
from featsieve.markup import points
from featsieve.plots.canvas import column_names
from featsieve.plots.pairwise import unit_ranks
from featsieve.registry import METHODS, score_of
from featsieve.report.contribution import explained_shares, gains, sampled

COMPARED = 40  # columns whose redundancy is looked at: the selected ones and the next best
NEAR = 5  # columns that come right after the selected ones
SAME = 0.9  # a rank correlation from which two columns carry the same information


@dataclass(frozen=True)
class ColumnFacts:
    """One column; ``like`` is the selected column it shares most with, by rank correlation."""

    name: str
    score: float | None
    pvalue: float | None = None
    adjusted: float | None = None
    selected: bool = False
    adds: float | None = None
    like: str | None = None
    shared: float | None = None
    near: bool = False
    interval: tuple[float, ...] | None = None

    @property
    def why(self) -> str:
        """One sentence on why the column is in or out."""
        if self.selected:
            return "selected" + self._gain("adds") + self._echo()
        if self._is_copy():
            return f"dropped because {self.like!r} carries the same information ({self.shared:.2f})"
        if self.near:
            return "near miss: among the next in order" + self._gain("would add")
        return "not selected"

    def _is_copy(self) -> bool:
        return self.like is not None and self.shared is not None and self.shared >= SAME

    def _gain(self, verb: str) -> str:
        return "" if self.adds is None else f"; {verb} {points(self.adds)} points"

    def _echo(self) -> str:
        return f"; much the same as {self.like!r} ({self.shared:.2f})" if self._is_copy() else ""


@dataclass(frozen=True)
class Content:
    """Everything a report shows; columns come best first."""

    target: str
    task: str
    n_rows: int
    columns: tuple[ColumnFacts, ...]
    method: str
    reason: str = ""
    score: str = ""
    symbol: str = "score"
    threshold: float | None = None
    guarantee: str = ""
    explanation: str = ""
    paper: str = ""
    params: Mapping[str, Any] = field(default_factory=dict)
    seed: int | None = None
    elapsed: float = 0.0
    stop_reason: str = "completed"
    notes: tuple[str, ...] = ()
    compared: tuple[str, ...] = ()
    redundancy: tuple[tuple[float, ...], ...] = ()
    explained: tuple[float, ...] = ()
    gap: float | None = None
    command: str = ""
    code: str = ""
    version: str = __version__

    @property
    def selected(self) -> list[ColumnFacts]:
        return [column for column in self.columns if column.selected]

    @property
    def near_misses(self) -> list[ColumnFacts]:
        return [column for column in self.columns[: COMPARED + NEAR] if column.near]

    @property
    def groups(self) -> list[tuple[str, ...]]:
        """Columns that carry the same information, by rank correlation of pairs."""
        left = list(range(len(self.compared)))
        groups = []
        while left:
            group = [left.pop(0)]
            for member in group:
                close = [j for j in left if self.redundancy[member][j] >= SAME]
                left = [j for j in left if j not in close]
                group.extend(close)
            if len(group) > 1:
                groups.append(tuple(self.compared[j] for j in group))
        return groups

    def as_json(self) -> dict[str, Any]:
        rows = [asdict(column) | {"why": column.why} for column in self.columns]
        groups = [list(group) for group in self.groups]
        return asdict(self) | {"columns": rows, "groups": groups}


def describe(
    selector: Any, X: Any, y: Any, *, names: Sequence[str] | None = None, **facts: Any
) -> Content:
    """The content for a fitted selector and the data it was fitted on.

    ``facts`` are further fields of :class:`Content`: notes, command, code, …
    """
    _check_table(selector, X, y)
    labels = column_names(selector) if names is None else list(names)
    order = _order(selector)
    near = order[:COMPARED]
    values, target = sampled(X, y, near)
    ranks = unit_ranks(values)
    pairs = np.abs(ranks.T @ ranks)
    shares = explained_shares(values, target, selector.task_)
    adds = gains(shares)
    n_near = NEAR if _orders_the_rest(selector) else 0
    columns = tuple(
        _facts(selector, labels, j, position, order, pairs, adds, n_near)
        for position, j in enumerate(order)
    )
    entry = next((m for m in METHODS if m.name == type(selector).__name__), None)
    known: dict[str, Any] = {
        "target": "target",
        "task": selector.task_,
        "n_rows": int(X.shape[0]),
        "method": type(selector).__name__,
        "score": "" if entry is None else str(score_of(selector)),
        "symbol": "score" if entry is None else entry.score.symbol,
        "threshold": _finite(getattr(selector, "threshold_", math.nan)),
        "guarantee": getattr(selector, "guarantee_", ""),
        "explanation": getattr(selector, "explanation_", ""),
        "paper": "" if entry is None else entry.paper,
        "elapsed": selector.result_.elapsed,
        "stop_reason": selector.result_.stop_reason,
        "compared": tuple(labels[j] for j in near),
        "redundancy": tuple(tuple(round(float(v), 3) for v in row) for row in pairs),
        "explained": tuple(round(share, 4) for share in shares),
        "gap": _gap(selector),
    }
    return Content(**(known | facts | {"columns": columns}))


def _check_table(selector: Any, X: Any, y: Any) -> None:
    """What is told about the columns must be about those that were fitted."""
    check_is_fitted(selector)
    if y is not None and X.shape[1] != selector.n_features_in_:
        raise InputError(
            f"X has {X.shape[1]} columns, but the selector was fitted on "
            f"{selector.n_features_in_}; give the table that it was fitted on."
        )
    if y is not None:
        check_lengths(X.shape[0], y)


def _order(selector: Any) -> list[int]:
    """Selected columns best first, then the others as the method orders them."""
    chosen = [int(j) for j in selector.indices_]
    scores = np.nan_to_num(np.asarray(selector.scores_, dtype=np.float64), nan=-np.inf)
    rest = np.lexsort((np.arange(len(scores)), -scores, selector.ranking_))
    taken = set(chosen)
    return chosen + [int(j) for j in rest if int(j) not in taken]


def _orders_the_rest(selector: Any) -> bool:
    """Whether the method says which of the columns it left out come next."""
    scores = np.asarray(selector.scores_, dtype=np.float64)[~selector.support_]
    known = scores[np.isfinite(scores)]
    return selector.result_.order is not None or len(np.unique(known)) > 1


def _facts(
    selector: Any,
    labels: Sequence[str],
    j: int,
    position: int,
    order: Sequence[int],
    pairs: FloatArray,
    adds: Sequence[float],
    n_near: int,
) -> ColumnFacts:
    n_selected = len(selector.indices_)
    like, shared = None, None
    if position < len(pairs):
        others = [p for p in range(min(n_selected, len(pairs))) if p != position]
        if others:
            nearest = max(others, key=lambda p: pairs[position, p])
            like, shared = labels[order[nearest]], round(float(pairs[position, nearest]), 3)
    adjusted = getattr(selector, "adjusted_pvalues_", None)
    return ColumnFacts(
        name=str(labels[j]),
        score=_finite(selector.scores_[j]),
        pvalue=_finite(selector.pvalues_[j]) if hasattr(selector, "pvalues_") else None,
        adjusted=None if adjusted is None else _finite(adjusted[j]),
        selected=position < n_selected,
        adds=_finite(adds[position]) if position < len(adds) else None,
        near=n_selected <= position < n_selected + n_near,
        like=like,
        shared=shared,
        interval=_interval(selector, j),
    )


def _interval(selector: Any, j: int) -> tuple[float, ...] | None:
    intervals = getattr(selector, "intervals_", None)
    return None if intervals is None else tuple(map(float, intervals[j]))


def _finite(value: Any) -> float | None:
    number = float(value)
    return float(f"{number:.6g}") if math.isfinite(number) else None


def _gap(selector: Any) -> float | None:
    """How far below the best possible value the answer can be, where that is known."""
    bound = getattr(selector, "upper_bound_", None)
    value = getattr(selector, "objective_", None)
    if bound is None or value is None or not bound:
        return None
    return max(0.0, float((bound - value) / abs(bound)))
