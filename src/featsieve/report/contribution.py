"""What each column adds, given those above it: the rise of what a simple model explains."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from featsieve.arrays import Array, FloatArray
from featsieve.io.row_sample import rows_of_parts
from featsieve.schema import power_of_two

SAMPLE = 2000
EXPLAINED = 15  # columns for which it is measured what they add
FEWEST_ROWS = 30
FOLDS = 3
BATCH, MEMORY = 1 << 16, 1 << 28


def sampled(X: Any, y: Any, columns: Sequence[int]) -> tuple[FloatArray, FloatArray]:
    """At most 2,000 rows of a few columns as numbers; states become codes, gaps medians."""
    n_rows = int(X.shape[0])
    rows = np.linspace(0, n_rows - 1, min(n_rows, SAMPLE)).astype(np.intp)
    if hasattr(X, "batches"):  # a file that stays on the disk
        X, y = _rows_of_file(X, rows, columns)
        rows, columns = np.arange(len(y)), range(len(columns))
    parts = [as_numbers(_cells(X, rows, j)) for j in columns]
    values = np.stack(parts, axis=1) if parts else np.empty((len(rows), 0))
    return values, as_numbers(_target(y, rows))


def _rows_of_file(table: Any, rows: Array, columns: Sequence[int]) -> tuple[Any, Any]:
    """Some rows of some columns, and the target, in one pass."""
    names = [table.column_names[j] for j in columns]
    kept = rows_of_parts(table.batches([*names, table.target], BATCH, MEMORY), rows)
    target = np.asarray(kept.column(len(names)).to_pylist(), dtype=object)
    return kept.select(names), target


def _cells(X: Any, rows: Array, j: int) -> Any:
    if hasattr(X, "column_names"):  # pyarrow
        return np.asarray(X.column(j).take(rows).to_pylist(), dtype=object)
    if hasattr(X, "iloc"):
        return X.iloc[rows, j].to_numpy()
    if hasattr(X, "toarray"):
        return X.tocsr()[rows][:, [j]].toarray().ravel()
    return X[:, j].to_numpy()[rows] if hasattr(X, "to_numpy") else np.asarray(X)[rows, j]


def _target(y: Any, rows: Array) -> Any:
    """The first output, if there are several."""
    values = np.asarray(y)[rows]
    return values if values.ndim == 1 else values[:, 0]


def as_numbers(values: Any) -> FloatArray:
    try:
        numbers = values.astype(np.float64)
    except (TypeError, ValueError):
        states = [str(state) for state in values.tolist()]
        numbers = np.unique(states, return_inverse=True)[1].astype(np.float64)
    known = np.isfinite(numbers)
    fill = float(np.median(numbers[known])) if known.any() else 0.0
    filled = np.where(known, numbers, fill)
    # Trees compute in single precision; a power of two changes no digit.
    return filled * power_of_two(np.abs(filled).max(initial=0.0))


def explained_shares(values: FloatArray, target: FloatArray, task: str) -> list[float]:
    """What simple models explain with the first 1, 2, … columns, in cross-validation.

    The better of a linear model and a small tree, 0 where neither beats a guess, 1 is everything.
    For classes it is the share of the errors of always guessing the most frequent class that the
    model does not make, for numbers R². Nothing where rows or classes are too few to tell.
    """
    if len(target) < FEWEST_ROWS:
        return []
    classes = task == "classification"
    base = 1.0
    if classes:
        codes, counts = np.unique(target, return_inverse=True, return_counts=True)[1:]
        target = codes.astype(np.float64)
        if counts.min() < FOLDS:
            return []
        base = 1 - counts.max() / len(target)
    models = _simple_models(task)
    most = min(values.shape[1], EXPLAINED)
    scores = [_best_score(models, values[:, : k + 1], target, task) for k in range(most)]
    return [max(0.0, 1 - (1 - score) / base) for score in scores]


def _simple_models(task: str) -> list[Any]:
    from sklearn.linear_model import Ridge, RidgeClassifier
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler
    from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

    classes = task == "classification"
    tree = DecisionTreeClassifier if classes else DecisionTreeRegressor
    linear = RidgeClassifier if classes else Ridge
    return [
        tree(max_depth=6, min_samples_leaf=5, random_state=0),
        make_pipeline(StandardScaler(), linear()),
    ]


def _best_score(models: Sequence[Any], X: FloatArray, target: FloatArray, task: str) -> float:
    from sklearn.model_selection import cross_val_score

    return max(float(cross_val_score(m, X, target, cv=_folds(task)).mean()) for m in models)


def _folds(task: str) -> Any:
    """Rows in random order: files are often sorted by the target."""
    from sklearn.model_selection import KFold, StratifiedKFold

    build = StratifiedKFold if task == "classification" else KFold
    return build(FOLDS, shuffle=True, random_state=0)


def gains(shares: Sequence[float]) -> list[float]:
    """What each column adds to those before it.

    >>> gains([0.5, 0.75])
    [0.5, 0.25]
    """
    before = [0.0, *shares]
    return [share - before[count] for count, share in enumerate(shares)]
