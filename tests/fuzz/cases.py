"""Random tables in every container, dtype, shape, scale and target, and what must hold of a fit.

A case is a handful of choices and a seed, so that it can be drawn by hypothesis (which makes
failing ones small), drawn by number for the long run in ``benchmarks/fuzz.py``, and written down.
"""

from __future__ import annotations

import copy
import traceback
import warnings
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass, fields, replace
from typing import Any

import numpy as np
import scipy.sparse as sp
from docs.tables import example_method
from joblib import parallel_config

from featsieve.errors import InputError
from featsieve.registry import METHODS, find_method

SHAPES = ((2, 1), (2, 5), (3, 4), (9, 1), (10, 30), (25, 6), (40, 3), (60, 12))
DTYPES = ("float64", "float32", "int64", "int8", "uint8", "bool")
SCALES = ("plain", "large", "small", "mixed", "offset", "powers")
COUNTS = (None, 1, 2, 0.5, 1.0, 100)
NEAR = 1e-6  # scores this close, relative to the largest, may be in either order


# --- containers ----------------------------------------------------------------------------------


def _frame(X: Any) -> Any:
    import pandas as pd

    return pd.DataFrame(X, columns=[f"c{j}" for j in range(X.shape[1])])


def _strided(X: Any) -> Any:
    wide = np.zeros((2 * len(X), 2 * X.shape[1]), dtype=X.dtype)
    wide[::2, ::2] = X
    return wide[::2, ::2]


def _read_only(X: Any) -> Any:
    X = X.copy()
    X.setflags(write=False)
    return X


def _nullable(X: Any) -> Any:
    return _frame(X).convert_dtypes()


def _arrow_backed(X: Any) -> Any:
    return _frame(X).convert_dtypes(dtype_backend="pyarrow")


def _polars(X: Any) -> Any:
    import polars as pl

    return pl.DataFrame({f"c{j}": X[:, j] for j in range(X.shape[1])})


def _pyarrow(X: Any) -> Any:
    import pyarrow as pa

    return pa.table({f"c{j}": np.ascontiguousarray(X[:, j]) for j in range(X.shape[1])})


CONTAINERS: dict[str, Callable[[Any], Any]] = {
    "array": np.ascontiguousarray,
    "fortran": np.asfortranarray,
    "strided": _strided,
    "read-only": _read_only,
    "pandas": _frame,
    "nullable": _nullable,
    "arrow-backed": _arrow_backed,
    "polars": _polars,
    "pyarrow": _pyarrow,
    "csr": sp.csr_array,
    "csc": sp.csc_array,
    "csr matrix": sp.csr_matrix,
}


# --- targets -------------------------------------------------------------------------------------


def _signal(X: Any, rng: Any) -> Any:
    values = np.asarray(X, dtype=np.float64)
    spread = values.std(axis=0)
    standard = (values - values.mean(axis=0)) / np.where(spread > 0, spread, 1.0)
    return standard[:, 0] + 0.3 * rng.normal(size=len(X))


def _classes(n: int) -> Callable[[Any, Any], Any]:
    def draw(X: Any, rng: Any) -> Any:
        return np.argsort(np.argsort(_signal(X, rng))) * min(n, len(X)) // len(X)

    return draw


def _words(X: Any, rng: Any) -> Any:
    return np.array(["no", "yes", "perhaps"])[_classes(3)(X, rng)]


def _nullable_series(X: Any, rng: Any) -> Any:
    import pandas as pd

    return pd.Series(_classes(2)(X, rng)).astype("Int64")


def _categorical(X: Any, rng: Any) -> Any:
    import pandas as pd

    return pd.Series(pd.Categorical(_words(X, rng)))


def _polars_series(X: Any, rng: Any) -> Any:
    import polars as pl

    return pl.Series(_signal(X, rng))


TARGETS: dict[str, Callable[[Any, Any], Any]] = {
    "two classes": _classes(2),
    "three classes": _classes(3),
    "every row a class": _classes(10**9),
    "booleans": lambda X, rng: _classes(2)(X, rng).astype(bool),
    "words": _words,
    "nullable": _nullable_series,
    "categorical": _categorical,
    "numbers": _signal,
    "float32": lambda X, rng: _signal(X, rng).astype(np.float32),
    "large numbers": lambda X, rng: 1e100 * _signal(X, rng),
    "small numbers": lambda X, rng: 1e-100 * _signal(X, rng),
    "polars numbers": _polars_series,
    "two outputs": lambda X, rng: np.c_[_classes(2)(X, rng), _classes(3)(X, rng)],
    "two numbers": lambda X, rng: np.c_[_signal(X, rng), rng.normal(size=len(X))],
    "constant": lambda X, rng: np.zeros(len(X), dtype=int),
}


