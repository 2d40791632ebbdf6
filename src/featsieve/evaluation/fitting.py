"""Fitting a selector as a part of a longer run."""

from __future__ import annotations

import inspect
import warnings
from typing import Any

import numpy as np

from featsieve.arrays import IntArray
from featsieve.engines.files import ParquetTable
from featsieve.errors import InputError
from featsieve.evaluation.metrics import as_column_indices
from featsieve.input.boundary import Settings, checked_table
from featsieve.input.parameters import check_integer, is_integer
from featsieve.input.tables import is_dask
from featsieve.procedures.judging.splitting import splitter_within
from featsieve.result import INTERRUPTED
from featsieve.schema import Dependence
from featsieve.selector import BaseSelector

USUAL_FOLDS = 5


def row_dependence(folds: list[tuple[IntArray, IntArray]], groups: IntArray | None) -> Dependence:
    """What folds of folds have to respect: the groups, and time where all folds look ahead."""
    ahead = all(max(train, default=-1) < min(test, default=np.inf) for train, test in folds)
    return Dependence(groups, ahead)


def fit_quietly(selector: Any, X: Any, y: Any, dependence: Dependence | None = None) -> Any:
    """The fitted selector; fewer columns than asked for is a result here, not a warning.

    The folds that it makes itself keep together what ``dependence`` says of these rows.

    A selector answers Ctrl-C with its best columns so far. Inside a longer run that answer would be
    taken for the real one, so the signal is passed on instead.
    """
    params = {} if dependence is None else _told(selector, dependence)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        selector.fit(X, y, **params)
    if getattr(getattr(selector, "result_", None), "stop_reason", None) == INTERRUPTED:
        raise KeyboardInterrupt
    return selector


def selected_columns(selector: Any, n_columns: int | None = None) -> IntArray:
    """Of a fitted selector, best first where it has an order.

    ``n_columns``: of a table whose columns the answer has to name, each once; the selectors of
    others may say anything.
    """
    answer = getattr(selector, "indices_", None)
    columns = np.asarray(selector.get_support(indices=True) if answer is None else answer)
    if n_columns is not None:
        as_column_indices(columns, n_columns, "it selected")
        if not len(columns):
            raise InputError("it selected nothing")
    return columns


def table_in_memory(X: Any, y: Any) -> Any:
    """The table as a selector would read it, or one sentence; files and Dask are refused."""
    table = checked_table(X, y, Settings())
    if is_dask(table) or isinstance(table, ParquetTable):
        raise InputError(
            "the table is not in memory; take some of its rows into memory to compare methods."
        )
    if not table.shape[1]:
        raise InputError("the table has no columns; give at least one.")
    return table


def check_seed(random_state: Any) -> int:
    """A number that NumPy's old and new generators take, so that folds are the same again."""
    return check_integer("random_state", random_state, 0, 2**32 - 1)


def _told(selector: Any, dependence: Dependence) -> dict[str, Any]:
    """What is handed to ``fit``, as far as the selector takes it; a number of folds is a splitter.

    >>> from sklearn.feature_selection import RFECV
    >>> from sklearn.linear_model import Ridge
    >>> selector = RFECV(Ridge(), cv=3)
    >>> _told(selector, Dependence(in_order=True)), selector.cv
    ({}, TimeSeriesSplit(gap=0, max_train_size=None, n_splits=3, test_size=None))
    """
    if isinstance(selector, BaseSelector):
        selector._within(dependence)
        return {}
    hands_on = dependence.groups is not None and _takes_groups(selector)
    given = selector.get_params(deep=False)
    if "cv" in given and (given["cv"] is None or is_integer(given["cv"])):
        kept = Dependence(dependence.groups if hands_on else None, dependence.in_order)
        if kept.groups is not None or kept.in_order:
            selector.set_params(cv=splitter_within(kept, given["cv"] or USUAL_FOLDS))
    return {"groups": dependence.groups} if hands_on else {}


def _takes_groups(selector: Any) -> bool:
    from sklearn.feature_selection import RFECV

    named = "groups" in inspect.signature(selector.fit).parameters
    return named or isinstance(selector, RFECV)  # which takes them among its params
