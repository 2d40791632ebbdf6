"""The one door: X and y as the user gave them go in, an engine comes out."""

from __future__ import annotations

import numbers
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np
from scipy.sparse import issparse

from featsieve.arrays import Array
from featsieve.engines.base import Context, block_rows, require_memory
from featsieve.engines.files import FileEngine, ParquetTable, open_parquet
from featsieve.engines.memory import MemoryEngine
from featsieve.errors import InputError
from featsieve.input.columns import (
    COLUMNS,
    LARGEST_EXACT,
    StateScan,
    build_schema,
    categorical_by_dtype,
    check_names,
    column_names,
    is_dask,
    is_sparse,
    numbered_names,
    resolve_columns,
    rounded_columns,
    scan_array,
    scan_frame,
    sorted_categories,
    warn_rounded,
)
from featsieve.input.parameters import (
    brief,
    check_callback,
    check_sample_weight,
    check_time,
    is_integer,
    is_real,
    not_allowed,
    parse_memory,
)
from featsieve.input.targets import (
    NO_TARGET,
    TargetScan,
    describe_target,
    encode_target,
    holds_times,
    scan_target,
    target_matrix,
)
from featsieve.protocols import Engine
from featsieve.runtime.pool import effective_n_jobs
from featsieve.runtime.progress import Callback, Monitor
from featsieve.runtime.user_warnings import warn_user
from featsieve.schema import Schema, Target

FEWEST_ROWS = 2


@dataclass(frozen=True)
class Settings:
    """The shared parameters that decide how data is read.

    ``rescale``: columns and a numeric target in extreme units may be multiplied by powers of two,
    because the method does not depend on units; otherwise they are refused, unless the method
    ``takes_any_unit``.
    """

    task: str = "auto"
    categorical_features: Any = "from_dtype"
    feature_groups: Any = None
    n_jobs: int | None = None
    max_time: float | None = None
    memory_limit: Any = "1GiB"
    callback: Callback | None = None
    takes_missing: bool = False
    needs_target: bool = True
    rows_a_block: int | None = None
    rescale: bool = False
    takes_any_unit: bool = False

    @cached_property
    def monitor(self) -> Monitor:
        """Of one run; its clock starts when this is first asked for."""
        return Monitor(check_callback(self.callback), check_time(self.max_time))

    def describe(self, scan: TargetScan) -> Target:
        return describe_target(scan, self.task, rescale=self.rescale)

    def context(self, schema: Schema, target: Target) -> Context:
        return Context(
            schema=schema,
            target=target,
            monitor=self.monitor,
            memory_limit=parse_memory(self.memory_limit),
            n_jobs=effective_n_jobs(self.n_jobs),
            refuse_missing=not self.takes_missing,
            rescale=self.rescale,
            refuse_extreme=not self.takes_any_unit,
        )


