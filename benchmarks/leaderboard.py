"""A leaderboard: all selectors of featsieve and of other packages on real tables.

    python -m benchmarks.leaderboard --data FOLDER [--journal FILE] [--quick]
    python -m benchmarks.leaderboard --data FOLDER --part 1/2 --journal a.jsonl     (one process)
    python -m benchmarks.leaderboard --data FOLDER --part 2/2 --journal b.jsonl     (another)
    python -m benchmarks.leaderboard --data FOLDER --report-only --journal a.jsonl b.jsonl
    python -m benchmarks.leaderboard --data FOLDER --datasets new --journal c.jsonl  (then, to add:)
    python -m benchmarks.leaderboard --data FOLDER --report-only --journal leaderboard.json c.jsonl

Every set is split twice into at most 500 rows to learn from and 1,000 to be judged on. A method
selects k = 5, 10 and 20 columns from the first; three judges (a Gaussian SVM of median width, five
nearest neighbours, extremely randomised trees) are trained on the same rows with those columns only
and predict the others. So the judged rows are never seen by a selection, nor by the inner folds of
AutoSelector. Finished cells are in the journal: a killed run continues, and gives the same table.

``--protocol cherepanova`` adds as many useless columns as a set has (random, corrupted copies,
products of two columns), as Cherepanova et al. (2023) do, on the sets of few numeric columns; as
many columns are selected as the set had before.

Times are CPU seconds of one process, because the machine may be busy; limits count them, too.
"""

from __future__ import annotations

import argparse
import signal
import time
import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.leaderboard_peers import PEERS, run_peer
from benchmarks.leaderboard_report import write_leaderboard
from featsieve.evaluation.journal import Journal
from featsieve.evaluation.judges import make_judge, prediction_error
from featsieve.registry import METHODS
from featsieve.runtime import progress
from featsieve.runtime.pool import single_threaded_blas

JUDGES = ("svm_median", "knn", "trees")
COUNTS = (5, 10, 20)
N_SPLITS = 2
MOST_TRAIN, MOST_TEST = 500, 1000
LIMIT = 10.0  # CPU seconds of one selection; AutoSelector has its own default of 60
AUTO, OWN_COUNT = "AutoSelector", "AutoSelector, own count"
# Another form of a set that is there already: each table should count once.
DOUBLES = {
    "abalone",
    "bcancer",
    "breastw",
    "cleveland",
    "leukemia_continuous",
    "splice_libsvm",
}
# They need a measure or a model, or control false discoveries instead of finding k columns.
LEFT_OUT = {"FeatureSelector", "WrapperSelector", "KnockoffSelector", "StabilitySelector"}
EXTRA_KINDS = ("random", "corrupted", "second-order")


@dataclass(frozen=True)
class Table:
    """A set as featsieve sees it, and as packages see it that want numbers only."""

    name: str
    frame: Any
    numbers: np.ndarray
    y: np.ndarray
    task: str
    n_own: int | None = None  # columns before useless ones were added

    @property
    def n_columns(self) -> int:
        return self.numbers.shape[1]

    def counts(self, wanted: tuple[int, ...]) -> list[int]:
        if self.n_own is not None:
            return [self.n_own]
        return [k for k in wanted if k < self.n_columns]


def load(path: Path) -> Table:
    import pandas as pd

    frame = pd.read_parquet(path)
    y = frame.pop("target")
    labels = y.to_numpy()
    is_classes = y.dtype.kind not in "fiu" or (
        (labels == np.round(labels.astype(float))).all() and y.nunique() <= max(20, np.sqrt(len(y)))
    )
    target = np.unique(labels.astype(str), return_inverse=True)[1] if is_classes else labels
    task = "classification" if is_classes else "regression"
    dtype = int if is_classes else float
    return Table(path.stem, frame, _as_numbers(frame), np.asarray(target, dtype=dtype), task)


def _as_numbers(frame: Any) -> np.ndarray:
    columns = []
    for name in frame.columns:
        column = frame[name]
        if column.dtype.kind in "fiub":
            values = column.to_numpy(dtype=float)
            columns.append(np.where(np.isfinite(values), values, np.nanmedian(values)))
        else:
            columns.append(column.astype("category").cat.codes.to_numpy(dtype=float))
    return np.stack(columns, axis=1)


