"""What a careful person sees in a table before trusting an answer about it."""

from __future__ import annotations

import re
import shlex
from collections import Counter
from collections.abc import Iterator
from typing import Any

import numpy as np

from featsieve.arrays import Array, FloatArray, IntArray
from featsieve.input.targets import scan_target
from featsieve.io.gaps import holds_exactly
from featsieve.io.model import Note, as_list, as_numbers, holds_numbers, quoted
from featsieve.io.tidied import encoded_states

MOST_CELLS = 50_000_000
RARE_SHARE, RARE_ROWS = 0.02, 10
COPY = 1 - 1e-9
FEW_ROWS = 7
CODES_FOR_GAPS = frozenset({9.0, 99.0, 999.0, 9999.0, 99999.0, 999999.0, 888.0, 8888.0, 1e30, 1e20})
_ID_NAME = re.compile(r"(^|[_\W])(id|ids|index|idx|row|key|uuid|guid|nr|no)$", re.IGNORECASE)


def notices(data: Any, target: str, task: str, *, rows: IntArray | None = None) -> list[Note]:
    """One note per kind of oddity, of a pyarrow table; nothing is changed.

    ``rows`` are the numbers of its rows where it is a sample of a larger table.
    """
    if data.num_rows * data.num_columns > MOST_CELLS or data.num_rows < 3:
        return []
    columns = {name: as_numbers(data.column(name)) for name in data.column_names}
    features = {name: _codes_or_numbers(column) for name, column in columns.items()}
    y = features.pop(target)
    is_text = {name for name, column in columns.items() if not holds_numbers(column.type)}
    by_classes = task == "classification" or (
        task == "auto" and (target in is_text or scan_target(y).looks_like_classes())
    )
    comparable = {n: x for n, x in features.items() if by_classes or n not in is_text}
    checks = (
        _constants(features),
        _duplicates(features, columns),
        _identifiers(features, is_text, np.arange(data.num_rows) if rows is None else rows),
        _leaks(comparable, y, by_classes),
        _codes_for_gaps({name: x for name, x in features.items() if name not in is_text}),
        _imbalance(y, by_classes),
    )
    return [note for check in checks for note in check]


def _codes_or_numbers(column: Any) -> FloatArray:
    """Numbers as they are, states as codes, gaps and infinities as NaN."""
    import pyarrow as pa

    if holds_numbers(column.type):
        if pa.types.is_integer(column.type):
            column = _within_doubles(column)
        numbers = np.asarray(column.cast(pa.float64(), safe=False).to_numpy(), dtype=np.float64)
        return np.where(np.isfinite(numbers), numbers, np.nan)
    encoded = encoded_states(column)
    codes = encoded.indices.fill_null(-1).to_numpy(zero_copy_only=False)
    return np.where(codes < 0, np.nan, codes).astype(np.float64)


def _within_doubles(column: Any) -> Any:
    """Integers beyond 2^53 less the smallest of them: as doubles they would be rounded."""
    import pyarrow.compute as pc

    low = pc.min(column)
    return column if holds_exactly(column) else pc.subtract_checked(column, low)


def _have_same_offset(a: Any, b: Any) -> bool:
    """Of large integers only the differences were compared."""
    return not (holds_numbers(a.type) and holds_numbers(b.type)) or a[0].as_py() == b[0].as_py()


def _constants(features: dict[str, FloatArray]) -> Iterator[Note]:
    names = [name for name, x in features.items() if _is_constant(x)]
    if names:
        yield Note(f"{quoted(names)}: the same value in every row")


def _is_constant(x: FloatArray) -> bool:
    known = x[~np.isnan(x)]
    return len(known) > 0 and bool(known.min() == known.max())


def _duplicates(features: dict[str, FloatArray], columns: dict[str, Any]) -> Iterator[Note]:
    first: dict[bytes, str] = {}
    pairs = []
    for name, x in features.items():
        original = first.setdefault(x.tobytes(), name)
        if original != name and _have_same_offset(columns[name], columns[original]):
            pairs.append(f"{name!r} is a copy of {original!r}")
    if pairs:
        more = f" and {len(pairs) - 3} more such pairs" if len(pairs) > 3 else ""
        yield Note("; ".join(pairs[:3]) + more)


def _identifiers(
    features: dict[str, FloatArray], is_text: set[str], rows: IntArray
) -> Iterator[Note]:
    names = [n for n, x in features.items() if _is_identifier(n, x, n in is_text, rows)]
    if names:
        drop = shlex.quote(as_list(names[:3]))
        yield Note(
            f"{quoted(names)}: a different value in every row, as identifiers have; --drop {drop} "
            "leaves them out"
        )


