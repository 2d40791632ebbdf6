"""Tables of the benches that run on real data: every NAME.parquet of a folder."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cache, lru_cache
from pathlib import Path
from typing import Any

import numpy as np

from featsieve.arrays import Array, IntArray
from featsieve.errors import InputError
from featsieve.evaluation.benches._frame import Request

MOST_CLASSES = 26


@dataclass(frozen=True)
class Table:
    """A frame without gaps (numbers at the median, a state of its own for text), and a target."""

    name: str
    frame: Any = field(repr=False)
    y: Array = field(repr=False)
    classes: bool

    @property
    def task(self) -> str:
        return "classification" if self.classes else "regression"

    @property
    def n_rows(self) -> int:
        return len(self.y)

    @property
    def n_columns(self) -> int:
        return int(self.frame.shape[1])

    @property
    def n_classes(self) -> int:
        return len(np.unique(self.y)) if self.classes else 0

    def rows(self, rows: IntArray) -> Table:
        return Table(self.name, self.frame.iloc[rows], self.y[rows], self.classes)


@dataclass(frozen=True)
class Shape:
    """What a file says of its table without reading the columns."""

    name: str
    n_rows: int
    n_columns: int
    n_classes: int  # 0: numbers

    @property
    def classes(self) -> bool:
        return self.n_classes > 0


@cache
def shape_of(path: Path) -> Shape:
    import pyarrow.parquet as pq

    file = pq.ParquetFile(path)
    y, classes = _target(path)
    n_classes = len(np.unique(y)) if classes else 0
    n_columns = len(file.schema_arrow.names) - 1
    return Shape(path.stem, file.metadata.num_rows, n_columns, n_classes)


def _target(path: Path) -> tuple[Array, bool]:
    """Codes of classes (text, or at most 26 different integers), or numbers."""
    import pandas as pd

    target = pd.read_parquet(path, columns=["target"])["target"]
    numeric = pd.api.types.is_numeric_dtype(target)
    classes = not numeric or (target.nunique() <= MOST_CLASSES and not (target % 1).any())
    if not classes:
        return target.to_numpy(float), False
    return np.unique(target.astype(str), return_inverse=True)[1], True


@lru_cache(maxsize=4)
def read_table(path: Path) -> Table:
    """One file."""
    import pandas as pd

    frame = pd.read_parquet(path).drop(columns="target")
    text = [name for name in frame if not pd.api.types.is_numeric_dtype(frame[name])]
    numbers = frame.drop(columns=text).astype(np.float64)
    numbers = numbers.fillna(numbers.median())
    states = {name: frame[name].astype(object).where(frame[name].notna(), "(missing)")
              for name in text}  # fmt: skip
    coded = {name: column.astype(str).astype("category") for name, column in states.items()}
    columns = numbers.assign(**coded)[list(frame)] if text else numbers
    y, classes = _target(path)
    return Table(path.stem, columns, y, classes)


def table_paths(
    request: Request,
    *,
    paper: Sequence[str] = (),
    usable: Callable[[Shape], bool] = lambda shape: True,
    quick: Callable[[Shape], bool] = lambda shape: True,
) -> dict[str, Path]:
    """Name → file: those asked for, else all that can be used, the paper's first.

    ``quick`` says which of them the short version takes.
    """
    if request.data_dir is None or not request.data_dir.is_dir():
        raise InputError("this bench reads NAME.parquet files; give their folder with --data.")
    paths = {path.stem: path for path in sorted(request.data_dir.glob("*.parquet"))}
    unknown = [name for name in request.datasets or () if name not in paths]
    if unknown:
        raise InputError(f"there is no {unknown[0]}.parquet in {request.data_dir.name!r}.")
    names = request.datasets or [n for n in paper if n in paths] + sorted(set(paths) - set(paper))
    chosen = {name: paths[name] for name in names if _has_target(paths[name])}
    chosen = {name: path for name, path in chosen.items() if usable(shape_of(path))}
    if request.quick and not request.datasets:
        chosen = {name: path for name, path in chosen.items() if quick(shape_of(path))}
    if not chosen:
        raise InputError(
            f"no NAME.parquet with a target column that this bench can use is in "
            f"{request.data_dir.name!r}."
        )
    return chosen


def _has_target(path: Path) -> bool:
    import pyarrow.parquet as pq

    return "target" in pq.read_schema(path).names


def balanced_rows(y: Array, classes: bool, most: int) -> IntArray:
    """At most so many rows, as many of each class as of the others where they last."""
    order = np.random.default_rng(0).permutation(len(y))
    if len(y) <= most or not classes:
        return np.sort(order[:most])
    rank = np.zeros(len(y))
    for label in np.unique(y):
        members = order[y[order] == label]
        rank[members] = np.arange(len(members))
    return np.sort(order[np.argsort(rank[order], kind="stable")[:most]])