# --- one case ------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Case:
    """The choices; everything else follows from the seed."""

    method: str
    container: str = "array"
    shape: tuple[int, int] = (25, 6)
    dtype: str = "float64"
    scale: str = "plain"
    target: str = "two classes"
    count: float | None = 2
    seed: int = 0

    @classmethod
    def choices(cls) -> dict[str, tuple[Any, ...]]:
        """What each field is drawn from; a failing case is made small towards the first."""
        return {
            "container": tuple(CONTAINERS),
            "shape": SHAPES[::-1],
            "dtype": DTYPES,
            "scale": SCALES,
            "target": tuple(TARGETS),
            "count": COUNTS,
        }

    @classmethod
    def numbered(cls, seed: int, number: int) -> Case:
        """The same case for the same two numbers, whatever came before."""
        rng = np.random.default_rng([seed, number])
        drawn = {name: of[rng.integers(len(of))] for name, of in cls.choices().items()}
        method = METHODS[number % len(METHODS)].name
        return cls(method=method, seed=int(rng.integers(2**31)), **drawn)

    def as_dict(self) -> dict[str, Any]:
        return asdict(self)

    @classmethod
    def from_dict(cls, given: dict[str, Any]) -> Case:
        known = {field.name for field in fields(cls)}
        values = {name: value for name, value in given.items() if name in known}
        return cls(**{**values, "shape": tuple(values["shape"])})

    def values(self) -> Any:
        """Numbers of the dtype; in every other table some columns are constant, equal, rounded."""
        rng = np.random.default_rng(self.seed)
        X = rng.normal(size=self.shape)
        kinds = rng.integers(8, size=self.shape[1]) if self.seed % 2 else np.full(self.shape[1], 8)
        X[:, kinds == 0] = 1.0
        X[:, kinds == 1] = np.round(X[:, kinds == 1])
        for j in np.flatnonzero(kinds == 2):
            X[:, j] = X[:, 0]
        return self._typed(X * self._factors(rng) + (1e6 if self.scale == "offset" else 0.0))

    @property
    def is_general(self) -> bool:
        """No two columns are equal, none is constant, and there are rows enough to tell them."""
        return self.seed % 2 == 0 and self.dtype.startswith("float") and self.shape[0] >= 25

    def _factors(self, rng: Any) -> Any:
        if not self.dtype.startswith("float"):
            return 10.0  # of the whole range of the type
        powers = {"large": 30.0, "small": -30.0, "mixed": rng.uniform(-15, 15, self.shape[1])}
        if self.scale == "powers":
            return 2.0 ** rng.integers(-40, 40, self.shape[1])
        return 10.0 ** powers.get(self.scale, 0.0)

    def _typed(self, X: Any) -> Any:
        if self.dtype.startswith("float"):
            return X.astype(self.dtype)
        if self.dtype == "bool":
            return X > 0
        limits = np.iinfo(self.dtype)
        return np.clip(np.round(X), max(limits.min, -100), min(limits.max, 100)).astype(self.dtype)

    def target_values(self, X: Any) -> Any:
        return TARGETS[self.target](X, np.random.default_rng([self.seed, 1]))

    def selector(self, **params: Any) -> Any:
        selector = example_method(find_method(self.method)).set_params(**params)
        known = selector.get_params(deep=False)
        if "random_state" in known:
            selector.set_params(random_state=0)
        if "n_features_to_select" in known:
            selector.set_params(n_features_to_select=self.count)
        return selector


# --- what a fit may do ---------------------------------------------------------------------------


@dataclass(frozen=True)
class Outcome:
    """A selection with its warnings, or the sentence of a refusal; ``problem`` if it is neither."""

    indices: tuple[int, ...] = ()
    scores: Any = None
    warned: tuple[str, ...] = ()
    refusal: str | None = None
    problem: str | None = None


def run(selector: Any, X: Any, y: Any) -> Outcome:
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            with parallel_config(backend="threading"):  # a wrapper would start processes
                selector.fit(X, y)
        except InputError as error:
            return Outcome(refusal=str(error))
        except Exception as error:
            if _raised_by_scikit_learn(error) or _raised_by_the_model(selector, error):
                return Outcome(refusal=str(error))
            where = traceback.extract_tb(error.__traceback__)[-1]
            place = f"{where.filename.rpartition('/')[2]}:{where.lineno}"
            return Outcome(problem=f"{type(error).__name__} at {place}: {error}"[:300])
    strange = [w for w in caught if w.category is not UserWarning]
    if hasattr(selector, "estimator"):  # a user's model may say what it wants
        strange = []
    if strange:
        return Outcome(problem=f"{strange[0].category.__name__}: {strange[0].message}"[:300])
    return Outcome(
        tuple(map(int, selector.indices_)),
        np.asarray(selector.scores_, dtype=np.float64),
        tuple(str(w.message) for w in caught),
    )


def _raised_by_scikit_learn(error: Exception) -> bool:
    """A refusal of its input checks."""
    last = traceback.extract_tb(error.__traceback__)[-1].filename.replace("\\", "/")
    return isinstance(error, (ValueError, TypeError)) and "/sklearn/utils/" in last


