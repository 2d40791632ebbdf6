"""Integers that floating-point numbers cannot tell apart: said at the boundary, never silently."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from featsieve.arrays import Array
from featsieve.input.columns import is_sparse
from featsieve.runtime.user_warnings import warn_user

LARGEST_EXACT = 1 << 53


def is_rounded(values: Array) -> bool:
    """Whether some of these numbers are integers that a float cannot hold.

    >>> is_rounded(np.array([2**53])), is_rounded(np.array([-(2**53) - 1]))
    (False, True)
    """
    if values.dtype.kind not in "iu" or values.dtype.itemsize < 8 or not values.size:
        return False
    return int(values.max()) > LARGEST_EXACT or int(values.min()) < -LARGEST_EXACT


def rounded_columns(container: Any) -> frozenset[int]:
    """The columns of a table in memory, or of a part of one, that hold such integers."""
    if is_sparse(container):
        if not is_rounded(container.data):
            return frozenset()
        cells = container.tocoo()
        beyond = (cells.data > LARGEST_EXACT) | (cells.data < -LARGEST_EXACT)
        return frozenset(np.unique(cells.coords[1][beyond]).tolist())
    if isinstance(container, np.ndarray):
        if not is_rounded(container):
            return frozenset()
        return frozenset(j for j, column in enumerate(container.T) if is_rounded(column))
    return _rounded_in_frame(container)


def _rounded_in_frame(frame: Any) -> frozenset[int]:
    import narwhals.stable.v2 as nw

    wrapped = nw.from_native(frame, eager_only=True)
    wide = (nw.Int64, nw.UInt64, nw.Int128, nw.UInt128)
    columns = [j for j, dtype in enumerate(wrapped.schema.values()) if dtype in wide]
    names = wrapped.columns
    return frozenset(j for j in columns if _is_beyond(wrapped.get_column(names[j])))


def _is_beyond(column: Any) -> bool:
    if column.len() == column.null_count():
        return False
    return int(column.max()) > LARGEST_EXACT or int(column.min()) < -LARGEST_EXACT


def warn_rounded(names: Iterable[str]) -> None:
    """One warning for all columns whose last digits are lost."""
    listed = [repr(name) for name in names]
    if listed:
        more = f" (and {len(listed) - 3} more)" if len(listed) > 3 else ""
        warn_user(
            f"{', '.join(listed[:3])}{more}: integers beyond 2^53 lose their last digits as "
            "floating-point numbers; drop identifiers or name them in categorical_features, or "
            "subtract a constant."
        )
