"""Selectors of other packages, each as a function (X, y, k, task, seed) -> columns, best first.

X is a dense table of numbers (categories as codes, missing cells filled in), as these packages
want it. A package that is not installed raises ImportError, which the leaderboard writes down.
"""

from __future__ import annotations

import contextlib
import io
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np

Peer = Callable[[np.ndarray, np.ndarray, int, str, int], Any]


def _is_classes(task: str) -> bool:
    return task == "classification"


def _best(scores: Any, k: int) -> np.ndarray:
    return np.argsort(-np.nan_to_num(np.asarray(scores, dtype=float)), kind="stable")[:k]


def f_test(X, y, k, task, seed):
    from sklearn.feature_selection import f_classif, f_regression

    return _best((f_classif if _is_classes(task) else f_regression)(X, y)[0], k)


def mutual_information(X, y, k, task, seed):
    from sklearn.feature_selection import mutual_info_classif, mutual_info_regression

    score = mutual_info_classif if _is_classes(task) else mutual_info_regression
    return _best(score(X, y, random_state=seed), k)


def _standardised(X):
    spread = X.std(axis=0)
    return (X - X.mean(axis=0)) / np.where(spread > 0, spread, 1.0)


def rfe(X, y, k, task, seed):
    from sklearn.feature_selection import RFE
    from sklearn.linear_model import LogisticRegression, Ridge

    model = LogisticRegression(max_iter=1000) if _is_classes(task) else Ridge()
    chosen = RFE(model, n_features_to_select=k, step=0.1).fit(_standardised(X), y)
    return np.flatnonzero(chosen.support_)


def sequential(X, y, k, task, seed):
    from sklearn.feature_selection import SequentialFeatureSelector
    from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor

    if X.shape[1] > 64:
        raise TimeoutError("more than 64 columns: too slow here")
    model = KNeighborsClassifier() if _is_classes(task) else KNeighborsRegressor()
    selector = SequentialFeatureSelector(model, n_features_to_select=k, cv=3)
    return np.flatnonzero(selector.fit(_standardised(X), y).get_support())


def forest(X, y, k, task, seed):
    from sklearn.ensemble import RandomForestClassifier, RandomForestRegressor
    from sklearn.feature_selection import SelectFromModel

    model = RandomForestClassifier if _is_classes(task) else RandomForestRegressor
    selector = SelectFromModel(
        model(100, random_state=seed), max_features=k, threshold=-np.inf
    ).fit(X, y)
    return np.flatnonzero(selector.get_support())


def mrmr_selection(X, y, k, task, seed):
    import pandas as pd
    from mrmr import mrmr_classif, mrmr_regression

    frame = pd.DataFrame(X, columns=[str(j) for j in range(X.shape[1])])
    select = mrmr_classif if _is_classes(task) else mrmr_regression
    chosen = select(frame, pd.Series(y), K=k, show_progress=False, n_jobs=1)
    return np.array([int(name) for name in chosen])


def fast_select_multisurf(X, y, k, task, seed):
    from fast_select import MultiSURF

    selector = MultiSURF(n_features_to_select=k, n_jobs=1, backend="cpu")
    selector.fit(np.ascontiguousarray(X, dtype=np.float32), y)
    return _best(selector.feature_importances_, k)


def feature_engine_mrmr(X, y, k, task, seed):
    import pandas as pd
    from feature_engine.selection import MRMR

    frame = pd.DataFrame(X, columns=[f"x{j}" for j in range(X.shape[1])])
    numeric = frame.loc[:, frame.nunique() > 1]
    method = "FCQ"
    selector = MRMR(
        method=method, max_features=k, regression=not _is_classes(task), random_state=seed
    )
    kept = selector.fit_transform(numeric, pd.Series(y)).columns
    return np.array([int(name[1:]) for name in kept])


def py_hsic_lasso(X, y, k, task, seed):
    from pyHSICLasso import HSICLasso

    if X.shape[1] > 3000:
        raise TimeoutError("more than 3,000 columns: too slow here")
    model = HSICLasso()
    with contextlib.redirect_stdout(io.StringIO()):
        model.input(X.astype(float), np.asarray(y))
        run = model.classification if _is_classes(task) else model.regression
        run(k, B=20, M=1, n_jobs=1)
    return np.array(model.get_index())[:k]


def boruta(X, y, k, task, seed):
    from boruta import BorutaPy
    from sklearn.ensemble import RandomForestClassifier, RandomForestRegressor

    if X.shape[1] > 1000:
        raise TimeoutError("more than 1,000 columns: too slow here")
    model = RandomForestClassifier if _is_classes(task) else RandomForestRegressor
    forest = model(n_estimators=50, max_depth=5, random_state=seed)
    selector = BorutaPy(forest, n_estimators=50, max_iter=20, random_state=seed).fit(X, y)
    history = np.nanmean(selector.importance_history_[1:], axis=0)
    order = np.lexsort((-np.nan_to_num(history), selector.ranking_))
    return order[:k]


def fastcan(X, y, k, task, seed):
    from fastcan import FastCan

    Y = np.eye(len(np.unique(y)))[y][:, 1:] if _is_classes(task) else y[:, None]
    selector = FastCan(n_features_to_select=k, verbose=0)
    return np.asarray(selector.fit(X.astype(float), Y).indices_)


def random_columns(X, y, k, task, seed):
    return np.random.default_rng(seed).permutation(X.shape[1])[:k]


PEERS: dict[str, Peer] = {
    "sklearn F": f_test,
    "sklearn MI": mutual_information,
    "sklearn RFE": rfe,
    "sklearn SFS (kNN)": sequential,
    "sklearn forest": forest,
    "mrmr_selection": mrmr_selection,
    "fast-select MultiSURF": fast_select_multisurf,
    "feature-engine MRMR": feature_engine_mrmr,
    "pyHSICLasso": py_hsic_lasso,
    "Boruta": boruta,
    "fastcan": fastcan,
    "random": random_columns,
}


def run_peer(name: str, X: np.ndarray, y: np.ndarray, k: int, task: str, seed: int) -> np.ndarray:
    """The peer with its warnings and prints kept quiet."""
    with warnings.catch_warnings(), contextlib.redirect_stdout(io.StringIO()):
        warnings.simplefilter("ignore")
        return np.asarray(PEERS[name](X, y, k, task, seed), dtype=int)