def _is_identifier(name: str, x: FloatArray, is_text: bool, rows: IntArray) -> bool:
    if len(x) < 20 or np.isnan(x).any() or len(np.unique(x)) < len(x):
        return False
    if is_text:
        return True
    is_integer = bool((x == np.floor(x)).all())
    consecutive = is_integer and x.max() - x.min() == len(x) - 1
    consecutive = consecutive or bool((x - x[0] == rows - rows[0]).all())
    return consecutive or (is_integer and bool(_ID_NAME.search(name)))


def _codes_for_gaps(features: dict[str, FloatArray]) -> Iterator[Note]:
    """-999 and the like, where no other value is anywhere near."""
    seen = [(name, code) for name, x in features.items() for code in _far_codes(x)]
    for name, (code, n_rows) in seen[:3]:
        yield Note(
            f"{name!r}: {code:g} in {n_rows} rows stands far from all other values, as a code for "
            "a missing cell does; if it is one, leave those cells empty"
        )


def _far_codes(x: FloatArray) -> Iterator[tuple[float, int]]:
    if np.isnan(x).all():
        return
    for code in (float(np.nanmin(x)), float(np.nanmax(x))):
        if abs(code) not in CODES_FOR_GAPS:
            continue
        others = x[(x != code) & ~np.isnan(x)]
        n_rows = int((x == code).sum())
        if n_rows >= 2 and len(others) > n_rows:
            span = others.max() - others.min()
            if min(abs(code - others.min()), abs(code - others.max())) > 2 * max(span, 1e-9):
                yield code, n_rows


def _leaks(features: dict[str, FloatArray], y: FloatArray, by_classes: bool) -> Iterator[Note]:
    """Codes of text say nothing about numbers but the order in which the states appeared."""
    suspects = features if by_classes else _perhaps_copies(features, y)
    names = [name for name in suspects if _tells_all(features[name], y, by_classes)]
    if names:
        drop = shlex.quote(as_list(names[:3]))
        yield Note(
            f"{quoted(names)}: tells the target exactly, as a copy of it would; if it is not known "
            f"before the target is, --drop {drop}"
        )


def _perhaps_copies(features: dict[str, FloatArray], y: FloatArray) -> list[str]:
    """Leaves out, by a few rows, columns that neither rise nor fall with y, as most do not."""
    rows = np.flatnonzero(~np.isnan(y))
    rows = rows[np.argsort(y[rows], kind="stable")]
    rows = rows[np.linspace(0, len(rows) - 1, FEW_ROWS).astype(np.intp)] if len(rows) else rows
    if len(np.unique(y[rows])) < FEW_ROWS:
        return list(features)
    return [name for name, x in features.items() if _may_follow(np.diff(x[rows]), float(np.ptp(x)))]


def _may_follow(steps: FloatArray, span: float) -> bool:
    """All up or all down, but for what a copy may be off; or some cells are not known."""
    little = 1e-4 * span  # more than copies, in the sense of COPY, are
    rises, falls = (steps > little).any(), (steps < -little).any()
    return bool(not (rises and falls) or np.isnan(span))


def _tells_all(x: FloatArray, y: FloatArray, by_classes: bool) -> bool:
    known = ~np.isnan(x)
    x, y = x[known], y[known]
    if len(x) < 10 or x.min() == x.max() or y.min() == y.max():
        return False
    if by_classes:
        return _determines_classes(x, y)
    return _correlation(x, y) >= COPY or _correlation(_ranks(x), _ranks(y)) >= COPY


def _determines_classes(x: FloatArray, y: FloatArray) -> bool:
    """Every value of x goes with one class, and the values are few enough for that to mean much."""
    values = np.unique(x)
    n_classes = len(np.unique(y))
    if len(values) > max(n_classes, len(x) // 10):
        return False
    return len(np.unique(np.stack([x, y]), axis=1).T) == len(values)


def _correlation(x: FloatArray, y: FloatArray) -> float:
    x, y = _standardized(x), _standardized(y)
    return float(abs(np.mean(x * y)))


def _standardized(x: FloatArray) -> FloatArray:
    centered = x - x.mean()
    largest = np.abs(centered).max()
    scaled = centered / largest if largest else centered
    deviation = scaled.std()
    return np.asarray(scaled / deviation if deviation else scaled)


def _ranks(x: Array) -> FloatArray:
    return np.unique(x, return_inverse=True)[1].astype(np.float64)


def _imbalance(y: FloatArray, by_classes: bool) -> Iterator[Note]:
    if not by_classes:
        return
    counts = Counter(y.tolist())
    rarest = min(counts.values())
    if len(counts) > 1 and (rarest < RARE_ROWS or rarest < RARE_SHARE * len(y)):
        yield Note(
            f"the rarest of {len(counts)} classes has {rarest} of {len(y)} rows; scores for it "
            "rest on few rows"
        )
