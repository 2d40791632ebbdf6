"""What a report says, as plain values: the page, the fragment and the JSON are made from it."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

import numpy as np

from featsieve import __version__
from featsieve.arrays import FloatArray
from featsieve.plots.pairwise import unit_ranks
from featsieve.registry import METHODS

COMPARED = 40  # columns whose redundancy is looked at: the selected ones and the next best
EXPLAINED = 15  # selected columns for which it is measured what they add
SAMPLE = 2000
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

    @property
    def why(self) -> str:
        """One sentence on why the column is in or out."""
        close = self.shared is not None and self.shared >= SAME and self.like is not None
        if self.selected:
            gain = "" if self.adds is None else f"; adds {100 * self.adds:.1f} points"
            return f"selected{gain}"
        if close:
            return f"left out: {self.like!r} carries the same information ({self.shared:.2f})"
        return "not needed"


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
    paper: str = ""
    params: Mapping[str, Any] = field(default_factory=dict)
    seed: int | None = None
    elapsed: float = 0.0
    stop_reason: str = "completed"
    notes: tuple[str, ...] = ()
    compared: tuple[str, ...] = ()
    redundancy: tuple[tuple[float, ...], ...] = ()
    gap: float | None = None
    command: str = ""
    code: str = ""
    version: str = __version__

    @property
    def selected(self) -> list[ColumnFacts]:
        return [column for column in self.columns if column.selected]

    def as_json(self) -> dict[str, Any]:
        rows = [asdict(column) | {"why": column.why} for column in self.columns]
        return asdict(self) | {"columns": rows}


def describe(
    selector: Any, X: Any, y: Any, *, names: Sequence[str] | None = None, **facts: Any
) -> Content:
    """The content for a fitted selector and the data it was fitted on.

    ``facts`` are further fields of :class:`Content`: notes, command, code, …
    """
    labels = _names(selector, names)
    order = _order(selector)
    near = order[:COMPARED]
    values, target = _sample(X, y, near)
    ranks = unit_ranks(values)
    pairs = np.abs(ranks.T @ ranks)
    adds = _gains(values[:, : len(selector.indices_)], target, selector.task_)
    columns = tuple(
        _facts(selector, labels, j, position, order, pairs, adds)
        for position, j in enumerate(order)
    )
    entry = next((m for m in METHODS if m.name == type(selector).__name__), None)
    known: dict[str, Any] = {
        "target": "target",
        "task": selector.task_,
        "n_rows": _n_rows(X),
        "method": type(selector).__name__,
        "score": "" if entry is None else str(entry.score),
        "paper": "" if entry is None else entry.paper,
        "elapsed": selector.result_.elapsed,
        "stop_reason": selector.result_.stop_reason,
        "compared": tuple(labels[j] for j in near),
        "redundancy": tuple(tuple(round(float(v), 3) for v in row) for row in pairs),
        "gap": _gap(selector),
    }
    return Content(**(known | facts | {"columns": columns}))


def _names(selector: Any, names: Sequence[str] | None) -> list[str]:
    known = getattr(selector, "feature_names_in_", None) if names is None else names
    return [f"x{j}" for j in range(selector.n_features_in_)] if known is None else list(known)


def _order(selector: Any) -> list[int]:
    """Selected columns best first, then the others as the method orders them."""
    chosen = [int(j) for j in selector.indices_]
    scores = np.nan_to_num(np.asarray(selector.scores_, dtype=np.float64), nan=-np.inf)
    rest = np.lexsort((np.arange(len(scores)), -scores, selector.ranking_))
    taken = set(chosen)
    return chosen + [int(j) for j in rest if int(j) not in taken]


def _n_rows(X: Any) -> int:
    return int(X.shape[0])


def _sample(X: Any, y: Any, columns: Sequence[int]) -> tuple[FloatArray, FloatArray]:
    """At most 2,000 rows of a few columns as numbers; states become codes, gaps medians."""
    n_rows = _n_rows(X)
    rows = np.linspace(0, n_rows - 1, min(n_rows, SAMPLE)).astype(np.intp)
    values = np.stack([_numbers(_column(X, j), rows) for j in columns], axis=1)
    return values, _numbers(np.asarray(y), rows)


def _column(X: Any, j: int) -> Any:
    if hasattr(X, "column_names"):  # pyarrow
        return np.asarray(X.column(j).to_pylist(), dtype=object)
    if hasattr(X, "iloc"):
        return X.iloc[:, j].to_numpy()
    if hasattr(X, "toarray"):
        return X[:, [j]].toarray().ravel()
    return X[:, j].to_numpy() if hasattr(X, "to_numpy") else np.asarray(X)[:, j]


def _numbers(values: Any, rows: Any) -> FloatArray:
    chosen = np.asarray(values)[rows]
    try:
        numbers = chosen.astype(np.float64)
    except (TypeError, ValueError):
        numbers = np.unique(chosen.astype(str), return_inverse=True)[1].astype(np.float64)
    known = np.isfinite(numbers)
    fill = float(np.median(numbers[known])) if known.any() else 0.0
    return np.where(known, numbers, fill)


def _gains(values: FloatArray, target: FloatArray, task: str) -> list[float]:
    """The rise of a tree's cross-validated share explained as columns come in, best first.

    For classes the share of the errors that the most frequent class makes, and the tree does not.
    """
    from sklearn.model_selection import cross_val_score
    from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

    if len(target) < 30:
        return []
    classes = task == "classification"
    tree = DecisionTreeClassifier if classes else DecisionTreeRegressor
    model = tree(max_depth=6, min_samples_leaf=5, random_state=0)
    if classes:
        codes, counts = np.unique(target, return_inverse=True, return_counts=True)[1:]
        if counts.min() < 3:
            return []
        target, base = codes.astype(np.float64), 1 - counts.max() / len(codes)
    gains, before = [], 0.0
    for count in range(1, min(values.shape[1], EXPLAINED) + 1):
        score = float(cross_val_score(model, values[:, :count], target, cv=3).mean())
        share = 1 - (1 - score) / base if classes else score
        gains.append(share - before)
        before = share
    return gains


def _facts(
    selector: Any,
    labels: Sequence[str],
    j: int,
    position: int,
    order: Sequence[int],
    pairs: FloatArray,
    adds: Sequence[float],
) -> ColumnFacts:
    n_selected = len(selector.indices_)
    like, shared = None, None
    if position < len(pairs):
        others = [p for p in range(min(n_selected, len(pairs))) if p != position]
        if others:
            nearest = max(others, key=lambda p: pairs[position, p])
            like, shared = labels[order[nearest]], round(float(pairs[position, nearest]), 3)
    adjusted = selector.result_.extras.get("adjusted_bh")
    return ColumnFacts(
        name=str(labels[j]),
        score=_finite(selector.scores_[j]),
        pvalue=_finite(selector.pvalues_[j]) if hasattr(selector, "pvalues_") else None,
        adjusted=None if adjusted is None else _finite(adjusted[j]),
        selected=position < n_selected,
        adds=_finite(adds[position]) if position < min(n_selected, len(adds)) else None,
        like=like,
        shared=shared,
    )


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
