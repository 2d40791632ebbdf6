"""SVC and SVR errors of selected columns, as P-LSMI's Table 7 and Figure 1 have them.

The paper's deviations are 0.00 for deterministic methods on sets of fewer than 400 rows, so its
errors come from cross-validation on the very rows that the columns were selected on. This protocol
is repeated here; it is optimistic, and the reports say so.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np

from featsieve.arrays import IntArray
from featsieve.evaluation.benches._frame import Request, by_name
from featsieve.evaluation.benches._tables import Shape, Table, read_table, table_paths
from featsieve.evaluation.benches.p_lsmi_table4 import COLUMNS
from featsieve.evaluation.encoding import TableEncoder
from featsieve.evaluation.error_curve import OPTIMISTIC
from featsieve.evaluation.fitting import fit_quietly, selected_columns
from featsieve.evaluation.judges import JUDGES
from featsieve.input.columns import categorical_by_dtype
from featsieve.registry import find_method

N_SAMPLES = 400
RAW_TARGETS = ("housing",)  # RMSE in the target's own unit; all others in standard deviations
QUICK_ROWS, QUICK_COLUMNS = 220, 15
METHODS = ("PC", "F-HSIC", "F-LSMI", "l1-HSIC", "l1-LSMI", "mRMR", "QPFS", "Lasso", "Relief")
# Sets of Table 6 by their names in a data folder.
PAPER_SETS = (
    "wine", "glass", "bcancer", "ionosphere", "housing", "image", "vehicle", "abalone", "cpuact",
    "satimage", "musk1", "isolet", "flaresolar", "vowel", "segment", "german", "spectf",
    "senseval2", "speech", "sonar", "msd", "musk2", "ctslices",
)  # fmt: skip
PROTOCOL = (
    f"Each trial draws {N_SAMPLES} rows (all, where there are no more). Columns are selected on "
    "all of them; the error is that of 5-fold cross-validation of an SVC (error rate) or SVR "
    "(RMSE) with Gaussian kernel on the same rows, at the best pair of C and width of a grid: "
    f"**{OPTIMISTIC}**. The paper's deviations of 0.00 on sets of fewer than {N_SAMPLES} rows show "
    "that it did so, too, with the same folds in each trial; its grid and folds are not known. "
    "Here each trial has folds of its own, so that our deviations hold the luck of the folds."
)


def chosen_methods(request: Request, allowed: Sequence[str] = METHODS) -> list[str]:
    return by_name(request.methods, {name: COLUMNS[name][0] for name in allowed}, "this bench")


def paths(request: Request) -> dict[str, Path]:
    return table_paths(
        request,
        paper=PAPER_SETS,
        usable=lambda table: table.n_columns > 4,
        quick=lambda table: table.n_rows <= QUICK_ROWS and table.n_columns <= QUICK_COLUMNS,
    )


@lru_cache(maxsize=2)
def sample(path: Path, seed: int) -> Table:
    """The rows of a trial; the whole table, in its own order, where it is small."""
    table = read_table(path)
    if table.n_rows <= N_SAMPLES:
        return table
    order = np.random.default_rng(seed).permutation(table.n_rows)
    return table.rows(np.sort(order[:N_SAMPLES]))


def refuses(method: str, table: Shape) -> str:
    """Why a method is not run on a table, as in the paper; empty where it is."""
    if method == "Lasso" and table.n_classes > 2:
        return "the paper's Lasso has two classes or numbers"
    if method in ("F-HSIC", "F-LSMI") and table.n_columns > 300:
        return "left out by the paper for its time"
    return ""


def trial(path: Path, method: str, k: int, seed: int) -> dict[str, Any]:
    """Error, seconds of the selection, and the columns."""
    chosen, seconds = selected(sample(path, seed), method, k, seed)
    error = _judged(path, seed, tuple(chosen.tolist()))
    return {"error": error, "seconds": seconds, "columns": chosen.tolist()}


def selected(table: Table, method: str, k: int, seed: int) -> tuple[IntArray, float]:
    """The columns in their order in the table, and the seconds it took."""
    name, params = COLUMNS[method]
    selector = find_method(name).load()(n_features_to_select=k, task=table.task, **params)
    if "random_state" in selector.get_params():
        selector.set_params(random_state=seed)
    # Arrays are faster to pass over than frames; frames say which columns are categories.
    X = table.frame if categorical_by_dtype(table.frame) else table.frame.to_numpy()
    start = time.perf_counter()
    chosen = np.sort(selected_columns(fit_quietly(selector, X, table.y)))
    return chosen, time.perf_counter() - start


@lru_cache(maxsize=4096)
def _judged(path: Path, seed: int, columns: tuple[int, ...]) -> float:
    """Methods that choose the same columns of the same rows share the judgement."""
    table = sample(path, seed)
    X = TableEncoder().fit_transform(table.frame.iloc[:, list(columns)])
    machine = JUDGES["svm"].model(table.task).set_params(random_state=seed).fit(X, table.y)
    mean = float(machine.cv_errors_.mean())
    if table.classes:
        return mean
    return mean**0.5 * (machine.spread_ if table.name in RAW_TARGETS else 1.0)
