"""Song et al. (2007), Table 1: 10-fold error of a Gaussian SVM on five selected features."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.model_selection import KFold, StratifiedKFold
from sklearn.svm import SVC, SVR

from featsieve.arrays import Array, FloatArray
from featsieve.errors import InputError
from featsieve.evaluation.benches._report import finish, markdown_table
from featsieve.measures.hsic.bandwidth import median_kernel_distance, median_rows
from featsieve.measures.hsic.kernels import kernel_function
from featsieve.registry import METHODS, find_method

COLUMNS = {
    "BAHSIC": "BAHSIC",
    "FOHSIC": "FOHSIC",
    "PC": "PearsonRanking",
    "MI": "MaxRel",
    "RFE": "SVMRFE",
    "RELIEF": "ReliefF",
    "L0": "L0SVM",
    "R2W2": "R2W2",
}
# BAHSIC's column of the paper, for the sets whose name and task are the same.
PAPER = {
    "covertype": "26.3 ± 1.5", "ionosphere": "12.3 ± 1.7", "heart": "14.8 ± 2.4",
    "breastw": "3.8 ± 0.4", "splice": "22.6 ± 1.1", "cleveland": "19.0 ± 2.1",
    "hepatitis": "13.8 ± 3.5", "musk1": "29.9 ± 2.5", "optdigits": "0.5 ± 0.2",
    "wdbc": "5.3 ± 0.6", "wine": "1.7 ± 1.1", "arcene": "22.0 ± 5.1", "madelon": "37.9 ± 0.8",
    "satimage": "15.8 ± 1.0", "vehicle": "36.4 ± 1.5", "svmguide2": "22.8 ± 2.7",
    "housing": "18.5 ± 2.6", "abalone": "55.1 ± 2.7",
}  # fmt: skip
N_FEATURES, FOLDS, C, MOST_ROWS, MOST_CLASSES = 5, 10, 100.0, 2000, 26
QUICK_ROWS, QUICK_COLUMNS, QUICK_FOLDS = 400, 40, 3


@dataclass(frozen=True)
class Table:
    """Numbers and a target; a text column is its state codes."""

    name: str
    X: FloatArray
    y: Array
    categorical: tuple[int, ...]
    classes: bool


def read_table(path: Path) -> Table | None:
    """One NAME.parquet; a random sample, balanced over classes, when it is long."""
    import pandas as pd

    frame = pd.read_parquet(path)
    if "target" not in frame:
        return None
    target = frame.pop("target")
    text = [j for j, name in enumerate(frame) if not pd.api.types.is_numeric_dtype(frame[name])]
    for j in text:
        frame.isetitem(j, frame.iloc[:, j].astype("category").cat.codes.to_numpy())
    X = frame.fillna(frame.median()).to_numpy(dtype=np.float64)
    numeric = pd.api.types.is_numeric_dtype(target)
    classes = not numeric or target.nunique() <= MOST_CLASSES
    y = np.unique(target.astype(str), return_inverse=True)[1] if classes else target.to_numpy()
    rows = sample_rows(y, classes)
    return Table(path.stem, X[rows], y[rows], tuple(text), classes)


def sample_rows(y: Array, classes: bool, most: int = MOST_ROWS) -> Array:
    """At most so many rows, as many of each class as of the others where they last."""
    order = np.random.default_rng(0).permutation(len(y))
    if len(y) <= most or not classes:
        return np.sort(order[:most])
    rank = np.zeros(len(y))
    for label in np.unique(y):
        members = order[y[order] == label]
        rank[members] = np.arange(len(members))
    return np.sort(order[np.argsort(rank[order], kind="stable")[:most]])


def fold_error(table: Table, method: str, train: Array, test: Array) -> float:
    """Error rate, or the share of variance that is not explained."""
    task = "classification" if table.classes else "regression"
    selector = find_method(method).load()(
        n_features_to_select=min(N_FEATURES, table.X.shape[1]),
        task=task,
        categorical_features=list(table.categorical),
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # fewer features than asked for is a result here
        chosen = selector.fit(table.X[train], table.y[train]).support_
    seen, unseen = _scaled(table.X[np.ix_(train, chosen)], table.X[np.ix_(test, chosen)])
    return _svm_error(seen, table.y[train], unseen, table.y[test], table.classes)


def _scaled(train: FloatArray, test: FloatArray) -> tuple[FloatArray, FloatArray]:
    centre, spread = train.mean(axis=0), train.std(axis=0)
    spread[spread == 0] = 1.0
    return (train - centre) / spread, (test - centre) / spread


def _svm_error(
    seen: FloatArray, y: Array, unseen: FloatArray, truth: Array, classes: bool
) -> float:
    rows = median_rows(len(seen))
    sigma = median_kernel_distance(seen if rows is None else seen[rows], kernel_function("rbf"))
    gamma = 1.0 / (2.0 * sigma**2)
    if classes:
        return float(np.mean(SVC(C=C, gamma=gamma).fit(seen, y).predict(unseen) != truth))
    centre, spread = y.mean(), y.std() or 1.0
    model = SVR(C=C, gamma=gamma).fit(seen, (y - centre) / spread)
    residual = truth - (centre + spread * model.predict(unseen))
    return float(np.sum(residual**2) / np.sum((truth - truth.mean()) ** 2))


def errors(table: Table, method: str, n_folds: int) -> FloatArray:
    """Per cent, one a fold."""
    splitter = StratifiedKFold if table.classes else KFold
    folds = splitter(n_folds, shuffle=True, random_state=0).split(table.X, table.y)
    return 100.0 * np.array([fold_error(table, method, *fold) for fold in folds])


def run(
    data_dir: Path | None,
    *,
    trials: int | None = None,
    methods: Sequence[str] | None = None,
    quick: bool = False,
    out: Path | None = None,
    datasets: Sequence[str] | None = None,
) -> str:
    """Every NAME.parquet of the folder, or those named; ``trials`` is the number of folds."""
    names = _chosen(methods)
    n_folds = trials or (QUICK_FOLDS if quick else FOLDS)
    rows, binary = [], []
    for table in _tables(data_dir, datasets, quick):
        percents = [errors(table, COLUMNS[name], n_folds) for name in names]
        cells = [f"{e.mean():.1f} ± {e.std() / np.sqrt(n_folds):.1f}" for e in percents]
        rows.append([table.name, *cells, PAPER.get(table.name, "")])
        if table.classes and len(np.unique(table.y)) == 2:
            binary.append([e.mean() for e in percents])
    if binary:
        rows.append(["l2 (binary sets)", *(f"{d:.1f}" for d in l2_distances(np.array(binary))), ""])
    return finish(
        f"Song et al. (2007), Table 1: error (%) or variance not explained (%), {n_folds}-fold",
        markdown_table(["data", *names, "BAHSIC (paper)"], rows),
        "Mean over folds ± its standard error; five features, Gaussian SVM with C = 100 and the "
        "median distance. l2: distance of a method's errors on binary sets from the best ones.",
        out=out,
        packages=["scikit-learn", "numba"],
    )


def l2_distances(means: FloatArray) -> FloatArray:
    """Rows are sets, columns methods (Song et al. 2007, section 6.2).

    >>> l2_distances(np.array([[1.0, 4.0], [6.0, 2.0]])).tolist()
    [4.0, 3.0]
    """
    return np.asarray(np.sqrt(np.square(means - means.min(axis=1, keepdims=True)).sum(axis=0)))


def _tables(data_dir: Path | None, datasets: Sequence[str] | None, quick: bool) -> list[Table]:
    if data_dir is None:
        raise InputError("this bench reads NAME.parquet files; give their folder with --data.")
    paths = [p for p in sorted(data_dir.glob("*.parquet")) if not datasets or p.stem in datasets]
    tables = [table for path in paths if (table := read_table(path)) is not None]
    if quick and not datasets:
        tables = [t for t in tables if len(t.y) <= QUICK_ROWS and t.X.shape[1] <= QUICK_COLUMNS]
    if not tables:
        raise InputError(f"no NAME.parquet with a target column is in {data_dir.name!r}.")
    return tables


def _chosen(methods: Sequence[str] | None) -> list[str]:
    known = {method.name for method in METHODS}
    present = [name for name, method in COLUMNS.items() if method in known]
    if not methods:
        return present
    by_name: dict[str, Any] = {name.lower(): name for name in present}
    by_name |= {COLUMNS[name].lower(): name for name in present}
    unknown = [name for name in methods if name.lower() not in by_name]
    if unknown:
        raise InputError(f"{unknown[0]!r} is not in this table; allowed are {', '.join(present)}.")
    return [by_name[name.lower()] for name in methods]
