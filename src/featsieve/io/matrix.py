"""Formats that hold numbers in one matrix: ARFF, LIBSVM, NPZ."""

from __future__ import annotations

import gzip
import math
import zipfile
from pathlib import Path
from typing import IO, Any

import numpy as np

from featsieve.errors import InputError
from featsieve.input.sparse import is_sound
from featsieve.io.arff import parse_arff
from featsieve.io.budget import Budget, is_compressed
from featsieve.io.foreign import damage_explained
from featsieve.io.layout import not_text
from featsieve.io.model import (
    ArrowTable,
    MatrixTable,
    Note,
    ReadOptions,
    Table,
    check_names,
    quoted,
)

LIBSVM_GROWTH = 4
MOST_COLUMNS = 5_000_000
BYTES_PER_ROW = 16  # where a row of a sparse matrix begins, and a copy of that
LAST_LETTER, SURROGATES = 0x10FFFF, 0xD800 >> 11
_SPARSE_KEYS = ("format", "shape", "data", "indices", "indptr", "row", "col", "offsets")
_MATRIX_KEYS, _TARGET_KEYS = ("data", "X", "x"), ("target", "y", "Y")


def read_arff(path: Path, source: str, options: ReadOptions, budget: Budget) -> MatrixTable:
    """ARFF, dense or sparse, also compressed by gzip."""
    if path.suffix.lower() == ".zst":
        raise InputError(f"{source} is ARFF compressed by zstd; compress it by gzip instead.")
    opener: Any = gzip.open if path.suffix.lower() == ".gz" else open
    with damage_explained(source, "cannot be read as ARFF", "write it again"):
        try:
            with opener(path, "rt", encoding=options.encoding, newline=None) as lines:
                data = parse_arff(lines, source, budget.take)
        except UnicodeError:
            raise not_text(source, options.encoding) from None
    notes = (Note("weights of rows are not used"),) if data.has_weights else ()
    names = check_names(data.names, source)
    return MatrixTable(data.matrix, names, source, data.categories, notes=notes)


def read_libsvm(path: Path, source: str, _options: ReadOptions, budget: Budget) -> MatrixTable:
    """LIBSVM (svmlight): the target is called ``target``, the columns X1, X2, …"""
    from scipy.sparse import csr_array
    from sklearn.datasets import load_svmlight_file

    if is_compressed(path):
        raise InputError(f"{source} is compressed LIBSVM; unpack it first.")
    # The parser's lists grow by doubling, and their copies become the matrix.
    budget.require(LIBSVM_GROWTH * path.stat().st_size)
    rows = "write each row as TARGET INDEX:VALUE INDEX:VALUE and so on"
    with damage_explained(source, "is not a LIBSVM file", rows):
        matrix, target, queries = load_svmlight_file(str(path), query_id=True)
    n_columns = matrix.shape[1]
    _refuse_too_many(n_columns, source)
    names = tuple(f"X{j + 1}" for j in range(n_columns))
    notes = (Note("query ids (qid) are not used"),) if len(queries) else ()
    return MatrixTable(csr_array(matrix), names, source, targets={"target": target}, notes=notes)


def _refuse_too_many(n_columns: int, source: str) -> None:
    if n_columns > MOST_COLUMNS:
        raise InputError(
            f"{source} has an index of {n_columns:,}, which would be as many columns; at most "
            f"{MOST_COLUMNS:,} are allowed: give the columns small numbers."
        )


def read_npz(path: Path, source: str, _options: ReadOptions, budget: Budget) -> Table:
    """NumPy's archive, or SciPy's of a sparse matrix; pickled objects are refused, since loading
    them would run code."""
    if is_compressed(path):
        raise InputError(f"{source} is compressed twice; unpack it first.")
    advice = "save plain arrays with numpy.savez"
    # np.load would leave a file that it opened itself open when it fails
    with damage_explained(source, "cannot be read as NPZ", advice), path.open("rb") as stream:
        budget.take(_declared_bytes(stream))
        stream.seek(0)
        with np.load(stream, allow_pickle=False) as archive:
            arrays = {name: _native(_whole_text(archive[name])) for name in archive.files}
    return _from_arrays(arrays, source, budget)


def _declared_bytes(stream: IO[bytes]) -> int:
    """What the arrays of an archive say that they take, from their headers alone."""
    total = 0
    with zipfile.ZipFile(stream) as archive:
        for member in archive.infolist():
            with archive.open(member) as array:
                total += _array_bytes(array)
    return total


def _array_bytes(array: IO[bytes]) -> int:
    version = np.lib.format.read_magic(array)
    read = {
        (1, 0): np.lib.format.read_array_header_1_0,
        (2, 0): np.lib.format.read_array_header_2_0,
    }.get(version)
    if read is None:
        raise ValueError(f"an array of format {version}")
    shape, _, dtype = read(array)
    return int(math.prod(shape)) * int(dtype.itemsize)


def _whole_text(array: Any) -> Any:
    """The array, once its letters are known to be some; NumPy takes any four bytes for one."""
    if array.dtype.kind == "U":
        points = np.ascontiguousarray(array).view(array.dtype.byteorder + "u4")
        if ((points > LAST_LETTER) | ((points >> 11) == SURROGATES)).any():
            raise ValueError("text that is not Unicode")
    return array


