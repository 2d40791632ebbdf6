"""Parquet larger than memory: batches of rows are read, used and forgotten."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from featsieve.arrays import Array, FloatArray, IntArray
from featsieve.engines.base import (
    BaseEngine,
    Context,
    block_rows,
    in_order,
    rows_inside,
)
from featsieve.engines.memory import gathered, open_source
from featsieve.engines.row_batches import open_file, read_batches
from featsieve.errors import InputError, MissingExtraError
from featsieve.input.targets import encode_target
from featsieve.protocols import S
from featsieve.runtime.pool import ordered_map, read_ahead
from featsieve.schema import Block, Schema

FOOTER_BYTES = 4096
PARQUET = (".parquet", ".pq")


@dataclass(frozen=True)
class Fingerprint:
    """Size, time of change and last bytes of a file: two passes must read the same file."""

    size: int
    changed: int
    footer: bytes

    @classmethod
    def of(cls, path: Path) -> Fingerprint:
        status = path.stat()
        with path.open("rb") as file:
            file.seek(max(0, status.st_size - FOOTER_BYTES))
            return cls(status.st_size, status.st_mtime_ns, file.read())

    def refuse_change(self, path: Path) -> None:
        try:
            same = Fingerprint.of(path) == self
        except OSError:
            same = False
        if not same:
            raise InputError(
                f"{path.name} was changed or removed while it was being read; open it again with "
                "open_parquet once it is complete."
            )


@dataclass(frozen=True)
class ParquetTable:
    """A Parquet file, or a folder of them, that may be larger than memory.

    Hand it to a selector's ``fit`` as X; y is then the name of a column, or ``target`` given here.
    """

    path: Path
    target: str | None = None
    dropped: frozenset[str] = frozenset()

    def __getstate__(self) -> dict[str, Any]:
        """Open files stay behind; what they looked like goes along."""
        return {name: value for name, value in vars(self).items() if name != "files"}

    @cached_property
    def files(self) -> list[Any]:
        paths = list(self._fingerprints)
        files = [_open(path) for path in paths]
        _refuse_other_columns(files, paths)
        return files

    @cached_property
    def _fingerprints(self) -> dict[Path, Fingerprint]:
        """Taken right before opening: what every later pass must still find."""
        return {path: Fingerprint.of(path) for path in _parquet_paths(self.path)}

    @property
    def schema(self) -> Any:
        """Names and types of all columns, as batches have them."""
        return self.files[0].schema_arrow

    @cached_property
    def all_names(self) -> list[str]:
        return [name for name in self.files[0].schema_arrow.names if name not in self.dropped]

    @property
    def column_names(self) -> list[str]:
        return [name for name in self.all_names if name != self.target]

    @property
    def shape(self) -> tuple[int, int]:
        return sum(f.metadata.num_rows for f in self.files), len(self.column_names)

    def with_target(self, target: str) -> ParquetTable:
        if target not in self.all_names:
            raise InputError(
                f"there is no column {target!r} in {self.path.name}; it has "
                f"{', '.join(map(repr, self.all_names[:10]))}"
                f"{', …' if len(self.all_names) > 10 else ''}."
            )
        if self.all_names.count(target) > 1:
            raise InputError(
                f"{self.path.name} has two columns named {target!r}, so the target is not known; "
                "give every column a different name."
            )
        return replace(self, target=target)

    def without(self, names: Iterable[str]) -> ParquetTable:
        """The table less some columns, which no pass reads."""
        return replace(self, dropped=self.dropped | frozenset(names))

    def large_integers(self, largest: int) -> tuple[set[str], list[str]]:
        """Columns of integers beyond ``largest`` in size, and those whose range no file tells."""
        import pyarrow as pa

        schema = self.files[0].schema_arrow
        wide = {f.name for f in schema if f.type in (pa.int64(), pa.uint64())}
        beyond, unknown = set[str](), set[str]()
        for chunk in _chunks_of(self.files, wide):
            statistics = chunk.statistics
            if statistics is None or not statistics.has_min_max:
                unknown.add(chunk.path_in_schema)
            elif max(statistics.max, -statistics.min) > largest:
                beyond.add(chunk.path_in_schema)
        return beyond, sorted(unknown - beyond)

    def encoded_size(self) -> int:
        """Bytes of the columns as the files hold them, uncompressed."""
        chunks = _chunks_of(self.files, set(self.all_names))
        return sum(chunk.total_uncompressed_size for chunk in chunks)

    def null_counts(self) -> dict[str, int]:
        """Missing cells of each column whose files count them all."""
        counts: dict[str, int] = dict.fromkeys(self.all_names, 0)
        for chunk in _chunks_of(self.files, set(self.all_names)):
            statistics, name = chunk.statistics, chunk.path_in_schema
            if statistics is None or not statistics.has_null_count:
                counts.pop(name, None)
            elif name in counts:
                counts[name] += statistics.null_count
        return counts

    def batches(
        self, columns: list[str], batch_rows: int, memory_limit: int, *, even: bool = True
    ) -> Iterator[Any]:
        """pyarrow tables of consecutive rows, read within the limit; of one size if ``even``."""
        import pyarrow as pa

        for file, (path, before) in zip(self.files, self._fingerprints.items(), strict=True):
            before.refuse_change(path)
            try:
                yield from read_batches(file, path, columns, batch_rows, memory_limit, even=even)
            except (OSError, pa.ArrowException) as error:
                before.refuse_change(path)
                raise _unreadable(path, error) from None
            before.refuse_change(path)


def open_parquet(path: str | Path, *, target: str | None = None) -> ParquetTable:
    """A Parquet file or folder as X for any selector, read in batches, never as a whole.

    Examples
    --------
    >>> import os, tempfile
    >>> import featsieve
    >>> from sklearn.datasets import load_iris
    >>> folder = tempfile.TemporaryDirectory()
    >>> path = os.path.join(folder.name, "iris.parquet")
    >>> load_iris(as_frame=True).frame.to_parquet(path)
    >>> table = featsieve.open_parquet(path, target="target")
    >>> table.shape
    (150, 4)
    >>> featsieve.PearsonRanking(n_features_to_select=2).fit(table).indices_.tolist()
    [2, 3]
    >>> folder.cleanup()
    """
    table = ParquetTable(Path(path))
    _ = table.files  # what is wrong with a file is said now
    return table if target is None else table.with_target(target)


def is_pattern(path: Path) -> bool:
    """Whether a name that no file has stands for several: ``part-*.parquet``."""
    return any(letter in path.name for letter in "*?[") and not path.exists()


def _parquet_paths(path: Path) -> list[Path]:
    if path.is_dir():
        paths = _files_of(path)
    elif is_pattern(path):
        paths = sorted(path.parent.glob(path.name))
    else:
        paths = [path]
    if not paths:
        what = "no file matches" if is_pattern(path) else "no *.parquet file is in the folder"
        raise InputError(f"{what} {path.name!r}; give a Parquet file, or a folder of them.")
    if not paths[0].exists():
        raise FileNotFoundError(f"there is no file {path}; check the path.")
    return paths


def _files_of(folder: Path) -> list[Path]:
    """Those of this folder; what lies deeper is not left out without a word."""
    hidden = (".", "_")  # logs and checkpoints of other programs
    files = [p for p in folder.iterdir() if is_parquet(p) and not p.name.startswith(hidden)]
    deeper = (p for p in folder.iterdir() if p.is_dir() and not p.name.startswith(hidden))
    for inner in sorted(deeper):
        if any(map(is_parquet, inner.rglob("*"))):
            raise InputError(
                f"the folder {folder.name!r} also has Parquet files in its folder {inner.name!r}; "
                "give one folder, or move the files into one."
            )
    return sorted(files)


def is_parquet(path: Path) -> bool:
    return path.suffix.lower() in PARQUET and not path.is_dir()


def _open(path: Path) -> Any:
    try:
        import pyarrow as pa
    except ImportError:
        raise MissingExtraError("pyarrow", "cli", "Reading Parquet") from None
    try:
        return open_file(path)
    except (pa.ArrowException, OSError) as error:
        raise _unreadable(path, error) from None


def _unreadable(path: Path, error: Exception) -> InputError:
    reason = (str(error).splitlines() or [type(error).__name__])[0].rstrip(".")
    return InputError(
        f"{path.name} is not a complete Parquet file, or it is damaged ({reason}); write it again."
    )


def _refuse_other_columns(files: list[Any], paths: list[Path]) -> None:
    """All files of a folder must have the same columns, of the same types."""
    first = files[0].schema_arrow
    for file, path in zip(files[1:], paths[1:], strict=True):
        if file.schema_arrow.equals(first):
            continue
        differing = [
            name
            for name in dict.fromkeys([*first.names, *file.schema_arrow.names])
            if _types_of(first, name) != _types_of(file.schema_arrow, name)
        ]
        what = f"column {differing[0]!r} differs" if differing else "the order of columns differs"
        raise InputError(
            f"{path.name} has other columns than {paths[0].name}: {what}; give files with the same "
            "columns and types in the same order."
        )


def _chunks_of(files: list[Any], names: set[str]) -> Iterator[Any]:
    """What all files say about their columns of these names, row group by row group."""
    for file in files if names else []:
        schema = file.schema
        columns = [j for j in range(len(schema.names)) if schema.column(j).path in names]
        for group in map(file.metadata.row_group, range(file.metadata.num_row_groups)):
            yield from map(group.column, columns)


def _types_of(schema: Any, name: str) -> list[Any]:
    return [schema.field(index).type for index in schema.get_all_field_indices(name)]


class RawRows:
    """A batch as it was read. Whoever takes it has it alone, so that it is gone once it is a block,
    however long the generators on its way hold on to what they have handed out."""

    def __init__(self, batch: Any) -> None:
        self._batch = batch
        self.n_rows: int = batch.num_rows
        self.start = 0

    def taken(self) -> Any:
        batch, self._batch = self._batch, None
        return batch


class FileEngine(BaseEngine):
    """Rows in Parquet; each pass reads the file again, several batches under way at once."""

    def __init__(
        self,
        table: ParquetTable,
        context: Context,
        *,
        rows_per_block: int | None = None,
    ) -> None:
        super().__init__(context, table.shape[0])
        self._table = table
        self._rows_per_block = rows_per_block or block_rows(
            self.n_features, context.memory_limit, context.n_jobs
        )

    def _raw_blocks(self, columns: list[str], *, even: bool = True) -> Iterator[RawRows]:
        start = 0
        names = [*columns, *([self._table.target] if self._table.target else [])]
        self._freed.look()  # for what the last pass has left behind
        batches = self._table.batches(names, self._rows_per_block, self.memory_limit, even=even)
        for raw in read_ahead(map(RawRows, batches), self.monitor):
            raw.start, start = start, start + raw.n_rows
            yield raw
            self._freed.look()

    def _block(self, raw: RawRows, schema: Schema) -> Block:
        batch = raw.taken()
        source = open_source(batch.select(list(schema.names)), schema)
        return Block(raw.start, source.rows(0, raw.n_rows), self._labels(batch))

    def _labels(self, batch: Any) -> Array:
        labels = batch if self._table.target is None else batch.column(self._table.target)
        return encode_target(labels, self.target)

    def _reduce_blocks(self, fn: Callable[[Block], S]) -> S:
        schema = self.schema
        raw = self._raw_blocks(list(schema.names))
        summaries = ordered_map(lambda rows: fn(self._block(rows, schema)), raw, self.n_jobs)
        total = sum(-(-f.metadata.num_rows // self._rows_per_block) for f in self._table.files)
        return self._merge(summaries, total, "reading rows")

    def reduce_tiles(self, fn: Callable[[Block, Block], S]) -> S:
        return gathered(self).reduce_tiles(fn)

    def topk_tiles(
        self, fn: Callable[[Block, Block], FloatArray], k: int
    ) -> tuple[FloatArray, IntArray]:
        return gathered(self).topk_tiles(fn, k)

    def _take(self, rows: IntArray | None, columns: IntArray | None) -> tuple[FloatArray, Array]:
        columns = np.arange(self.n_features) if columns is None else columns
        schema = self._narrow(columns)
        raw = self._raw_blocks(list(schema.names), even=rows is None)
        return in_order((self._cells(batch, schema, rows) for batch in raw), rows)

    def _cells(self, raw: RawRows, schema: Schema, rows: IntArray | None) -> tuple[Array, Array]:
        """Those of the asked-for rows that lie in this batch: no others are copied."""
        batch = raw.taken()
        local = None if rows is None else rows_inside(rows, raw.start, raw.n_rows)
        source = open_source(batch.select(list(schema.names)), schema)
        y = self._labels(batch)
        return source.take(local, None), y if local is None else y[local]

    def native(self, columns: IntArray) -> tuple[Any, Any]:
        """The numbers themselves: a file has no container to hand to a user's estimator."""
        if any(int(column) in self.schema.categories for column in columns):
            raise InputError(
                "a user's estimator cannot take categorical columns straight from a file; read "
                "the file into a dataframe first."
            )
        self.screen()
        self._require_memory_for(None, columns)
        X, y = self._take(None, columns)
        y = y / np.array(self.target.factors) if self.target.factors else y
        return X, y[:, 0] if y.shape[1] == 1 else y

    def _narrow(self, columns: IntArray) -> Schema:
        names = tuple(self.schema.names[c] for c in columns)
        position = {int(c): p for p, c in enumerate(columns)}
        kept = {position[c]: s for c, s in self.schema.categories.items() if c in position}
        return Schema(names, kept)
