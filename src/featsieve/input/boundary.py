"""The one door: X and y as the user gave them go in, an engine comes out."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import Any

import numpy as np
from sklearn.utils import check_array

from featsieve.engines.base import Context, block_rows, require_memory
from featsieve.engines.files import FileEngine, ParquetTable
from featsieve.engines.memory import MemoryEngine
from featsieve.errors import InputError
from featsieve.input.columns import (
    COLUMNS,
    StateScan,
    categorical_by_dtype,
    check_names,
    resolve_columns,
    resolve_groups,
    scan_array,
    scan_frame,
    sorted_categories,
    warn_of_other_order,
)
from featsieve.input.containers import select_rows
from featsieve.input.opening import opened
from featsieve.input.parameters import (
    check_callback,
    check_choice,
    check_count,
    check_flag,
    check_lengths,
    check_rows,
    check_sample_weight,
    check_time,
    effective_n_jobs,
    not_allowed,
    parse_memory,
    refuse_constant_with_weight,
)
from featsieve.input.tables import (
    LARGEST_EXACT,
    as_columns,
    as_floats,
    column_names,
    is_dask,
    is_frame,
    is_sparse,
    narrowed,
    numbered_names,
    refuse_other_than_tables,
    require_matrix,
    rounded_columns,
    unmasked,
    warn_rounded,
)
from featsieve.input.targets import (
    NO_TARGET,
    TASKS,
    TargetScan,
    describe_target,
    encode_target,
    scan_target,
    target_matrix,
)
from featsieve.protocols import Engine
from featsieve.runtime.progress import Callback, Monitor
from featsieve.schema import Schema, Target
from featsieve.statistics.weights import counted_rows, weights_of_table

StatesOf = Callable[[list[int]], StateScan]  # of these columns


@dataclass(frozen=True)
class Settings:
    """The parameters that all selectors share: how data is read, and how many units are kept.

    ``rescale``: columns and a numeric target in extreme units may be multiplied by powers of two,
    because the method does not depend on units; otherwise they are refused, unless the method
    ``takes_any_unit``. ``owner``: whose fit this is, for messages.
    """

    task: Any = "auto"
    categorical_features: Any = "from_dtype"
    feature_groups: Any = None
    n_jobs: Any = None
    max_time: float | None = None
    memory_limit: Any = "1GiB"
    callback: Callback | None = None
    takes_missing: bool = False
    needs_target: bool = True
    rows_per_block: int | None = None
    rescale: bool = False
    takes_any_unit: bool = False
    takes_sparse: bool = True
    owner: str = "featsieve"
    n_features_to_select: Any = None
    count_rules: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        """All of them are checked and resolved at once, before anything is read."""
        vars(self).update(
            task=check_choice("task", self.task, TASKS),
            n_jobs=effective_n_jobs(self.n_jobs),
            max_time=check_time(self.max_time),
            memory_limit=parse_memory(self.memory_limit),
            callback=check_callback(self.callback),
            rescale=check_flag("standardize", self.rescale),
            n_features_to_select=check_count(self.n_features_to_select, self.count_rules),
        )

    @property
    def uses_target(self) -> bool:
        """A method that needs no target looks at one only to find how many columns to keep."""
        return self.needs_target or self.n_features_to_select == "auto"

    @cached_property
    def monitor(self) -> Monitor:
        """Of one run; its clock starts when this is first asked for."""
        return Monitor(self.callback, self.max_time)

    def context(self, schema: Schema, target: Target) -> Context:
        return Context(
            schema=schema,
            target=target,
            monitor=self.monitor,
            memory_limit=self.memory_limit,
            n_jobs=self.n_jobs,
            refuse_missing=not self.takes_missing,
            rescale=self.rescale,
            refuse_extreme=not self.takes_any_unit,
        )


def checked_table(X: Any, y: Any, settings: Settings) -> Any:
    """X in a container that can be read, with columns that have different names."""
    X = unmasked(X if isinstance(X, np.ndarray) else opened(X))
    if isinstance(X, ParquetTable) or is_dask(X):
        return X
    refuse_other_than_tables(X, y)
    if y is None and settings.needs_target:
        raise _no_target(settings)
    names = None if is_sparse(X) else column_names(X)
    if names is not None:
        check_names(names)
        if is_frame(X):
            warn_of_other_order(X, y, "y")
            return X
    checked = check_array(
        as_floats(require_matrix(X)),
        accept_sparse=["csr", "csc"] if settings.takes_sparse else False,
        ensure_all_finite=False,  # the first pass over the rows names the column and counts
        ensure_min_samples=0,  # the engine counts rows, of any container
        estimator=settings.owner,
        input_name="X",
    )
    return checked if is_sparse(checked) else narrowed(checked)


def open_engine(
    X: Any,
    y: Any,
    settings: Settings,
    *,
    sample_weight: Any = None,
    schema: Schema | None = None,
    target: Target | None = None,
    in_parts: bool = False,
) -> Engine:
    """Check everything about X, y and the weights, and say where the rows are.

    Rows of weight 0 are left out here, before anything looks at them, and only the ratios of
    weights count. When rows come ``in_parts``, weights of all parts have one scale, which is kept;
    ``schema`` and ``target`` are then known after the first.
    """
    if isinstance(X, ParquetTable):
        return _open_file(X, y, settings, sample_weight, schema, target)
    if is_dask(X):
        return _open_dask(X, y, settings, sample_weight, schema, target)
    n_rows = X.shape[0]
    if y is None or not settings.uses_target:
        check_lengths(n_rows, y)
        y, target = np.empty((n_rows, 0)), NO_TARGET
    values = y if target is NO_TARGET else target_matrix(y)
    check_lengths(n_rows, values)
    check_rows(n_rows, are_more=schema is not None)
    weight, kept = check_sample_weight(sample_weight, n_rows), None
    if weight is not None:
        warn_of_other_order(X, sample_weight, "sample_weight")
        kept = counted_rows(weight)
        if kept is not None:
            weight, values, y = weight[kept.rows], values[kept.rows], select_rows(y, kept.rows)
        weight = weight if in_parts else weights_of_table(weight)
    schema = schema or _memory_schema(X, settings)
    _warn_of_rounding(rounded_columns(X), schema)
    if target is None:
        if kept is not None:
            refuse_constant_with_weight(values)
        target = _described(scan_target(values, settings.task), settings)
    context = settings.context(schema, target)
    if is_sparse(X) and schema.categories:
        require_memory(n_rows * X.shape[1], context.memory_limit, "sparse input with categories")
    return MemoryEngine(
        X,
        encode_target(values, context.target),
        context,
        weight=weight,
        native_target=y,
        rows_per_block=settings.rows_per_block,
        kept=kept,
    )


def open_columns(X: Any, y: Any, settings: Settings, *, sample_weight: Any = None) -> Engine:
    """For functions: checked as in ``fit``; an array, a list or a series is one column."""
    X = as_columns(X)
    if getattr(X, "shape", ())[1:] == (0,):
        raise InputError("X has no columns; give at least one.")
    table = checked_table(X, y, settings)
    return open_engine(table, y, settings, sample_weight=sample_weight)


def _memory_schema(X: Any, settings: Settings) -> Schema:
    if is_sparse(X) or isinstance(X, np.ndarray):
        names = numbered_names(X.shape[1], settings.memory_limit)
        return _schema(names, settings, partial(scan_array, X))
    by_dtype = categorical_by_dtype(X)
    return _named_schema(column_names(X) or (), settings, partial(scan_frame, X), by_dtype)


def _named_schema(
    given: Sequence[Any], settings: Settings, scan: StatesOf, by_dtype: list[int]
) -> Schema:
    schema = _schema(tuple(map(str, given)), settings, scan, by_dtype)
    return replace(schema, is_named=all(isinstance(name, str) for name in given))


def _schema(
    names: tuple[str, ...], settings: Settings, scan: StatesOf, by_dtype: Sequence[int] = ()
) -> Schema:
    columns = _categorical_columns(settings.categorical_features, names, by_dtype)
    categories = sorted_categories(scan(columns), names) if columns else {}
    if settings.feature_groups is None:
        return Schema(names, categories)
    return Schema(names, categories, *resolve_groups(settings.feature_groups, names))


def _categorical_columns(given: Any, names: Sequence[str], by_dtype: Sequence[int]) -> list[int]:
    if isinstance(given, str) and given != "from_dtype":
        raise not_allowed("categorical_features", given, f"'from_dtype', or {COLUMNS}")
    if given is None or isinstance(given, str):
        return list(by_dtype)
    return sorted({*by_dtype, *resolve_columns(given, names, "categorical_features")})


def _open_dask(
    X: Any,
    y: Any,
    settings: Settings,
    sample_weight: Any,
    schema: Schema | None,
    target: Target | None,
) -> Engine:
    from featsieve.engines.dask import DaskEngine, DaskTable

    _refuse_lazy_weights(sample_weight, "Dask")
    if y is None and settings.needs_target:
        raise _no_target(settings)
    if hasattr(X, "columns"):
        check_names(list(X.columns))
    table = DaskTable(X, y, settings.monitor)
    check_rows(table.n_samples, are_more=schema is not None)
    schema = schema or _dask_schema(X, table, settings)
    _warn_of_rounding(table.rounded, schema)
    if target is None:
        is_used = y is not None and settings.uses_target
        scan = table.scan_target(settings.task) if is_used else None
        target = NO_TARGET if scan is None else _described(scan, settings)
    return DaskEngine(table, settings.context(schema, target))


def _dask_schema(X: Any, table: Any, settings: Settings) -> Schema:
    if not hasattr(X, "columns"):
        return _schema(
            numbered_names(X.shape[1], settings.memory_limit),
            settings,
            lambda c: table.scan_columns(partial(scan_array, columns=c)),
        )
    return _named_schema(
        list(X.columns),
        settings,
        lambda c: table.scan_columns(partial(scan_frame, columns=c)),
        categorical_by_dtype(X._meta),
    )


def _open_file(
    X: ParquetTable,
    y: Any,
    settings: Settings,
    sample_weight: Any,
    schema: Schema | None,
    target: Target | None,
) -> FileEngine:
    _refuse_lazy_weights(sample_weight, "a file")
    table = _with_target(X, y, settings)
    names = table.column_names
    check_names(names)
    check_rows(table.shape[0], are_more=schema is not None)
    if schema is None:
        empty = table.schema.empty_table().select(names)
        scan_states = partial(_scan_file, table, settings)
        schema = _named_schema(names, settings, scan_states, categorical_by_dtype(empty))
    _warn_of_rounding(_rounded_in_file(table, settings), schema)
    if target is None:
        is_used = table.target is not None and settings.uses_target
        target = _file_target(table, settings) if is_used else NO_TARGET
    return FileEngine(
        table, settings.context(schema, target), rows_per_block=settings.rows_per_block
    )


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
    return _described(scan, settings)


def _described(scan: TargetScan, settings: Settings) -> Target:
    return describe_target(scan, settings.task, rescale=settings.rescale)


def _scan_file(table: ParquetTable, settings: Settings, columns: list[int]) -> StateScan:
    names = [table.column_names[c] for c in columns]
    batches = _raw_batches(table, settings, names)
    scan = _merge_scans(scan_frame(batch, range(len(names))) for batch in batches)
    states = {column: scan.states[p] for p, column in enumerate(columns)}
    return StateScan(states, Counter({columns[p]: n for p, n in scan.texts.items()}))


def _raw_batches(table: ParquetTable, settings: Settings, names: list[str]) -> Iterator[Any]:
    """Some columns of a file as they are, each batch counted by the monitor."""
    done, memory_limit = 0, settings.memory_limit
    for batch in table.batches(names, block_rows(len(names), memory_limit, 1), memory_limit):
        yield batch
        done += batch.num_rows
        settings.monitor.tick("reading rows", done, table.shape[0])


def _merge_scans(scans: Any) -> Any:
    merged = None
    for scan in scans:
        merged = scan if merged is None else merged.merge(scan)
    return merged


def _with_target(X: ParquetTable, y: Any, settings: Settings) -> ParquetTable:
    if isinstance(y, str):
        return X.with_target(y)
    if y is not None:
        raise InputError(
            f"y is a {type(y).__name__}, but with a Parquet table y is the name of its column."
        )
    if X.target is None and settings.needs_target:
        raise _no_target(settings)
    return X


def _no_target(settings: Settings) -> InputError:
    return InputError(
        f"This {settings.owner} estimator requires y to be passed, but the target y is None; "
        "give one value per row, or the name of a column with a Parquet table."
    )


def _refuse_lazy_weights(sample_weight: Any, where: str) -> None:
    if sample_weight is not None:
        raise InputError(f"sample_weight is not taken with {where}; weights need rows in memory.")
