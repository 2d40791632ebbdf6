"""Splitters of scikit-learn for rows that depend on each other."""

from __future__ import annotations

from typing import Any

import numpy as np

from featsieve.schema import Dependence


def splitter_within(dependence: Dependence, n_folds: Any) -> Any:
    """What stands for a number of folds where rows must not be torn apart.

    >>> splitter_within(Dependence(groups=np.array([0, 0, 1, 1, 2])), 5).n_splits
    3
    >>> splitter_within(Dependence(), 5)
    5
    """
    from sklearn.model_selection import GroupKFold, TimeSeriesSplit

    if dependence.in_order:
        return TimeSeriesSplit(n_folds)
    if dependence.groups is None:
        return n_folds
    return GroupKFold(max(2, min(n_folds, len(np.unique(dependence.groups)))))
