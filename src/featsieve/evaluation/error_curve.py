"""Error of a judge against the number of selected columns, with the selection inside each fold."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, Literal

import numpy as np
from sklearn.base import clone

from featsieve.arrays import Array, FloatArray, IntArray
from featsieve.errors import InputError
from featsieve.evaluation.fitting import (
    check_seed,
    fit_quietly,
    row_dependence,
    selected_columns,
    table_in_memory,
)
from featsieve.evaluation.judges import METRICS, make_judge, prediction_error
from featsieve.inference.exchange import group_codes
from featsieve.input.containers import select_columns, select_rows
from featsieve.input.parameters import (
    brief,
    check_callback,
    check_choice,
    check_integer,
    check_lengths,
    check_time,
    effective_n_jobs,
    is_integer,
    not_allowed,
)
from featsieve.input.splits import fixed_splits, refuse_overlap
from featsieve.input.targets import describe_target, encode_target, scan_target
from featsieve.registry import METHODS, find_method
from featsieve.runtime.pool import ordered_map
from featsieve.runtime.progress import Callback, Monitor, finish
from featsieve.schema import Dependence

Protocol = Literal["nested", "resubstitution"]
OPTIMISTIC = "optimistic: the columns were selected on the rows that judge them"
NESTED = "nested: the columns were selected inside each fold"
# Searches whose set of k columns is the beginning of their set of more columns.
_NESTED_SEARCHES = ("ranking", "greedy", "forward")


@dataclass(frozen=True)
class ErrorCurve:
    """Errors by method, number of columns and fold.

    ``errors[name]`` is an array, counts × folds; ``selections[name][i][fold]`` the columns that
    were judged there. ``label`` says whether the errors are honest or optimistic, and is part of
    every output.

    Examples
    --------
    >>> curve = ErrorCurve((1,), {"A": np.array([[0.2, 0.4]])}, {}, "nested", "error_rate", "knn")
    >>> curve.mean("A").round(2), curve.standard_error("A").round(2)
    (array([0.3]), array([0.1]))
    """

    counts: tuple[int, ...]
    errors: dict[str, FloatArray]
    selections: dict[str, list[list[IntArray]]]
    protocol: Protocol
    metric: str
    judge: str

    @property
    def optimistic(self) -> bool:
        return self.protocol == "resubstitution"

    @property
    def label(self) -> str:
        return OPTIMISTIC if self.optimistic else NESTED

    def mean(self, method: str) -> FloatArray:
        return np.asarray(self.errors[method].mean(axis=1))

    def standard_error(self, method: str) -> FloatArray:
        errors = self.errors[method]
        n_folds = errors.shape[1]
        if n_folds < 2:
            return np.full(len(errors), np.nan)
        return np.asarray(errors.std(axis=1, ddof=1) / np.sqrt(n_folds))

    def as_dict(self) -> dict[str, Any]:
        """For JSON."""
        return {
            "protocol": self.protocol,
            "label": self.label,
            "metric": self.metric,
            "judge": self.judge,
            "counts": list(self.counts),
            "errors": {name: errors.tolist() for name, errors in self.errors.items()},
        }

    def __str__(self) -> str:
        lines = [f"{self.metric} of {self.judge} ({self.label})", ""]
        lines += ["| k | " + " | ".join(self.errors) + " |", "|---" * (1 + len(self.errors)) + "|"]
        for i, k in enumerate(self.counts):
            cells = [
                f"{self.mean(name)[i]:.3f} ± {self.standard_error(name)[i]:.3f}"
                for name in self.errors
            ]
            lines.append(f"| {k} | " + " | ".join(cells) + " |")
        return "\n".join(lines)


def error_curve(
    X: Any,
    y: Any,
    methods: Any,
    counts: Iterable[int],
    *,
    judge: Any = "svm",
    cv: Any = 10,
    groups: Any = None,
    protocol: Protocol = "nested",
    metric: str = "auto",
    task: str = "auto",
    random_state: int | None = 0,
    n_jobs: int | None = None,
    max_time: float | None = None,
    callback: Callback | None = None,
) -> ErrorCurve:
    """The error of a judge on the columns that each method selects, for each number of columns.

    Parameters
    ----------
    X, y
        The table, in any container that a selector takes, and the target.
    methods
        A method's name or a selector, a list of them, or a mapping name → selector. Selectors have
        ``n_features_to_select`` (or scikit-learn's ``k``), and are never changed.
    counts
        Numbers of columns.
    judge
        A name of ``featsieve.evaluation.JUDGES`` or an estimator.
    cv
        Folds, or any splitter of scikit-learn; with an integer, rows are shuffled by
        ``random_state``, and classes stratified, or groups kept together where there are
        ``groups``. A splitter gets them. Folds inside a method keep groups and time order as well.
    protocol
        ``"nested"``: selection inside each fold. ``"resubstitution"``: selection on all rows, as
        some papers did; the errors are then optimistic, and every output says so.
    metric
        ``"error_rate"``, ``"unexplained"`` (share of the variance), ``"rmse"``, or ``"auto"``:
        the first for classes, the second for numbers.
    n_jobs
        Threads; the answer is the same for any number.

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> X, y = load_wine(return_X_y=True)
    >>> curve = error_curve(X, y, ["pc", "mrmr"], [1, 3], judge="knn", cv=3)
    >>> curve.errors["mrmr"].shape, curve.label
    ((2, 3), 'nested: the columns were selected inside each fold')
    """
    check_choice("protocol", protocol, ("nested", "resubstitution"))
    monitor = Monitor(check_callback(callback), check_time(max_time))
    if random_state is not None:
        check_seed(random_state)
    X = table_in_memory(X, y)
    trial = _prepare(X, y, judge, cv, groups, metric, task, random_state)
    sizes = _counts(counts, X.shape[1])
    selectors = {name: trial.settled(s) for name, s in named_selectors(methods).items()}
    work = _nested if protocol == "nested" else _resubstituted
    jobs = effective_n_jobs(n_jobs)
    tables = finish(lambda: list(work(trial, selectors, sizes, jobs, monitor)), monitor)
    errors = {name: np.array([[cell[0] for cell in row] for row in t]) for name, t in tables}
    chosen = {name: [[cell[1] for cell in row] for row in t] for name, t in tables}
    judge_name = judge if isinstance(judge, str) else type(judge).__name__
    return ErrorCurve(tuple(sizes), errors, chosen, protocol, trial.metric, judge_name)


@dataclass(frozen=True)
class _Trial:
    """A table with its folds, task and judge."""

    X: Any
    y: Any
    target: Array  # class codes, or numbers
    folds: list[tuple[IntArray, IntArray]]
    judge: Any
    metric: str
    task: str
    seed: int | None
    dependence: Dependence

    def settled(self, selector: Any) -> Any:
        """A copy that knows the task and the seed, where it left them open."""
        selector = clone(selector)
        given = selector.get_params(deep=False)
        if given.get("task") == "auto":
            selector.set_params(task=self.task)
        if "random_state" in given and given["random_state"] is None:
            selector.set_params(random_state=self.seed)
        return selector

    def chosen(self, selector: Any, sizes: Sequence[int], rows: IntArray) -> list[IntArray]:
        """The columns selected on these rows, for each size."""
        X, y = select_rows(self.X, rows), select_rows(self.y, rows)
        kept = self.dependence.of_rows(rows)
        if _is_prefix(selector):
            order = _selected(selector, max(sizes), X, y, kept)
            return [order[:size] for size in sizes]
        return [_selected(selector, size, X, y, kept) for size in sizes]

    def error(self, columns: IntArray, fold: tuple[IntArray, IntArray]) -> float:
        train, test = fold
        X = select_columns(self.X, np.sort(columns))
        model = clone(self.judge).fit(select_rows(X, train), self.target[train])
        answer = model.predict(select_rows(X, test))
        centre = float(self.target[train].mean())
        return prediction_error(self.metric, self.target[test], answer, centre)


Cells = list[list[tuple[float, IntArray]]]


def _nested(
    trial: _Trial, selectors: Mapping[str, Any], sizes: list[int], jobs: int, monitor: Monitor
) -> Iterator[tuple[str, Cells]]:
    def piece(task: tuple[Any, tuple[IntArray, IntArray]]) -> list[tuple[float, IntArray]]:
        selector, fold = task
        columns = trial.chosen(selector, sizes, fold[0])
        return [(trial.error(chosen, fold), chosen) for chosen in columns]

    tasks = [(selector, fold) for selector in selectors.values() for fold in trial.folds]
    done = list(_ticked(ordered_map(piece, tasks, jobs), len(tasks), monitor))
    for i, name in enumerate(selectors):
        folds = done[i * len(trial.folds) : (i + 1) * len(trial.folds)]
        yield name, [[fold[j] for fold in folds] for j in range(len(sizes))]


def _resubstituted(
    trial: _Trial, selectors: Mapping[str, Any], sizes: list[int], jobs: int, monitor: Monitor
) -> Iterator[tuple[str, Cells]]:
    everything = np.arange(len(trial.target))
    total = len(selectors) * len(sizes)
    for i, (name, selector) in enumerate(selectors.items()):
        rows = []
        for j, columns in enumerate(trial.chosen(selector, sizes, everything)):
            judged = ordered_map(partial(trial.error, columns), trial.folds, jobs)
            rows.append([(error, columns) for error in judged])
            monitor.tick("judging columns", i * len(sizes) + j + 1, total)
        yield name, rows


def _ticked(pieces: Iterator[Any], total: int, monitor: Monitor) -> Iterator[Any]:
    for done, piece in enumerate(pieces, 1):
        monitor.tick("judging columns", done, total)
        yield piece


def _prepare(
    X: Any, y: Any, judge: Any, cv: Any, groups: Any, metric: str, task: str, seed: int | None
) -> _Trial:
    described = describe_target(scan_target(y, task), task, rescale=False)
    if described.n_outputs != 1:
        raise InputError("the target has several outputs; judge one output at a time.")
    target = encode_target(y, described)[:, 0]
    check_lengths(X.shape[0], target)
    if metric == "auto":
        metric = "error_rate" if described.is_classification else "unexplained"
    check_choice("metric", metric, METRICS, also="'auto'")
    if (metric == "error_rate") != described.is_classification:
        raise InputError(f"metric={metric!r} does not fit the task {described.task!r}.")
    folds = fixed_folds(target, cv, groups, described.is_classification, seed)
    model = make_judge(judge, described.task)
    kept = row_dependence(folds, group_codes(groups, len(target)))
    return _Trial(X, y, target, folds, model, metric, described.task, seed, kept)


def fixed_folds(
    y: Array, cv: Any, groups: Any, classes: bool, seed: int | None
) -> list[tuple[IntArray, IntArray]]:
    """(training rows, test rows) of every fold, the same for all methods."""
    if is_integer(cv):
        check_integer("cv", cv, 2, len(y))
        cv = _numbered_folds(y, int(cv), groups is not None, classes, seed)
    X = np.zeros((len(y), 1))
    splits = fixed_splits(cv, X, y, classifier=classes, params={"groups": groups})
    refuse_overlap(splits, cv)
    return splits


def _numbered_folds(y: Array, n_folds: int, grouped: bool, classes: bool, seed: int | None) -> Any:
    from sklearn.model_selection import GroupKFold, KFold, StratifiedKFold

    if grouped:
        return GroupKFold(n_folds)
    splitter = StratifiedKFold if classes and np.bincount(y).min() >= n_folds else KFold
    return splitter(n_folds, shuffle=True, random_state=seed)


def _counts(counts: Iterable[int], n_columns: int) -> list[int]:
    if not isinstance(counts, Iterable):
        raise not_allowed("counts", counts, "a list of numbers of columns, such as [5, 10]")
    sizes = [check_integer("counts", size, 1, n_columns) for size in counts]
    if not sizes:
        raise InputError("counts is empty; give at least one number of columns.")
    return sizes


def named_selectors(methods: Any) -> dict[str, Any]:
    """Name → selector, out of names, selectors, lists of both, or a mapping."""
    if isinstance(methods, Mapping):
        pairs = [(str(name), method) for name, method in methods.items()]
    else:
        several = methods if isinstance(methods, (list, tuple)) else [methods]
        pairs = [(m if isinstance(m, str) else type(m).__name__, m) for m in several]
    if not pairs:
        raise InputError("methods is empty; give at least one.")
    named: dict[str, Any] = {}
    for name, method in pairs:
        if name in named:
            raise InputError(f"there are two methods named {name!r}; give a mapping of names.")
        named[name] = _selector(method)
    return named


def _selector(method: Any) -> Any:
    if isinstance(method, str):
        try:
            return find_method(method).load()()
        except KeyError:
            raise InputError(f"there is no method {method!r}; see 'featsieve methods'.") from None
    if isinstance(method, type) or not hasattr(method, "get_support"):
        raise InputError(f"{brief(method)} is not a selector; give an object with get_support.")
    return method


def _is_prefix(selector: Any) -> bool:
    """Whether k columns are the first k of more columns; only for our own methods."""
    name = type(selector).__name__
    method = next((m for m in METHODS if m.name == name and m.load() is type(selector)), None)
    return method is not None and method.search in _NESTED_SEARCHES


def _selected(selector: Any, size: int, X: Any, y: Any, kept: Dependence) -> IntArray:
    """Selected columns, best first where the selector has an order."""
    selector = clone(selector)
    words = selector.get_params(deep=False)
    name = "n_features_to_select" if "n_features_to_select" in words else "k"
    if name not in words:
        raise InputError(f"{type(selector).__name__} has no n_features_to_select to set.")
    fitted = fit_quietly(selector.set_params(**{name: size}), X, y, kept)
    return selected_columns(fitted, X.shape[1])