def resolve_count(n_features_to_select: Any, n_units: int, *, auto: bool = False) -> int | None:
    """How many units to keep; None means that the method finds the number itself (``"auto"``).

    >>> resolve_count(None, 5), resolve_count(0.4, 5), resolve_count(3, 5)
    (2, 2, 3)
    """
    given = n_features_to_select
    if given is None:
        return max(1, n_units // 2)
    if isinstance(given, str) and given == "auto" and auto:
        return None
    if is_integer(given) and given >= 1:
        return _capped(int(given), n_units)
    if is_real(given) and not isinstance(given, numbers.Integral) and 0 < given <= 1:
        return max(1, int(given * n_units))
    allowed = f"an integer >= 1, a fraction in (0, 1]{', auto' if auto else ''} or None for half"
    raise not_allowed("n_features_to_select", given, allowed)


def _capped(count: int, n_units: int) -> int:
    if count > n_units:
        warn_user(
            f"n_features_to_select={count} is more than the {n_units} features there are; "
            "all of them are kept."
        )
    return min(count, n_units)


def opened(X: Any) -> Any:
    """X itself; a path as the table that :func:`featsieve.open_parquet` makes of it."""
    if not isinstance(X, (str, PathLike)):
        return X
    path = Path(X)
    if path.is_dir() or path.suffix.lower() in (".parquet", ".pq"):
        return open_parquet(path)
    raise InputError(
        f"X is the path {brief(str(X))}; Parquet files and folders of them are read from a path, "
        "others by X, y = featsieve.io.load_table(path, target)."
    )


def open_engine(
    X: Any,
    y: Any,
    settings: Settings,
    *,
    sample_weight: Any = None,
    schema: Schema | None = None,
    target: Target | None = None,
) -> Engine:
    """Check everything about X, y and the weights, and say where the rows are.

    ``schema`` and ``target`` are known already when rows come in parts.
    """
    if isinstance(X, ParquetTable):
        return _open_file(X, y, settings, sample_weight)
    if is_dask(X):
        return _open_dask(X, y, settings, sample_weight)
    schema = schema or _memory_schema(X, settings)
    _warn_of_rounding(rounded_columns(X), schema)
    n_rows = X.shape[0]
    if y is None and not settings.needs_target:
        y, target = np.empty((n_rows, 0)), NO_TARGET
    values = y if target is NO_TARGET else target_matrix(y)
    _check_lengths(n_rows, len(values))
    _check_rows(n_rows)
    target = target or settings.describe(scan_target(values, settings.task))
    context = settings.context(schema, target)
    if is_sparse(X) and schema.categories:
        require_memory(
            X.shape[0] * X.shape[1], context.memory_limit, "sparse input with categories"
        )
    return MemoryEngine(
        X,
        encode_target(values, context.target),
        context,
        weight=check_sample_weight(sample_weight, n_rows),
        native_target=y,
        rows_a_block=settings.rows_a_block,
    )


def _memory_schema(X: Any, settings: Settings) -> Schema:
    if is_sparse(X) or isinstance(X, np.ndarray):
        names = numbered_names(X.shape[1])
        return _schema(names, settings, [], partial(scan_array, X))
    names = tuple(map(str, column_names(X) or ()))
    return _schema(names, settings, categorical_by_dtype(X), partial(scan_frame, X))


def _schema(
    names: tuple[str, ...],
    settings: Settings,
    by_dtype: list[int],
    scan: Callable[[list[int]], StateScan],
) -> Schema:
    columns = _categorical_columns(settings.categorical_features, names, by_dtype)
    categories = sorted_categories(scan(columns), names) if columns else {}
    return build_schema(names, categories, settings.feature_groups)


def _categorical_columns(given: Any, names: Sequence[str], by_dtype: list[int]) -> list[int]:
    if isinstance(given, str):
        if given != "from_dtype":
            raise not_allowed("categorical_features", given, f"'from_dtype', or {COLUMNS}")
        return by_dtype
    if given is None:
        return by_dtype
    return sorted({*by_dtype, *resolve_columns(given, names, "categorical_features")})


def _open_dask(X: Any, y: Any, settings: Settings, sample_weight: Any) -> Engine:
    from featsieve.engines.dask import DaskEngine, DaskTable

    _refuse_lazy_weights(sample_weight, "Dask")
    if y is None and settings.needs_target:
        raise _no_target()
    table = DaskTable(X, y, settings.monitor)
    _check_rows(table.n_samples)
    schema = _dask_schema(X, table, settings)
    _warn_of_rounding(table.rounded, schema)
    target = NO_TARGET
    if y is not None:
        target = settings.describe(table.scan_target(settings.task))
    return DaskEngine(table, settings.context(schema, target))


def _dask_schema(X: Any, table: Any, settings: Settings) -> Schema:
    if not hasattr(X, "columns"):
        refuse_times(X)
        names = numbered_names(X.shape[1])
        return _schema(
            names, settings, [], lambda c: table.scan_columns(partial(scan_array, columns=c))
        )
    check_names(list(X.columns))
    by_dtype = categorical_by_dtype(X._meta)
    return _schema(
        tuple(map(str, X.columns)),
        settings,
        by_dtype,
        lambda c: table.scan_columns(partial(scan_frame, columns=c)),
    )


def _open_file(X: ParquetTable, y: Any, settings: Settings, sample_weight: Any) -> FileEngine:
    _refuse_lazy_weights(sample_weight, "a file")
    table = _with_target(X, y, settings.needs_target)
    names = table.column_names
    check_names(names)
    _check_rows(table.shape[0])
    empty = table.schema.empty_table().select(names)
    scan_states = partial(_scan_file, table, settings)
    schema = _schema(tuple(names), settings, categorical_by_dtype(empty), scan_states)
    _warn_of_rounding(_rounded_in_file(table, settings), schema)
    target = NO_TARGET if table.target is None else _file_target(table, settings)
    return FileEngine(table, settings.context(schema, target), rows_a_block=settings.rows_a_block)


def _warn_of_rounding(columns: Iterable[int], schema: Schema) -> None:
    """The states of a categorical column are told apart whatever their size."""
    numeric = [column for column in sorted(columns) if column not in schema.categories]
    warn_rounded(schema.names[column] for column in numeric)


def _rounded_in_file(table: ParquetTable, settings: Settings) -> set[int]:
    """From what the file says about its columns; a look at those it says nothing about."""
    names = table.column_names
    rounded, unknown = table.large_integers(LARGEST_EXACT)
    if unknown:
        for batch in _raw_batches(table, settings, unknown):
            rounded |= {unknown[column] for column in rounded_columns(batch)}
    return {names.index(name) for name in rounded if name != table.target}


def _file_target(table: ParquetTable, settings: Settings) -> Target:
    batches = _raw_batches(table, settings, [str(table.target)])
    scan = _merge_scans(scan_target(batch.column(0), settings.task) for batch in batches)
    return settings.describe(scan)


def _scan_file(table: ParquetTable, settings: Settings, columns: list[int]) -> StateScan:
    names = [table.column_names[c] for c in columns]
    batches = _raw_batches(table, settings, names)
    found = _merge_scans(scan_frame(batch, range(len(names))) for batch in batches)
    return StateScan({column: found.states[p] for p, column in enumerate(columns)})


def _raw_batches(table: ParquetTable, settings: Settings, names: list[str]) -> Iterator[Any]:
    """Some columns of a file as they are, each batch counted by the monitor."""
    memory_limit = parse_memory(settings.memory_limit)
    done = 0
    for batch in table.batches(names, block_rows(len(names), memory_limit, 1), memory_limit):
        yield batch
        done += batch.num_rows
        settings.monitor.tick("reading rows", done, table.shape[0])


def _merge_scans(scans: Any) -> Any:
    merged = None
    for scan in scans:
        merged = scan if merged is None else merged.merge(scan)
    return merged


def _with_target(X: ParquetTable, y: Any, needed: bool) -> ParquetTable:
    if isinstance(y, str):
        return X.with_target(y)
    if y is not None:
        raise InputError(
            f"y is a {type(y).__name__}, but with a Parquet table y is the name of its column."
        )
    if X.target is None and needed:
        raise _no_target()
    return X


def _no_target() -> InputError:
    return InputError(
        "this selector requires y to be passed, but the target y is None; "
        "give one value per row, or the name of a column with a Parquet table."
    )


def _refuse_lazy_weights(sample_weight: Any, where: str) -> None:
    if sample_weight is not None:
        raise InputError(f"sample_weight is not taken with {where}; weights need rows in memory.")


def _check_lengths(n_x: int, n_y: int) -> None:
    if n_x != n_y:
        raise InputError(
            f"X has {n_x} rows and y has {n_y}: inconsistent numbers of samples; give one target "
            "value per row."
        )


def _check_rows(n_rows: int) -> None:
    if n_rows < FEWEST_ROWS:
        raise InputError(
            f"the table has n_samples = {n_rows} rows; at least {FEWEST_ROWS} are needed (more "
            "than 1 sample)."
        )


def refuse_other_than_tables(X: Any, y: Any) -> None:
    """What is not a table in memory, or has no target in memory."""
    _refuse_unread(X)
    if isinstance(X, Mapping) and not issparse(X):  # a DOK matrix is both
        raise InputError(
            "X is a mapping of columns; make it a table first, such as pandas.DataFrame(X)."
        )
    if isinstance(y, str):  # a name is a target only where the table stays on the disk
        raise InputError(
            f"the target y is {y!r}, but X is in memory: give its values, X.drop(columns={y!r}) as "
            f"X and X[{y!r}] as y; a name is enough with open_parquet."
        )


def _refuse_unread(container: Any) -> None:
    """A lazy frame of polars is a plan for rows that are not there yet."""
    kind = type(container)
    if kind.__module__.startswith("polars") and kind.__name__ == "LazyFrame":
        raise InputError(
            "the table is a LazyFrame, whose rows have not been read; call .collect() first, or "
            "use open_parquet for a file larger than memory."
        )


def refuse_times(values: Any) -> None:
    """Dates and durations in an array would pass for numbers of some unit."""
    if not isinstance(values, np.ndarray):
        kind = getattr(getattr(values, "dtype", None), "kind", None)
        values = np.empty(0, values.dtype) if kind else _array_of_list(values)
    if holds_times(values):
        raise InputError(
            "the table holds dates or times, which are not numbers; convert them, for example to "
            "days since a date, or drop them."
        )


def _array_of_list(values: Any) -> Array:
    """No array at all where NumPy finds none: scikit-learn has the words for that."""
    try:
        return np.asarray(values)
    except (TypeError, ValueError):
        return np.empty(0)