def with_extra_columns(table: Table, kind: str, seed: int = 0) -> Table:
    """As many useless columns again (Cherepanova et al. 2023)."""
    import pandas as pd

    rng = np.random.default_rng(seed)
    X, (n, m) = table.numbers, table.numbers.shape
    scaled = (X - X.mean(axis=0)) / np.maximum(X.std(axis=0), 1e-12)
    if kind == "random":
        extra = rng.normal(size=(n, m))
    elif kind == "corrupted":
        extra = scaled + rng.normal(size=(n, m))
    else:
        pairs = np.array(list(combinations(range(m), 2)))
        first, second = rng.choice(pairs, m, replace=False).T
        extra = scaled[:, first] * scaled[:, second]
    numbers = np.concatenate([scaled, extra], axis=1)
    frame = pd.DataFrame(numbers, columns=[f"x{j}" for j in range(2 * m)])
    return Table(f"{table.name} + {kind}", frame, numbers, table.y, table.task, m)


def splits(table: Table) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """Rows to learn from and rows to be judged on; classes keep their shares."""
    from sklearn.model_selection import ShuffleSplit, StratifiedShuffleSplit

    n = len(table.y)
    n_train = min(MOST_TRAIN, 2 * n // 3)
    n_test = min(MOST_TEST, n - n_train)
    counts = np.bincount(table.y) if table.task == "classification" else np.array([n])
    stratify = table.task == "classification" and counts[counts > 0].min() >= 2
    splitter = StratifiedShuffleSplit if stratify else ShuffleSplit
    yield from splitter(N_SPLITS, train_size=n_train, test_size=n_test, random_state=0).split(
        table.numbers, table.y
    )


def selected(table: Table, rows: np.ndarray, method: str, k: int | str) -> np.ndarray:
    if method in PEERS:
        return run_peer(method, table.numbers[rows], table.y[rows], int(k), table.task, 0)
    build = next(m for m in METHODS if m.name == method.partition(",")[0]).load()
    selector = build(n_features_to_select=k, task=table.task)
    known = selector.get_params(deep=False)
    if "random_state" in known and known["random_state"] is None:
        selector.set_params(random_state=0)
    if build.__name__ != AUTO:
        selector.set_params(max_time=LIMIT)
    frame = table.frame.iloc[rows]
    if not selector.__sklearn_tags__().input_tags.allow_nan:
        frame = _filled(frame)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return np.asarray(selector.fit(frame, table.y[rows]).indices_)


def _filled(frame: Any) -> Any:
    """Medians for numbers, a state of its own for missing text."""
    frame = frame.copy()
    for name in frame.columns:
        if frame[name].isna().any():
            is_number = frame[name].dtype.kind in "fiub"
            value = frame[name].median() if is_number else "missing"
            column = frame[name] if is_number else frame[name].astype(object)
            frame[name] = column.fillna(value if value == value else 0.0)
    return frame


class Bench:
    """The cells of the table: one per set, split, method and count."""

    def __init__(self, journal: Journal, counts: tuple[int, ...], methods: list[str]) -> None:
        self.journal, self.counts, self.methods = journal, counts, methods
        self.known: dict[Any, list[float]] = {}

    def run(self, table: Table) -> None:
        counts = table.counts(self.counts)
        for split, (train, test) in enumerate(splits(table)):
            self.known.clear()
            for method in self.methods:
                wanted: list[int | str] = ["auto"] if method == OWN_COUNT else list(counts)
                for k in wanted:
                    key = (table.name, split, method, k)
                    work = partial(self.cell, table, train, test, method, k)
                    self.journal.piece(key, work)

    def cell(self, table: Table, train: Any, test: Any, method: str, k: Any) -> dict[str, Any]:
        started = time.process_time()
        try:
            with _cpu_limit(3 * LIMIT if not method.startswith(AUTO) else 120.0):
                columns = selected(table, train, method, k)
        except Exception as error:
            words = " ".join(str(error).split())[:200]
            return {"failed": f"{type(error).__name__}: {words}"}
        seconds = time.process_time() - started
        if not len(columns):
            return {"failed": "it selected nothing"}
        errors = self.errors(table, train, test, columns)
        return {"errors": errors, "seconds": round(seconds, 3), "columns": columns.tolist()}

    def errors(self, table: Table, train: Any, test: Any, columns: np.ndarray) -> list[float]:
        key = frozenset(columns.tolist())
        if key not in self.known:
            self.known[key] = [
                self.error(judge, table, train, test, np.sort(columns)) for judge in JUDGES
            ]
        return self.known[key]

    def error(self, judge: str, table: Table, train: Any, test: Any, columns: Any) -> float:
        frame = table.frame.iloc[:, columns]
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            model = make_judge(judge, table.task).fit(frame.iloc[train], table.y[train])
            answer = model.predict(frame.iloc[test])
        metric = "error_rate" if table.task == "classification" else "unexplained"
        centre = float(table.y[train].mean())
        return round(float(prediction_error(metric, table.y[test], answer, centre)), 6)


class _cpu_limit:  # noqa: N801 - used as a word
    """TimeoutError after so many CPU seconds of this process, for code without a limit."""

    def __init__(self, seconds: float) -> None:
        self.seconds = seconds

    def __enter__(self) -> None:
        def stop(signum: int, frame: Any) -> None:
            raise TimeoutError(f"more than {self.seconds:g} CPU seconds")

        signal.signal(signal.SIGPROF, stop)
        signal.setitimer(signal.ITIMER_PROF, self.seconds)

    def __exit__(self, *_: Any) -> None:
        signal.setitimer(signal.ITIMER_PROF, 0)


def contenders() -> list[str]:
    ours = [m.name for m in METHODS if m.name not in {*LEFT_OUT, AUTO}]
    return [AUTO, OWN_COUNT, *ours, *PEERS]


def _files(folder: Path) -> list[Path]:
    return [p for p in sorted(folder.glob("*.parquet")) if p.stem not in DOUBLES]


def tables(folder: Path, protocol: str, names: list[str] | None) -> list[Table]:
    """Small ones first, so that a table is there early."""
    tables = [load(p) for p in _files(folder) if names is None or p.stem in names]
    if protocol == "cherepanova":
        few = [
            t
            for t in tables
            if 8 <= t.n_columns <= 60 and t.frame.dtypes.map(lambda d: d.kind in "fiub").all()
        ]
        tables = [with_extra_columns(t, kind) for t in few for kind in EXTRA_KINDS]
    return sorted(tables, key=lambda t: min(len(t.y), 750) * t.n_columns)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--journal", type=Path, nargs="+", default=[Path("leaderboard.jsonl")])
    parser.add_argument("--part", default="1/1", help="2/3: the second of three shares of the sets")
    parser.add_argument("--protocol", choices=["plain", "cherepanova"], default="plain")
    parser.add_argument("--datasets", type=lambda text: text.split(","))
    parser.add_argument("--methods", type=lambda text: text.split(";"))
    parser.add_argument("--quick", action="store_true", help="k = 5 only, five small sets")
    parser.add_argument("--report-only", action="store_true")
    parser.add_argument("--out", default=None, help="name of the report in benchmarks/results")
    arguments = parser.parse_args()
    progress.perf_counter = time.process_time  # type: ignore[attr-defined] # the machine is shared
    counts = (5,) if arguments.quick else COUNTS
    plain = arguments.protocol == "plain"
    about = {
        "counts": list(counts) if plain else "as many as the set had",
        "protocol": arguments.protocol,
        "splits": N_SPLITS,
    }
    journal = Journal(None if arguments.report_only else arguments.journal[0], about)
    methods = arguments.methods or contenders()
    bench = Bench(journal, counts, methods)
    if not arguments.report_only:
        chosen = tables(arguments.data, arguments.protocol, arguments.datasets)
        part, n_parts = map(int, arguments.part.split("/"))
        for table in chosen[:5] if arguments.quick else chosen[part - 1 :: n_parts]:
            started = time.time()
            with single_threaded_blas():
                bench.run(table)
            print(f"{table.name}: {time.time() - started:.0f} s", flush=True)
    name = arguments.out or f"leaderboard{'-extra' * (arguments.protocol != 'plain')}"
    offered = [path.stem for path in _files(arguments.data)]
    print(write_leaderboard(arguments.journal, name, arguments.protocol, offered))


if __name__ == "__main__":
    main()
