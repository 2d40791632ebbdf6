"""Fitting a selector as a part of a longer run."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np

from featsieve.arrays import IntArray
from featsieve.result import INTERRUPTED


def fit_quietly(selector: Any, X: Any, y: Any) -> Any:
    """The fitted selector; fewer columns than asked for is a result here, not a warning.

    A selector answers Ctrl-C with its best columns so far. Inside a longer run that answer would be
    taken for the real one, so the signal is passed on instead.
    """
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        selector.fit(X, y)
    if getattr(getattr(selector, "result_", None), "stop_reason", None) == INTERRUPTED:
        raise KeyboardInterrupt
    return selector


def selected_columns(selector: Any) -> IntArray:
    """Of a fitted selector, best first where it has an order."""
    if hasattr(selector, "indices_"):
        return np.asarray(selector.indices_)
    return np.asarray(selector.get_support(indices=True))
