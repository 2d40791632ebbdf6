"""What all discretisers share, and the cut points they end in."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any, ClassVar, Protocol, Self, TypeVar, runtime_checkable

import numpy as np
import numpy.typing as npt
from sklearn.base import BaseEstimator, OneToOneFeatureMixin, TransformerMixin
from sklearn.utils.validation import check_is_fitted, validate_data

from featsieve.arrays import Array, BoolArray, FloatArray, IntArray
from featsieve.compiled.discretizing import encode_columns, encode_few_cuts, encode_many_cuts
from featsieve.engines.base import BYTES_PER_NUMBER, spans
from featsieve.engines.remote import CanMapTaken
from featsieve.errors import InputError
from featsieve.input.parameters import check_integer, effective_n_jobs
from featsieve.input.tables import (
    as_floats,
    column_names,
    is_frame,
    rounded_columns,
    unmasked,
    warn_rounded,
)
from featsieve.input.targets import scan_target
from featsieve.protocols import Engine
from featsieve.runtime.pool import ordered_map
from featsieve.schema import Schema
from featsieve.statistics.weights import relative_weights

R = TypeVar("R")


@runtime_checkable
class CanLend(Protocol):
    """All cells as ``take`` would copy them, where they are; None where they lie otherwise."""

    def lent(self) -> FloatArray | None: ...


COPIES_PER_TILE = 4  # the columns taken, what is made of them, and the engine's own copy
VALUES_PER_PIECE = 1 << 18  # they keep a thread busy for about a millisecond, and fit its cache


def pieces(n_columns: int, n_values: int) -> list[tuple[int, int]]:
    """Columns of so many values each in pieces of work for threads."""
    return list(spans(n_columns, max(1, VALUES_PER_PIECE // max(n_values, 1))))


def map_taken(
    engine: Engine,
    fn: Callable[[FloatArray, tuple[int, int]], list[R]],
    rows: IntArray | None,
    columns: IntArray,
    n_values: int,
    message: str,
    n_jobs: int,
) -> list[R]:
    """One result per column, from the cells of some rows: where they are, or here in threads.

    ``fn`` gets the cells that were taken, and the first and last + 1 of the columns to look at; it
    looks at about ``n_values`` values per column.
    """
    n_rows = engine.n_samples if rows is None else len(rows)
    bytes_per_column = COPIES_PER_TILE * BYTES_PER_NUMBER * max(n_rows, 1)
    at_once = max(1, engine.memory_limit // bytes_per_column)
    is_all = rows is None and len(columns) == engine.n_features
    lent = engine.lent() if is_all and isinstance(engine, CanLend) else None
    if isinstance(engine, CanMapTaken):
        there = engine.map_taken(partial(_of_all_columns, fn), rows, columns, at_once)
        if there is not None:
            return [result for _, results in there for result in results]
    done: list[R] = []
    for start, stop in spans(len(columns), at_once if lent is None else len(columns)):
        taken = None if stop - start == engine.n_features else columns[start:stop]
        X = np.ascontiguousarray(engine.take(rows, taken)[0]) if lent is None else lent
        parts = pieces(stop - start, n_values)
        n_threads = n_jobs if len(parts) >= 2 * n_jobs else 1
        for results in ordered_map(partial(fn, X), parts, n_threads):
            done += results
            engine.monitor.tick(message, len(done), len(columns))
    return done


def _of_all_columns(fn: Callable[[FloatArray, tuple[int, int]], list[R]], X: FloatArray) -> list[R]:
    return fn(np.ascontiguousarray(X), (0, X.shape[1]))


MAX_STATES = 255
MAX_CUTS = MAX_STATES - 2  # one state more than cuts, and one for missing cells
check_bins = partial(check_integer, minimum=2, maximum=MAX_CUTS + 1)

# More cuts than this are searched by bisection.
FEW_CUTS = 16
ROWS_AT_A_TIME = 256


@dataclass(frozen=True)
class Cuts:
    """Sorted cut points per column: state s holds cuts[s − 1] < x ≤ cuts[s].

    A missing cell is a state of its own, after all others, and counted in ``n_states``.
    """

    columns: tuple[FloatArray, ...]
    n_states: IntArray = field(init=False, repr=False)
    few: dict[Any, FloatArray] = field(init=False, repr=False)
    _sizes: IntArray = field(init=False, repr=False)

    def __post_init__(self) -> None:
        """``few``: cuts of the columns that have few, columns × cuts, for both types of numbers."""
        sizes = np.array([len(cuts) for cuts in self.columns], dtype=np.int64)
        is_few = sizes <= FEW_CUTS
        few = np.full((len(sizes), int(np.max(sizes[is_few], initial=0))), np.inf)
        for column in np.flatnonzero(is_few):
            few[column, : sizes[column]] = self.columns[column]
        with np.errstate(over="ignore"):
            single = few.astype(np.float32)
            # Rounded down, they separate the same numbers.
            single = np.where(single > few, np.nextafter(single, np.float32(-np.inf)), single)
        by_type = {few.dtype: few, single.dtype: single}
        vars(self).update(_sizes=sizes, n_states=sizes + 2, few=by_type)

    def encode(self, X: Any) -> npt.NDArray[np.uint8]:
        """Codes of the cells of a dense or sparse array."""
        if not isinstance(X, np.ndarray):
            X = np.asarray(X.toarray(), dtype=np.float64)
        X = np.asarray(X, dtype=X.dtype if X.dtype == np.float32 else np.float64)
        codes = np.empty(X.shape, dtype=np.uint8)
        missing = (self._sizes + 1).astype(np.uint8)
        few = np.ascontiguousarray(self.few[X.dtype].T)
        if X.T.flags.c_contiguous and X.shape[1] > 1:
            states = np.empty(ROWS_AT_A_TIME, dtype=np.uint8)
            encode_columns(X.T, few, missing, states, codes)
        else:
            encode_few_cuts(np.ascontiguousarray(X), few, missing, codes)
        for column in np.flatnonzero(self._sizes > FEW_CUTS):
            states = np.empty(len(X), dtype=np.uint8)
            values = np.ascontiguousarray(X[:, column], dtype=np.float64)
            encode_many_cuts(values, self.columns[column], states)
            codes[:, column] = states
        return codes

    def take(self, columns: Sequence[int]) -> Cuts:
        return Cuts(tuple(self.columns[j] for j in columns))


def cuts_between(values: FloatArray) -> FloatArray:
    """Midpoints of adjacent distinct sorted values; never a value itself but for rounding."""
    middle = values[:-1] / 2 + values[1:] / 2
    # Neighbouring floats have no midpoint between them: the lower one closes its interval.
    return np.where(middle < values[1:], middle, values[:-1])


def category_cuts(schema: Schema, column: int) -> FloatArray:
    """Cuts that keep the codes 0, 1, … of a categorical column as they are."""
    n_states = schema.n_states(column)
    if n_states > MAX_CUTS + 1:
        refuse_states(schema.names[column], n_states)
    return np.arange(n_states - 1) + 0.5


def refuse_states(name: str, n_states: int | str) -> None:
    raise InputError(
        f"column {name!r} has {n_states} states, at most {MAX_CUTS + 1} (and one for missing "
        "cells) are allowed; group its rare states, drop it, or discretise it."
    )


@dataclass(frozen=True)
class Sample:
    """The rows that cuts come from, with their weights where there are any.

    ``rows`` is what to ask the engine for: None is all rows.
    """

    rows: IntArray | None
    n_rows: int
    weights: FloatArray | None = None


class Discretizer(OneToOneFeatureMixin, TransformerMixin, BaseEstimator):
    """Numbers to codes 0, 1, …; a missing cell gets a code of its own, after all others."""

    needs_target: ClassVar[bool] = False
    # For columns of fewer rows threads wait for Python's lock more than they work.
    _rows_worth_threads: ClassVar[int] = 4096

    def fit(self, X: Any, y: Any = None) -> Self:
        """Find the cuts of each column.

        Parameters
        ----------
        X : array of shape (n_samples, n_features); NaN is allowed
        y : class labels, for a discretiser that needs them

        Returns
        -------
        self
        """
        X = np.ascontiguousarray(self._checked(X, reset=True))
        classes = self._class_codes(y, len(X))
        self._check()
        n_classes = 1 if classes is None else int(classes.max(initial=0)) + 1
        parts = ordered_map(
            partial(self._short_cuts, classes, None, X),
            pieces(X.shape[1], len(X) * n_classes),
            effective_n_jobs(self._jobs()),
        )
        self.cuts_ = [cuts for part in parts for cuts in part]
        return self

    def transform(self, X: Any) -> npt.NDArray[np.uint8]:
        """Codes of the cells; a value equal to a cut belongs to the interval below it."""
        check_is_fitted(self)
        return Cuts(tuple(self.cuts_)).encode(self._checked(X, reset=False))

    def cuts_from(
        self, engine: Engine, sample: Sample, classes_of: Callable[[Array], IntArray]
    ) -> Cuts:
        """Cuts of an engine's columns from a sample; a categorical column keeps its states.

        ``classes_of`` makes class codes of a 2-D target; where they are looked at, each of them is
        counted at each value.
        """
        self._check()
        numeric = engine.schema.numeric_columns
        cuts = {column: category_cuts(engine.schema, column) for column in engine.schema.categories}
        classes = classes_of(engine.targets(sample.rows)) if self.needs_target else None
        n_classes = 1 if classes is None else int(classes.max(initial=0)) + 1
        fn, n_values = partial(self._short_cuts, classes, sample.weights), sample.n_rows * n_classes
        n_jobs = engine.n_jobs if sample.n_rows >= self._rows_worth_threads else 1
        numeric_cuts = map_taken(
            engine, fn, sample.rows, numeric, n_values, "cutting columns", n_jobs
        )
        cuts.update(zip(numeric.tolist(), numeric_cuts, strict=True))
        return Cuts(tuple(map(cuts.__getitem__, range(engine.n_features))))

    def cuts_of(self, values: FloatArray, weights: FloatArray | None = None) -> FloatArray:
        """Cuts of one column on its own, without classes; only ratios of weights count."""
        self._check()
        if weights is not None and (weights > 0).any():
            values, weights = values[weights > 0], relative_weights(weights[weights > 0])
        return self._short_cuts(None, weights, values[:, None], (0, 1))[0]

    def _short_cuts(
        self,
        classes: IntArray | None,
        weights: FloatArray | None,
        X: FloatArray,
        tile: tuple[int, int],
    ) -> list[FloatArray]:
        """Of some columns of X, never more than there are codes for."""
        return [cuts[:MAX_CUTS] for cuts in self._cuts_of_tile(X, tile, classes, weights)]

    def _cuts_of_tile(
        self,
        X: FloatArray,
        tile: tuple[int, int],
        classes: IntArray | None,
        weights: FloatArray | None,
    ) -> list[FloatArray]:
        columns = np.ascontiguousarray(X[:, slice(*tile)].T, dtype=np.float64)
        return [self._cuts_of_column(values, classes, weights) for values in columns]

    def _cuts_of_column(
        self, values: FloatArray, classes: IntArray | None, weights: FloatArray | None
    ) -> FloatArray:
        known = self._counts_for_cuts(values)
        if weights is not None:
            known &= weights > 0
        labels = None if classes is None else classes[known]
        counts = None if weights is None else weights[known]
        return self._cuts(_finite(values[known]), labels, counts)

    def _counts_for_cuts(self, values: FloatArray) -> BoolArray:
        """Known cells. Infinite ones have a rank; where sizes count, they are also left out."""
        return ~np.isnan(values)

    def _cuts(
        self, values: FloatArray, classes: IntArray | None, weights: FloatArray | None
    ) -> FloatArray:
        """Sorted cuts of one column without missing cells; ``weights`` are positive."""
        raise NotImplementedError(f"{type(self).__name__} does not say where it cuts")

    def _check(self) -> None:
        """Refuse impossible parameters."""

    def _jobs(self) -> int | None:
        return getattr(self, "n_jobs", None)

    def _checked(self, X: Any, *, reset: bool) -> FloatArray:
        X = as_floats(unmasked(X))
        if reset:
            _warn_of_rounding(X)
        with np.errstate(invalid="ignore"):  # scikit-learn looks for infinity by a sum
            return validate_data(
                self, X, dtype=np.float64, ensure_all_finite="allow-nan", reset=reset
            )

    def _class_codes(self, y: Any, n_rows: int) -> IntArray | None:
        if not self.needs_target:
            return None
        if y is None:
            raise InputError(
                f"{type(self).__name__} cuts by classes and requires y to be passed, but the "
                "target y is None; give one label per row."
            )
        from sklearn.utils import check_consistent_length, column_or_1d

        labels = column_or_1d(y, warn=True)
        check_consistent_length(np.empty(n_rows), labels)
        _refuse_no_classes(labels, type(self).__name__)
        return np.unique(labels, return_inverse=True)[1]

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.target_tags.required = self.needs_target
        tags.transformer_tags.preserves_dtype = []
        return tags


def _warn_of_rounding(X: Any) -> None:
    if is_frame(X) or (isinstance(X, np.ndarray) and X.ndim == 2):
        names = column_names(X)
        columns = sorted(rounded_columns(X))
        warn_rounded(f"x{j}" if names is None else str(names[j]) for j in columns)


def _refuse_no_classes(labels: Any, name: str) -> None:
    scan = scan_target(labels)
    if scan.missing:
        raise InputError(
            f"y has {scan.missing} missing (NaN) or infinite labels, and {name} cuts by classes; "
            "drop those rows, or fill them in."
        )
    if scan.fractional:
        raise InputError(
            f"y is continuous, and {name} cuts by classes; give labels, or cut y itself first, for "
            "example by Quantile."
        )


def _finite(values: FloatArray) -> FloatArray:
    """Infinite cells as the largest finite ones: they are extreme, and have no midpoints."""
    return values if np.isfinite(values).all() else np.nan_to_num(values)
