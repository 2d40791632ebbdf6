"""Formats that hold numbers in one matrix: ARFF, LIBSVM, NPZ."""

from __future__ import annotations

import gzip
import zipfile
from pathlib import Path
from typing import Any

import numpy as np

from featsieve.errors import InputError
from featsieve.io.arff import parse_arff
from featsieve.io.delimited import not_text
from featsieve.io.model import MatrixTable, ReadOptions, check_names

_MATRIX_KEYS, _TARGET_KEYS = ("data", "X", "x"), ("target", "y", "Y")


def read_arff(path: Path, source: str, options: ReadOptions) -> MatrixTable:
    """ARFF, dense or sparse, also compressed by gzip."""
    opener: Any = gzip.open if path.suffix == ".gz" else open
    try:
        with opener(path, "rt", encoding=options.encoding, newline=None) as lines:
            found = parse_arff(lines, source)
    except UnicodeDecodeError:
        raise not_text(source, options.encoding) from None
    except (EOFError, gzip.BadGzipFile) as error:
        raise InputError(f"{source} is no complete gzip file ({error}); write it again.") from None
    return MatrixTable(found.matrix, check_names(found.names, source), source, found.categories)


def read_libsvm(path: Path, source: str, _options: ReadOptions) -> MatrixTable:
    """LIBSVM (svmlight): the target is called ``target``, the columns X1, X2, …"""
    from scipy.sparse import csr_array
    from sklearn.datasets import load_svmlight_file

    try:
        matrix, target = load_svmlight_file(str(path))
    except (ValueError, EOFError, OSError) as error:
        raise InputError(
            f"{source} is no LIBSVM file ({str(error).splitlines()[0]}); each row is: "
            "TARGET INDEX:VALUE INDEX:VALUE …"
        ) from None
    names = tuple(f"X{j + 1}" for j in range(matrix.shape[1]))
    return MatrixTable(csr_array(matrix), names, source, targets={"target": target})


def read_npz(path: Path, source: str, _options: ReadOptions) -> MatrixTable:
    """NumPy's archive; pickled objects are refused, since loading them would run code."""
    try:
        # np.load would leave a file that it opened itself open when it fails
        with path.open("rb") as stream, np.load(stream, allow_pickle=False) as archive:
            arrays = {name: archive[name] for name in archive.files}
    except (ValueError, EOFError, OSError, zipfile.BadZipFile) as error:
        raise InputError(
            f"{source} cannot be read as NPZ ({str(error).splitlines()[0]}); save plain arrays "
            "with numpy.savez."
        ) from None
    return _from_arrays(arrays, source)


def _from_arrays(arrays: dict[str, Any], source: str) -> MatrixTable:
    matrix = next((arrays[key] for key in _MATRIX_KEYS if key in arrays), None)
    if matrix is None or matrix.ndim != 2:
        return _from_columns(arrays, source)
    names = [str(one) for one in arrays.get("feature_names", ())]
    names = names or [f"X{j + 1}" for j in range(matrix.shape[1])]
    if len(names) != matrix.shape[1]:
        raise InputError(
            f"{source} names {len(names)} columns in feature_names, but its matrix has "
            f"{matrix.shape[1]}; give one name a column."
        )
    targets = {key: arrays[key] for key in _TARGET_KEYS if key in arrays}
    _check_lengths(targets, matrix.shape[0], source)
    return MatrixTable(matrix, check_names(names, source), source, targets=targets)


def _from_columns(arrays: dict[str, Any], source: str) -> MatrixTable:
    """One array a column; those that are no numbers can only be targets."""
    if not arrays or any(values.ndim != 1 for values in arrays.values()):
        raise InputError(
            f"{source} holds {', '.join(arrays) or 'nothing'}; give a two-dimensional array 'data' "
            "or 'X' and a 'target' or 'y', or one array a column."
        )
    _check_lengths(arrays, len(next(iter(arrays.values()))), source)
    numbers = {name: one for name, one in arrays.items() if one.dtype.kind in "biuf"}
    others = {name: one for name, one in arrays.items() if name not in numbers}
    if not numbers:
        raise InputError(f"{source} holds no column of numbers; add some.")
    return MatrixTable(np.column_stack(list(numbers.values())), (*numbers,), source, targets=others)


def _check_lengths(arrays: dict[str, Any], n_rows: int, source: str) -> None:
    for name, values in arrays.items():
        if len(values) != n_rows:
            raise InputError(
                f"the array {name!r} of {source} has {len(values)} rows where others have {n_rows}"
                "; all must be equally long."
            )
