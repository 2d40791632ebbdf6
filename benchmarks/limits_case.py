"""Fits under a limit in a process of their own: tables, methods, and what is measured."""

from __future__ import annotations

import json
import re
import sys
import threading
import time
import warnings
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np

import featsieve
from featsieve.registry import METHODS, find_method
from featsieve.runtime import progress

K = 5
PARTITION_BYTES = 1 << 24
MIB = 1 << 20


@dataclass(frozen=True)
class Shape:
    """A table of normal numbers; the target depends on two of its columns."""

    name: str
    n_rows: int
    n_columns: int
    n_classes: int = 0
    row_group: int = 0  # 0: all rows

    @property
    def words(self) -> str:
        classes = f", {self.n_classes} classes" if self.n_classes else ""
        return f"{self.n_rows:,} × {self.n_columns:,}{classes}"

    def data(self, folder: Path) -> tuple[Path, Path]:
        """X and y as .npy, made once."""
        X_path, y_path = folder / f"{self.stem}.npy", folder / f"{self.stem}-y.npy"
        if not y_path.exists():
            rng = np.random.default_rng(0)
            X = rng.normal(size=(self.n_rows, self.n_columns))
            y = X[:, 0] + X[:, 1] + 0.5 * rng.normal(size=self.n_rows)
            if self.n_classes:
                y = np.argsort(np.argsort(y)) * self.n_classes // self.n_rows
            np.save(X_path, X)
            np.save(y_path, y)
        return X_path, y_path

    @property
    def stem(self) -> str:
        return f"{self.n_rows}-{self.n_columns}-{self.n_classes}"

    def parquet(self, folder: Path) -> Path:
        """With a target of numbers or classes, and one of two classes."""
        path = folder / f"{self.stem}-{self.row_group}.parquet"
        if not path.exists():
            import pyarrow as pa
            import pyarrow.parquet as pq

            X, y = map(np.load, self.data(folder))
            names = [*(f"x{j}" for j in range(self.n_columns)), "y", "two"]
            table = pa.table([*map(pa.array, X.T), pa.array(y), pa.array(two_classes(y))], names)
            half = path.with_suffix(".half")  # a run that is ended here leaves no broken table
            pq.write_table(table, half, row_group_size=self.row_group or self.n_rows)
            half.rename(path)
        return path


def two_classes(y: Any) -> Any:
    return (y > np.median(y)).astype(np.int64)


TIME_SHAPES = {
    shape.name: shape
    for shape in (
        Shape("tall", 1_000_000, 10, row_group=100_000),
        Shape("wide", 100, 50_000, n_classes=2),
        Shape("square", 2000, 2000),
        Shape("long rows", 1000, 20_000, n_classes=2),
        Shape("many classes", 20_000, 50, n_classes=100),
    )
}
# About 330 MB each: five times the limit of 64 MiB.
MEMORY_SHAPES = {
    f"{name}, row groups of {words}": Shape(name, n_rows, n_columns, row_group=row_group)
    for name, n_rows, n_columns in (("tall", 860_000, 50), ("wide", 43_000, 1000))
    for words, row_group in (("10⁴", 10**4), ("10⁵", 10**5), ("all rows", 0))
}
SHAPES = TIME_SHAPES | MEMORY_SHAPES
ENGINES = ("memory", "parquet", "dask")

# Other ways to run a method than by its defaults, of which a limit must hold as well.
VARIANTS: dict[str, dict[str, Any]] = {
    "PearsonRanking n_permutations": {"n_permutations": 10_000},
    "MaxRel n_permutations": {"n_permutations": 1000},
    "MaxRel ksg": {"estimator": "ksg"},
    "MRMR half": {"n_features_to_select": 0.5},
    "JMI caim": {"discretizer": "caim", "n_features_to_select": 0.5},
    "LassoSelector auto": {"n_features_to_select": "auto"},
    "LassoSelector half": {"n_features_to_select": 0.5},
    "LassoSelector no folds": {"cv": 0, "n_features_to_select": 0.5},
    **{
        f"{name} half": {"n_features_to_select": 0.5}
        for name in ("LDFS", "PrincipalFeatures", "HSFS", "RidgeForward", "QPFS")
    },
    "L1LSMI auto": {"n_features_to_select": "auto"},
    "BLSMI many": {"n_features_to_select": 0.9},
    "HSICLasso blocks": {"n_blocks": 10},
    "HSICLasso nystrom": {"approximation": "nystrom"},
    "BAHSIC exact": {"approximation": "none"},
    "BAHSIC median": {"bandwidth": "median"},
    "FOHSIC optimize": {"bandwidth": "optimize"},
    "HSICRanking exact": {"approximation": "none"},
    "QPFS mi": {"similarity": "mi"},
    **{
        f"GlobalCMI {solver}": {"solver": solver}
        for solver in ("linear", "spectral", "sdp", "tpower", "lowrank", "exact")
    },
    "GlobalCMI sdp bound": {"solver": "linear", "bound": "sdp"},
    "R2W2 linear": {"kernel": "linear"},
    "LaplacianScore neighbours": {"graph": "knn"},
    "SPEC neighbours": {"graph": "knn"},
    "WrapperSelector exhaustive": {"search": "exhaustive", "n_features_to_select": 1},
    "WrapperSelector auto": {"n_features_to_select": "auto"},
}


