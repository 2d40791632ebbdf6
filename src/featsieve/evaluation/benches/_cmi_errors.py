"""Classification errors of the selectors that P-CMI's Tables III, IV and Figure 4 compare."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from featsieve.arrays import FloatArray, IntArray
from featsieve.discretize import CAIM
from featsieve.errors import InputError
from featsieve.measures import cmi_matrix
from featsieve.quadratic import solve

FIRST_K, LAST_K, STEP_K = 10, 100, 5
FOLDS, LEAVE_ONE_OUT_ROWS = 10, 100
MOST_ROWS, QUICK_ROWS = 2000, 600
QUICK_COLUMNS = 200
SDP_COLUMNS = 500
LOWRANK_SAMPLES = 20_000  # the paper's 926,519 for every k would take hours and change little
RANKED = {"MaxRel": "MaxRel", "MRMR": "MRMR", "JMI": "JMI", "QPFS": "QPFS"}
SOLVED = {"Spectral": "spectral", "SDP": "sdp", "TPower": "tpower", "LowRank": "lowrank"}
OURS = "ours (auto)"
METHODS = [*RANKED, *SOLVED, OURS]


@dataclass(frozen=True)
class DataSet:
    """A table of the paper's kind: codes for selection, the columns themselves for the SVM."""

    name: str
    codes: IntArray
    y: IntArray
    columns: list[FloatArray] = field(repr=False)

    @property
    def shape(self) -> tuple[int, int]:
        return self.codes.shape

    @property
    def ks(self) -> list[int]:
        return list(range(FIRST_K, min(self.shape[1] - 1, LAST_K) + 1, STEP_K))

    @cached_property
    def Q(self) -> FloatArray:
        return cmi_matrix(self.codes, self.y)


def read_sets(
    data_dir: Path | None, quick: bool, names: Sequence[str] | None = None
) -> list[DataSet]:
    """Every classification set of more than ten columns in the folder, or those named."""
    if data_dir is None or not Path(data_dir).is_dir():
        raise InputError("this bench reads NAME.parquet files; give their folder with --data.")
    paths = sorted(Path(data_dir).glob("*.parquet"))
    read = [_read(path, quick) for path in paths if names is None or path.stem in names]
    tables = [table for table in read if table is not None]
    if not tables:
        raise InputError(
            f"no classification set with more than {FIRST_K} columns is in {Path(data_dir).name!r}."
        )
    return tables


def _read(path: Path, quick: bool) -> DataSet | None:
    import pandas as pd

    frame = pd.read_parquet(path)
    target = frame.pop("target") if "target" in frame else pd.Series(dtype=float)
    n_classes = target.nunique()
    too_large = quick and (len(frame) > QUICK_ROWS or frame.shape[1] > QUICK_COLUMNS)
    if not 2 <= n_classes <= 26 or frame.shape[1] <= FIRST_K or too_large:
        return None
    rows = np.random.default_rng(0).permutation(len(frame))[:MOST_ROWS]
    frame, y = frame.iloc[rows], np.unique(target.iloc[rows].astype(str), return_inverse=True)[1]
    coded = [_codes(frame[name], y) for name in frame]
    return DataSet(path.stem, np.stack(coded, axis=1), y, [_numbers(frame[n]) for n in frame])


def _is_text(series: Any) -> bool:
    return str(series.dtype) in {"category", "object", "str", "string"}


def _codes(series: Any, y: IntArray) -> IntArray:
    if _is_text(series):
        return np.asarray(series.astype("category").cat.codes) + 1
    values = np.asarray(series, dtype=float)[:, None]
    return np.asarray(CAIM().fit(values, y).transform(values)[:, 0], dtype=np.int64)


def _numbers(series: Any) -> FloatArray:
    """What the SVM sees of a column: indicators of states, or the numbers, gaps at the median."""
    if _is_text(series):
        codes = np.asarray(series.astype("category").cat.codes)
        return (codes[:, None] == np.unique(codes)).astype(float)
    values = np.asarray(series, dtype=float)
    return np.where(np.isnan(values), np.nanmedian(values), values)[:, None]


def selections(data: DataSet, method: str) -> dict[int, IntArray] | None:
    """The columns chosen for each k; None where the method is out of reach, as in the paper."""
    if method in RANKED:
        order = _ranked(data, RANKED[method])
        return {k: order[:k] for k in data.ks}
    if method == "SDP" and data.shape[1] > SDP_COLUMNS:
        return None
    return {k: _solved(data, method, k) for k in data.ks}


def _ranked(data: DataSet, name: str) -> IntArray:
    import featsieve

    extra = {"similarity": "mi"} if name == "QPFS" else {}
    selector = getattr(featsieve, name)(
        n_features_to_select=max(data.ks), discretizer=None, task="classification", **extra
    )
    order: IntArray = selector.fit(data.codes, data.y).indices_
    return order


def _solved(data: DataSet, method: str, k: int) -> IntArray:
    solver: Any = SOLVED.get(method, "auto")
    samples = LOWRANK_SAMPLES if solver == "lowrank" else None
    return solve(
        data.Q, k, solver=solver, random_state=0, n_samples=samples, bound="cheap", max_time=20.0
    ).indices


def fold_errors(data: DataSet, n_folds: int) -> Callable[[IntArray], FloatArray]:
    """Errors in percent of a linear SVM on each fold; a set that came before is not run again."""
    from sklearn.model_selection import LeaveOneOut, StratifiedKFold, cross_val_score
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler
    from sklearn.svm import SVC

    rare = int(np.bincount(data.y).min())
    alone = data.shape[0] <= LEAVE_ONE_OUT_ROWS or rare < 2
    folds: Any = (
        LeaveOneOut()
        if alone
        else StratifiedKFold(min(n_folds, rare), shuffle=True, random_state=0)
    )
    model = make_pipeline(StandardScaler(), SVC(kernel="linear", max_iter=100_000))
    known: dict[frozenset[int], FloatArray] = {}

    def errors(chosen: IntArray) -> FloatArray:
        key = frozenset(chosen.tolist())
        if key not in known:
            X = np.concatenate([data.columns[j] for j in sorted(key)], axis=1)
            known[key] = 100.0 * (1.0 - cross_val_score(model, X, data.y, cv=folds))
        return known[key]

    return errors


def error_table(
    data: DataSet, methods: Sequence[str], n_folds: int
) -> dict[str, dict[int, FloatArray]]:
    """Fold errors by method and k."""
    errors = fold_errors(data, n_folds)
    table = {}
    for method in methods:
        chosen = selections(data, method)
        if chosen is not None:
            table[method] = {k: errors(columns) for k, columns in chosen.items()}
    return table


def chosen_methods(wanted: Sequence[str] | None) -> list[str]:
    """By the paper's names in any case; all if none is given."""
    if not wanted:
        return METHODS
    known = {name.lower(): name for name in METHODS} | {"auto": OURS, "globalcmi": OURS}
    unknown = [name for name in wanted if name.lower() not in known]
    if unknown:
        raise InputError(f"there is no method {unknown[0]!r}; use some of {', '.join(known)}.")
    return list(dict.fromkeys(known[name.lower()] for name in wanted))