def _raised_by_the_model(selector: Any, error: Exception) -> bool:
    """A wrapper hands on what the user's estimator says."""
    frames = traceback.extract_tb(error.__traceback__)
    return hasattr(selector, "estimator") and any("/sklearn/" in f.filename for f in frames)


def same_selection(a: Outcome, b: Outcome) -> bool:
    """The same columns in the same order, up to the first tie.

    Where the two first differ, the criterion is to be equal but for rounding: from there on even
    the sets may differ.
    """
    if len(a.indices) != len(b.indices) or a.scores is None or b.scores is None:
        return False
    for i, j in zip(a.indices, b.indices, strict=True):
        if i != j:
            first, second = a.scores[i], b.scores[j]
            scale = np.abs(a.scores[np.isfinite(a.scores)]).max(initial=0.0)
            return bool(first == second or abs(first - second) <= NEAR * scale)
    return True


def problems(case: Case) -> Iterator[str]:
    """Everything that does not hold of this case; nothing if all does."""
    values = case.values()
    y = case.target_values(values)
    X = CONTAINERS[case.container](values)
    before = copy.deepcopy((X, y))
    selector = case.selector()
    first = run(selector, X, y)
    if first.problem:
        yield first.problem
        return
    if not unchanged(before, (X, y)):
        yield "the input was changed"
    if first.refusal is None:
        yield from _attributes(case, selector, first)
    for name, other in _again(case, values, X, y):
        yield from _difference(name, first, other)


def _attributes(case: Case, selector: Any, outcome: Outcome) -> Iterator[str]:
    n_columns = case.shape[1]
    chosen = outcome.indices
    wanted = _wanted(case.count, n_columns)
    if len(chosen) != wanted and not outcome.warned:
        yield f"{len(chosen)} columns where {wanted} were asked for, without a warning"
    if len(set(chosen)) != len(chosen) or not set(chosen) <= set(range(n_columns)):
        yield f"indices_ {chosen} are not distinct columns"
    if sorted(chosen) != np.flatnonzero(selector.support_).tolist():
        yield "support_ and indices_ differ"
    if outcome.scores.shape != (n_columns,):
        yield f"scores_ have the shape {outcome.scores.shape}, not one number per column"


def _wanted(count: float | None, n_columns: int) -> int:
    if count is None:
        return max(1, n_columns // 2)
    if isinstance(count, float):
        return max(1, int(count * n_columns))
    return min(int(count), n_columns)


def _again(case: Case, values: Any, X: Any, y: Any) -> Iterator[tuple[str, Outcome]]:
    """The same question asked in other ways."""
    selector = case.selector()
    run(selector, X, y)
    yield "repeated fit", run(selector, X, y)
    yield "n_jobs=2", run(case.selector(n_jobs=2), X, y)
    if case.container != "array":
        yield "container", run(case.selector(), np.ascontiguousarray(values), y)
    if case.is_general and is_deterministic(case):
        order = np.random.default_rng([case.seed, 2]).permutation(case.shape[1])
        outcome = run(case.selector(), CONTAINERS[case.container](values[:, order]), y)
        yield "order of columns", _reordered(outcome, order)
    # A user's model may depend on units.
    if case.dtype == "float64" and case.scale == "plain" and case.method != "WrapperSelector":
        powers = 2.0 ** np.random.default_rng([case.seed, 3]).integers(-30, 30, case.shape[1])
        yield (
            "unit of columns",
            run(case.selector(), CONTAINERS[case.container](values * powers), y),
        )


def is_deterministic(case: Case) -> bool:
    return "random_state" not in case.selector().get_params(deep=True)


def _reordered(outcome: Outcome, order: Any) -> Outcome:
    """In the numbers of the columns as they were."""
    if outcome.scores is None:
        return outcome
    scores = np.empty_like(outcome.scores)
    scores[order] = outcome.scores
    return replace(outcome, indices=tuple(order[list(outcome.indices)].tolist()), scores=scores)


def _difference(name: str, first: Outcome, other: Outcome) -> Iterator[str]:
    if other.problem:
        yield f"{name}: {other.problem}"
    elif (first.refusal is None) != (other.refusal is None):
        yield f"{name}: refused once only ({first.refusal or other.refusal})"
    elif first.refusal is None and not same_selection(first, other):
        yield f"{name}: {first.indices} and {other.indices}"


def unchanged(before: Any, after: Any) -> bool:
    return all(_equal(a, b) for a, b in zip(before, after, strict=True))


def _equal(a: Any, b: Any) -> bool:
    if sp.issparse(a):
        return a.dtype == b.dtype and (a != b).nnz == 0 and a.nnz == b.nnz
    if hasattr(a, "equals"):  # dataframes and series of all libraries
        return bool(a.equals(b))
    return a.dtype == b.dtype and np.array_equal(a, b)
