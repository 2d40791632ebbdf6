"""Methods side by side on one table: error, time, stability and columns, without leaking."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from sklearn.base import clone

import featsieve
from featsieve.arrays import Array, IntArray
from featsieve.errors import InputError
from featsieve.evaluation.comparison import ComparedMethod, Comparison
from featsieve.evaluation.error_curve import fixed_folds, named_selectors
from featsieve.evaluation.fitting import (
    check_seed,
    fit_quietly,
    row_dependence,
    selected_columns,
    table_in_memory,
)
from featsieve.evaluation.journal import Journal
from featsieve.evaluation.judges import make_judge, prediction_error
from featsieve.evaluation.stability import stability
from featsieve.inference.exchange import group_codes
from featsieve.input.containers import select_columns, select_rows
from featsieve.input.parameters import (
    check_callback,
    check_integer,
    check_lengths,
    check_time,
    effective_n_jobs,
)
from featsieve.input.tables import column_names, is_sparse
from featsieve.input.targets import describe_target, encode_target, scan_target
from featsieve.runtime.journal import settings_of
from featsieve.runtime.pool import ordered_map
from featsieve.runtime.progress import Callback, Monitor, finish
from featsieve.schema import Dependence, Target

FOLD, SAMPLE, ALL = "fold", "sample", "all rows"
Key = tuple[str, str, int]


def compare(
    X: Any,
    y: Any,
    methods: Any,
    *,
    n_features_to_select: int | float | str | None = "auto",
    judges: Any = ("svm_median", "knn", "trees"),
    cv: Any = 5,
    groups: Any = None,
    n_bootstraps: int = 30,
    task: str = "auto",
    random_state: int = 0,
    n_jobs: int | None = None,
    max_time: float | None = None,
    resume: str | os.PathLike[str] | None = None,
    callback: Callback | None = None,
) -> Comparison:
    """Error, time, stability and selected columns of several methods, by nested cross-validation.

    Every fold selects on its training rows alone (with whatever inner folds the method has), trains
    the judges on the same rows with the selected columns, and counts their errors on the others.

    Parameters
    ----------
    X, y
        The table in memory (array, sparse matrix or dataframe), and the target.
    methods
        A method's name or a selector, a list of them, or a mapping name → selector.
    n_features_to_select
        For methods that leave it open (None), ``"auto"`` by default.
    judges
        A name of ``featsieve.evaluation.JUDGES`` or an estimator, or a list of them; errors are
        averaged over them.
    cv, groups
        Folds, or any splitter of scikit-learn with its groups; a number of folds keeps groups
        together. Folds inside a method keep them and the time order as well. Bootstrap samples
        draw whole groups.
    n_bootstraps
        Samples for the stability, at least 30 for its interval to hold; 0: none.
    max_time
        Seconds for each selection of a method that has such a limit.
    resume
        A file in which finished pieces are kept: a run that was killed continues where it stopped.
    n_jobs
        Threads; the answer is the same for any number.

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> X, y = load_wine(return_X_y=True)
    >>> outcome = compare(X, y, ["pc", "mrmr"], n_features_to_select=2, judges=["knn"], cv=3)
    >>> outcome["mrmr"].columns, outcome["mrmr"].error < 0.15
    (('x6', 'x0'), True)
    """
    trial = _Trial.of(X, y, judges, cv, groups, task, random_state)
    check_integer("n_bootstraps", n_bootstraps, 0)
    check_time(max_time)
    monitor = Monitor(check_callback(callback), None)
    selectors = {
        name: _settled(selector, n_features_to_select, trial.target.task, random_state, max_time)
        for name, selector in named_selectors(methods).items()
    }
    about = {**trial.about, "methods": {n: settings_of(s) for n, s in selectors.items()}}
    journal = Journal(resume, about | {"n_bootstraps": n_bootstraps})
    work = trial.keys(selectors, n_bootstraps)
    finish(
        lambda: _run(work, trial, selectors, journal, effective_n_jobs(n_jobs), monitor), monitor
    )
    rows = tuple(_row(name, trial, journal, n_bootstraps) for name in selectors)
    metric = "error_rate" if trial.target.is_classification else "unexplained"
    return Comparison(rows, metric, trial.judge_names, len(trial.folds), n_bootstraps)


@dataclass(frozen=True)
class _Trial:
    """A table with its folds, judges and bootstrap samples."""

    X: Any
    y: Any
    codes: Array
    target: Target
    folds: list[tuple[IntArray, IntArray]]
    judges: tuple[Any, ...]
    judge_names: tuple[str, ...]
    groups: Array | None
    dependence: Dependence
    seed: int

    @classmethod
    def of(cls, X: Any, y: Any, judges: Any, cv: Any, groups: Any, task: str, seed: int) -> _Trial:
        X = table_in_memory(X, y)
        target = describe_target(scan_target(y, task), task, rescale=False)
        if target.n_outputs != 1:
            raise InputError(
                "the target has several outputs; compare methods on one output at a time."
            )
        codes = encode_target(y, target)[:, 0]
        check_lengths(X.shape[0], codes)
        seed = check_seed(seed)
        folds = fixed_folds(codes, cv, groups, target.is_classification, seed)
        several = judges if isinstance(judges, (list, tuple)) else [judges]
        if not several:
            raise InputError("judges is empty; give at least one.")
        names = _different([j if isinstance(j, str) else type(j).__name__ for j in several])
        models = tuple(make_judge(judge, target.task) for judge in several)
        members = group_codes(groups, len(codes))
        kept = row_dependence(folds, members)
        return cls(X, y, codes, target, folds, models, names, members, kept, seed)

    @property
    def about(self) -> dict[str, Any]:
        """What a file of finished pieces must belong to."""
        import joblib

        return {
            "version": featsieve.__version__,
            "data": joblib.hash((self.X, self.y)),
            "folds": joblib.hash(self.folds),
            "groups": joblib.hash(self.groups),
            "judges": [settings_of(judge) for judge in self.judges],
            "seed": self.seed,
        }

    def keys(self, selectors: Mapping[str, Any], n_bootstraps: int) -> list[Key]:
        parts = [(FOLD, i) for i in range(len(self.folds))]
        parts += [(SAMPLE, i) for i in range(n_bootstraps)] + [(ALL, 0)]
        return [(name, kind, number) for kind, number in parts for name in selectors]

    def rows(self, kind: str, number: int) -> IntArray:
        if kind == FOLD:
            return self.folds[number][0]
        if kind == ALL:
            return np.arange(len(self.codes))
        return self._bootstrap(number)

    def _bootstrap(self, number: int) -> IntArray:
        """Rows (or whole groups) with replacement; drawn again while the target is constant."""
        rng = np.random.default_rng((self.seed, number))
        members = np.arange(len(self.codes)) if self.groups is None else self.groups
        names, owner = np.unique(members, return_inverse=True)
        for _ in range(100):
            drawn = rng.integers(0, len(names), len(names))
            rows = np.concatenate([np.flatnonzero(owner == group) for group in drawn])
            if len(np.unique(self.codes[rows])) > 1:
                return np.sort(rows) if self.dependence.in_order else rows
        raise InputError("bootstrap samples hold only one class; set n_bootstraps=0.")

    def kept(self, kind: str, rows: IntArray) -> Dependence:
        """Of these rows; the copies of a row that was drawn twice belong together."""
        drawn_once = kind != SAMPLE or self.groups is not None
        return (
            self.dependence.of_rows(rows) if drawn_once else replace(self.dependence, groups=rows)
        )

    def errors(self, columns: IntArray, fold: int) -> list[float]:
        train, test = self.folds[fold]
        X = select_columns(self.X, np.sort(columns))
        metric = "error_rate" if self.target.is_classification else "unexplained"
        centre = float(self.codes[train].mean())
        errors = []
        for name, judge in zip(self.judge_names, self.judges, strict=True):
            try:
                model = clone(judge).fit(select_rows(X, train), self.codes[train])
                answer = np.asarray(model.predict(select_rows(X, test)))
                errors.append(prediction_error(metric, self.codes[test], answer, centre))
            except Exception as error:
                raise InputError(f"the judge {name} failed: {_reason(error)}") from error
        return errors

    def names(self, columns: Sequence[int]) -> tuple[str, ...]:
        known = None if is_sparse(self.X) else column_names(self.X)
        return tuple(f"x{c}" if known is None else str(known[c]) for c in columns)


def _different(names: Sequence[str]) -> tuple[str, ...]:
    """The second judge of a name has its number.

    >>> _different(["knn", "LinearSVC", "LinearSVC"])
    ('knn', 'LinearSVC', 'LinearSVC 2')
    """
    seen = [names[: place + 1].count(name) for place, name in enumerate(names)]
    return tuple(f"{n} {times}" if times > 1 else n for n, times in zip(names, seen, strict=True))


def _settled(selector: Any, count: Any, task: str, seed: int, max_time: float | None) -> Any:
    """A copy that knows what it left open."""
    selector = clone(selector)
    given = selector.get_params(deep=False)
    wanted: dict[str, Any] = {}
    if "n_features_to_select" in given and given["n_features_to_select"] is None:
        wanted["n_features_to_select"] = count
    if given.get("task") == "auto":
        wanted["task"] = task
    if "random_state" in given and given["random_state"] is None:
        wanted["random_state"] = seed
    if "max_time" in given and max_time is not None:
        wanted["max_time"] = max_time
    return selector.set_params(**wanted)


def _run(
    keys: Sequence[Key],
    trial: _Trial,
    selectors: Mapping[str, Any],
    journal: Journal,
    n_jobs: int,
    monitor: Monitor,
) -> int:
    """Do what is not in the journal yet; how many pieces that was."""
    open_keys = [key for key in keys if key not in journal]
    done = len(keys) - len(open_keys)
    pieces: Iterator[Any] = ordered_map(
        lambda key: _piece(key, trial, selectors[key[0]]), open_keys, n_jobs
    )
    for key, piece in zip(open_keys, pieces, strict=True):
        journal.write(key, piece)
        done += 1
        monitor.tick(f"comparing: {key[0]}", done, len(keys))
    return len(open_keys)


def _piece(key: Key, trial: _Trial, selector: Any) -> dict[str, Any]:
    _, kind, number = key
    rows = trial.rows(kind, number)
    X, y = select_rows(trial.X, rows), select_rows(trial.y, rows)
    started = time.perf_counter()
    try:
        fitted = fit_quietly(clone(selector), X, y, trial.kept(kind, rows))
        columns = selected_columns(fitted, X.shape[1])
        seconds = time.perf_counter() - started
        errors = trial.errors(columns, number) if kind == FOLD else []
    except Exception as error:  # of a selector by anybody
        return {"failed": _reason(error)}
    return {"columns": columns.tolist(), "seconds": seconds, "errors": errors}


def _reason(error: Exception) -> str:
    """A sentence that was written for users stands alone."""
    text = " ".join(str(error).split())
    meant = isinstance(error, (InputError, TimeoutError)) and text
    return text if meant else f"{type(error).__name__}: {text}"


def _row(name: str, trial: _Trial, journal: Journal, n_bootstraps: int) -> ComparedMethod:
    folds = [journal[name, FOLD, i] for i in range(len(trial.folds))]
    samples = [journal[name, SAMPLE, i] for i in range(n_bootstraps)]
    final = journal[name, ALL, 0]
    failed = next((p["failed"] for p in [*folds, *samples, final] if "failed" in p), None)
    if failed is not None:
        nan = float("nan")
        return ComparedMethod(name, nan, nan, {}, nan, nan, None, (), failed)
    table = np.array([fold["errors"] for fold in folds])
    fold_errors = table.mean(axis=1)
    spread = (
        float(fold_errors.std(ddof=1) / np.sqrt(len(fold_errors)))
        if len(fold_errors) > 1
        else float("nan")
    )
    chosen = [sample["columns"] for sample in samples]
    return ComparedMethod(
        name,
        float(fold_errors.mean()),
        spread,
        {judge: table[:, j].tolist() for j, judge in enumerate(trial.judge_names)},
        float(np.mean([len(fold["columns"]) for fold in folds])),
        float(np.median([fold["seconds"] for fold in folds])),
        stability(chosen, trial.X.shape[1]) if len(chosen) > 1 else None,
        trial.names(final["columns"]),
    )
