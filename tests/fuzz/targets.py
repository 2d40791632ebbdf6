"""What may be predicted: classes and numbers in every type, and some that no method can take."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np


def _signal(X: Any, rng: Any) -> Any:
    values = np.asarray(X, dtype=np.float64)
    values = np.where(np.isfinite(values), values, 0.0)
    values = values / np.maximum(np.abs(values).max(axis=0), np.finfo(float).tiny)
    spread = values.std(axis=0)
    standard = (values - values.mean(axis=0)) / np.where(spread > 0, spread, 1.0)
    return standard[:, 0] + 0.3 * rng.normal(size=len(X))


def _classes(n: int) -> Callable[[Any, Any], Any]:
    def draw(X: Any, rng: Any) -> Any:
        return np.argsort(np.argsort(_signal(X, rng))) * min(n, len(X)) // len(X)

    return draw


def _words(X: Any, rng: Any) -> Any:
    return np.array(["no", "yes", "perhaps"])[_classes(3)(X, rng)]


def _lonely(X: Any, rng: Any) -> Any:
    """One row is of a class of its own."""
    return (np.arange(len(X)) == 1).astype(int)


def _pandas(draw: Callable[[Any, Any], Any], dtype: str | None = None) -> Callable[[Any, Any], Any]:
    def series(X: Any, rng: Any) -> Any:
        import pandas as pd

        values = pd.Series(draw(X, rng))
        return values if dtype is None else values.astype(dtype)

    return series


def _polars(draw: Callable[[Any, Any], Any]) -> Callable[[Any, Any], Any]:
    def series(X: Any, rng: Any) -> Any:
        import polars as pl

        return pl.Series("y", draw(X, rng))

    return series


def _pyarrow(draw: Callable[[Any, Any], Any]) -> Callable[[Any, Any], Any]:
    def column(X: Any, rng: Any) -> Any:
        import pyarrow as pa

        return pa.chunked_array([pa.array(draw(X, rng))])

    return column


def _two_numbers(X: Any, rng: Any) -> Any:
    return np.c_[_signal(X, rng), rng.normal(size=len(X))]


def _frame_of_two(X: Any, rng: Any) -> Any:
    import pandas as pd

    return pd.DataFrame(_two_numbers(X, rng), columns=["first", "second"])


def _with(value: float) -> Callable[[Any, Any], Any]:
    def draw(X: Any, rng: Any) -> Any:
        y = _signal(X, rng)
        y[-1] = value
        return y

    return draw


def _mixed_objects(X: Any, rng: Any) -> Any:
    return np.array([1, "one", 2.5], dtype=object)[_classes(3)(X, rng)]


def _days(X: Any, rng: Any) -> Any:
    return np.datetime64("2020-01-01") + _classes(3)(X, rng)


NUMBERS: dict[str, Callable[[Any, Any], Any]] = {
    "numbers": _signal,
    "float32": lambda X, rng: _signal(X, rng).astype(np.float32),
    "float16": lambda X, rng: _signal(X, rng).astype(np.float16),
    "swapped bytes": lambda X, rng: _signal(X, rng).astype(">f8"),
    "large numbers": lambda X, rng: 1e100 * _signal(X, rng),
    "small numbers": lambda X, rng: 1e-100 * _signal(X, rng),
    "shifted numbers": lambda X, rng: _signal(X, rng) + 1e6,
    "counts": lambda X, rng: np.floor(20 * (_signal(X, rng) + 5)).astype(np.uint16),
    "list of numbers": lambda X, rng: _signal(X, rng).tolist(),
    "pandas numbers": _pandas(_signal, "Float64"),
    "polars numbers": _polars(_signal),
    "pyarrow numbers": _pyarrow(_signal),
    "one column": lambda X, rng: _signal(X, rng)[:, None],
    "two numbers": _two_numbers,
    "frame of two": _frame_of_two,
}

CLASSES: dict[str, Callable[[Any, Any], Any]] = {
    "two classes": _classes(2),
    "three classes": _classes(3),
    "every row a class": _classes(10**9),
    "lonely": _lonely,
    "booleans": lambda X, rng: _classes(2)(X, rng).astype(bool),
    "words": _words,
    "bytes": lambda X, rng: _words(X, rng).astype("S"),
    "object words": lambda X, rng: _words(X, rng).astype(object),
    "mixed objects": _mixed_objects,
    "list of words": lambda X, rng: _words(X, rng).tolist(),
    "nullable": _pandas(_classes(2), "Int64"),
    "nullable booleans": _pandas(lambda X, rng: _classes(2)(X, rng).astype(bool), "boolean"),
    "categorical": _pandas(_words, "category"),
    "arrow words": _pandas(_words, "string[pyarrow]"),
    "polars words": _polars(_words),
    "pyarrow words": _pyarrow(_words),
    "two outputs": lambda X, rng: np.c_[_classes(2)(X, rng), _classes(3)(X, rng)],
}

REFUSED: dict[str, Callable[[Any, Any], Any]] = {
    "constant": lambda X, rng: np.zeros(len(X), dtype=int),
    "not a number": _with(np.nan),
    "infinite": _with(-np.inf),
    "missing": _pandas(_with(np.nan), "Float64"),
    "complex": lambda X, rng: _signal(X, rng) * 1j,
    "days": _days,
    "too short": lambda X, rng: _signal(X, rng)[:-1],
    "three dimensions": lambda X, rng: _signal(X, rng)[:, None, None],
    "a scalar": lambda X, rng: 1.0,
    "a word": lambda X, rng: "target",
    "nothing": lambda X, rng: None,
}

TARGETS = NUMBERS | CLASSES | REFUSED