def case_names() -> list[str]:
    return [*(method.name for method in METHODS), *VARIANTS]


def selector(case: str, **limits: Any) -> Any:
    method = find_method(case.split()[0])
    given = {"n_features_to_select": K} | VARIANTS.get(case, {}) | limits
    built = method.load()()
    known = built.get_params(deep=False)
    if known.get("estimator", "") is None:
        from sklearn.linear_model import Ridge, RidgeClassifier

        given["estimator"] = RidgeClassifier() if "class" in case else Ridge()
    if "random_state" in known:
        given["random_state"] = 0
    return built.set_params(**{name: value for name, value in given.items() if name in known})


def needs_classes(case: str) -> bool:
    return find_method(case.split()[0]).target == "classes"


def make_tables(engine: str, shapes: list[str], folder: Path) -> None:
    """What is made already stays."""
    for shape in (SHAPES[name] for name in shapes):
        make = shape.parquet if engine == "parquet" else shape.data
        make(folder)


def open_data(engine: str, shape: Shape, folder: Path, classes: bool) -> tuple[Any, Any]:
    if engine == "parquet":
        column = "two" if classes and not shape.n_classes else "y"
        return featsieve.open_parquet(shape.parquet(folder)), column
    X_path, y_path = shape.data(folder)
    y = np.load(y_path)
    y = two_classes(y) if classes and not shape.n_classes else y
    if engine == "memory":
        return np.load(X_path), y
    return partitions(X_path, shape), y


def partitions(path: Path, shape: Shape) -> Any:
    """A Dask array that reads each partition when it is needed.

    A copy: rows that are only mapped count as resident memory once they have been read.
    """
    import dask
    import dask.array as da

    def rows(start: int, stop: int) -> Any:
        return np.array(np.load(path, mmap_mode="r")[start:stop])

    step = max(PARTITION_BYTES // (8 * shape.n_columns), 1)
    spans = [(i, min(i + step, shape.n_rows)) for i in range(0, shape.n_rows, step)]
    read = dask.delayed(rows)
    return da.concatenate(
        [da.from_delayed(read(i, j), (j - i, shape.n_columns), dtype=np.float64) for i, j in spans]
    )


@dataclass(frozen=True)
class Outcome:
    """What one fit took."""

    seconds: float
    growth: int  # bytes of resident memory, at most, beyond what was held before
    answer: str
    clock: str = "cpu"


def peak_bytes() -> int:
    status = Path("/proc/self/status").read_text()
    return 1024 * int(re.findall(r"VmHWM:\s+(\d+)", status)[0])


def reset_peak() -> int:
    Path("/proc/self/clear_refs").write_text("5")
    return peak_bytes()


def fit(case: str, data: tuple[Any, Any], held: int = 0, **limits: Any) -> Outcome:
    """``held``: bytes that the process held before it knew of any large table."""
    for thread in threading.enumerate():
        if thread.name.startswith("featsieve-reader"):  # of a batch that the last fit did not take
            thread.join()
    reset_peak()
    before = held + (data[0].nbytes if isinstance(data[0], np.ndarray) else 0)
    clock = progress.perf_counter
    started = clock()
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            answer = selector(case, **limits).fit(*data).result_.stop_reason
    except (TimeoutError, MemoryError, ValueError) as error:
        answer = f"{type(error).__name__}: {error}"
    kind = "cpu" if clock is time.process_time else "wall"
    return Outcome(clock() - started, peak_bytes() - before, answer, kind)


def warm(case: str, engine: str, folder: Path, memory_limit: Any) -> None:
    """Small tables first, so that imports and compiled code are not counted."""
    for n_classes in (0, 2, 5):
        small = Shape("small", 160, 6, n_classes=n_classes)  # fewer rows need no kernels
        data = open_data(engine, small, folder, needs_classes(case))
        fit(case, data, memory_limit=memory_limit)


def main(
    cases: list[str], engine: str, shapes: list[str], folder: Path, clock: str, **limits: Any
) -> None:
    """All cases on all shapes; each outcome goes to standard output as soon as it is there.

    Memory is what it is in a process of one case; for time, one process can serve all. With the
    clock "cpu" both the library and the measurement count seconds of processor time, of all
    threads together: on a machine with other work that is what a fit takes alone, or more.
    """
    if clock == "cpu":
        progress.perf_counter = time.process_time
    opened: dict[tuple[str, bool], Any] = {}
    for case in cases:
        warm(case, engine, folder, limits["memory_limit"])
        held = reset_peak()
        for name in shapes:
            key = name, needs_classes(case)
            if key not in opened:
                opened[key] = open_data(engine, SHAPES[name], folder, needs_classes(case))
            outcome = fit(case, opened[key], held, **limits)
            if len(cases) == 1:
                opened.clear()
            print(json.dumps([case, name, asdict(outcome)]), flush=True)


if __name__ == "__main__":
    given = json.loads(sys.argv[1])
    main(**(given | {"folder": Path(given["folder"])}))
