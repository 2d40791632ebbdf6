"""The folds that a user asks for: a number, a splitter of scikit-learn or a list of splits."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from sklearn.model_selection import check_cv

from featsieve.arrays import Array, IntArray
from featsieve.errors import InputError, reason
from featsieve.input.parameters import brief

Splits = list[tuple[IntArray, IntArray]]


def fixed_splits(
    cv: Any, X: Any, y: Any, *, classifier: bool, params: Mapping[str, Any] | None = None
) -> Splits:
    """(training rows, test rows) of every fold as indices; ``params`` are the splitter's, such as
    groups.

    >>> halves = [([True, True, False], [2])]
    >>> [(train.tolist(), test.tolist()) for train, test in
    ...  fixed_splits(halves, np.zeros((3, 1)), [0, 1, 1], classifier=True)]
    [([0, 1], [2])]
    """
    n_rows = X.shape[0]
    try:
        splits = list(check_cv(cv, y, classifier=classifier).split(X, y, **(params or {})))
        if not splits:
            raise ValueError("there are no folds")
        return [(_indices(train, n_rows), _indices(test, n_rows)) for train, test in splits]
    except (ValueError, TypeError, OverflowError, IndexError) as error:
        raise InputError(
            f"cv={brief(cv)} cannot split the {n_rows} rows ({reason(error).rstrip('.')}); give "
            "an integer >= 2, a splitter or a list of (training rows, test rows)."
        ) from None


def _indices(rows: Any, n_rows: int) -> IntArray:
    """Refuses what does not name rows; a mask becomes indices, and -1 the last row."""
    chosen: Array = np.arange(n_rows)[rows]
    if not chosen.size or chosen.ndim != 1:
        raise ValueError("a fold holds no rows")
    return chosen


def refuse_overlap(splits: Splits, cv: Any) -> None:
    """A row that is learned from and judged makes an error optimistic."""
    for number, (train, test) in enumerate(splits, start=1):
        shared = np.intersect1d(train, test)
        if len(shared):
            raise InputError(
                f"cv={brief(cv)}: fold {number} learns from rows that it also judges (such as row "
                f"{shared[0]}), so that its error would be optimistic; give splits without common "
                "rows."
            )