def _native(array: Any) -> Any:
    """What Arrow and compiled code read: this machine's byte order, doubles, and text for bytes."""
    if array.dtype.kind == "S":
        return np.char.decode(array, "utf-8")
    if array.dtype.kind == "f" and array.dtype.itemsize > np.dtype(np.float64).itemsize:
        return array.astype(np.float64)
    return array.astype(array.dtype.newbyteorder("="), copy=False)


def _sparse_from_arrays(arrays: dict[str, Any], source: str, budget: Budget) -> Any:
    """What ``scipy.sparse.save_npz`` wrote, as CSR; None for other archives."""
    if not {"format", "shape", "data"} <= arrays.keys():
        return None
    import scipy.sparse as sp

    kind = arrays["format"].item()
    word = kind.decode("ascii") if isinstance(kind, bytes) else str(kind)
    n_rows, n_columns = shape = tuple(int(n) for n in arrays["shape"])
    _refuse_too_many(n_columns, source)
    budget.take(BYTES_PER_ROW * max(n_rows, 0))  # rows are counted even where they are empty
    if word in ("csr", "csc", "bsr"):
        build = {"csr": sp.csr_array, "csc": sp.csc_array, "bsr": sp.bsr_array}[word]
        matrix = build((arrays["data"], arrays["indices"], arrays["indptr"]), shape=shape)
        if not is_sound(matrix):
            raise ValueError("its indices do not fit its shape")
    elif word == "coo":
        matrix = sp.coo_array((arrays["data"], (arrays["row"], arrays["col"])), shape=shape)
    elif word == "dia":
        matrix = sp.dia_array((arrays["data"], arrays["offsets"]), shape=shape)
    else:
        raise ValueError(f"a sparse matrix of format {word!r}")
    return sp.csr_array(matrix)


def _from_arrays(arrays: dict[str, Any], source: str, budget: Budget) -> Table:
    advice = "write it with scipy.sparse.save_npz"
    with damage_explained(source, "is not a whole sparse matrix", advice):
        matrix = _sparse_from_arrays(arrays, source, budget)
    if matrix is None:
        matrix = next((arrays[key] for key in _MATRIX_KEYS if key in arrays), None)
    if matrix is None or matrix.ndim != 2:
        return _from_columns(arrays, source)
    names = [str(name) for name in arrays.get("feature_names", ())]
    names = names or [f"X{j + 1}" for j in range(matrix.shape[1])]
    if len(names) != matrix.shape[1]:
        raise InputError(
            f"{source} names {len(names)} columns in feature_names, but its matrix has "
            f"{matrix.shape[1]}; give one name per column."
        )
    targets = {key: _one_column(key, arrays[key], source) for key in _TARGET_KEYS if key in arrays}
    _check_lengths(targets, matrix.shape[0], source)
    _refuse_other_than_numbers(matrix, source)
    check_names([*names, *targets], source)
    notes = _notes_on_unused(arrays, matrix)
    return MatrixTable(matrix, tuple(names), source, targets=targets, notes=notes)


def _notes_on_unused(arrays: dict[str, Any], matrix: Any) -> tuple[Note, ...]:
    parts = () if isinstance(matrix, np.ndarray) else _SPARSE_KEYS
    known = {"feature_names", *_TARGET_KEYS, *parts}
    unused = [name for name in arrays if name not in known and arrays[name] is not matrix]
    return (Note(f"{quoted(unused)}: not used, since the archive has a matrix"),) if unused else ()


def _refuse_other_than_numbers(matrix: Any, source: str) -> None:
    if matrix.dtype.kind not in "biuf":
        raise InputError(
            f"the matrix of {source} holds {matrix.dtype.name}, not real numbers; save numbers, or "
            "one array per column."
        )


def _one_column(name: str, values: Any, source: str) -> Any:
    if values.ndim == 2 and values.shape[1] == 1:
        values = values.ravel()
    if values.ndim != 1 or values.dtype.kind == "c":
        raise InputError(
            f"the array {name!r} of {source} has the shape {values.shape} and the type "
            f"{values.dtype.name}; give one real number or one class per row."
        )
    return values


def _from_columns(arrays: dict[str, Any], source: str) -> ArrowTable:
    """One array per column, each of its own type."""
    import pyarrow as pa

    if not arrays or any(values.ndim != 1 for values in arrays.values()):
        raise InputError(
            f"{source} holds {', '.join(arrays) or 'nothing'}; give a two-dimensional array 'data' "
            "or 'X' and a 'target' or 'y', or one array per column."
        )
    _check_lengths(arrays, len(next(iter(arrays.values()))), source)
    return ArrowTable(pa.table({n: _column(n, a, source) for n, a in arrays.items()}), source)


def _column(name: str, values: Any, source: str) -> Any:
    kind = values.dtype.kind
    if kind not in "biufUMm":
        raise InputError(
            f"the array {name!r} of {source} holds {values.dtype.name}; save real numbers, text or "
            "dates."
        )
    return values.astype(f"{kind}8[us]") if kind in "Mm" else values


def _check_lengths(arrays: dict[str, Any], n_rows: int, source: str) -> None:
    for name, values in arrays.items():
        if len(values) != n_rows:
            raise InputError(
                f"the array {name!r} of {source} has {len(values)} rows where others have {n_rows}"
                "; all must be equally long."
            )
