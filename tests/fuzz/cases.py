"""A random table for a random method, written down as a handful of choices and a seed.

So it can be drawn by hypothesis (which makes failing cases small), drawn by number for the long
run in ``benchmarks/fuzz.py``, and looked at again.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass, fields, replace
from typing import Any

import numpy as np
from docs.tables import example_method

from featsieve.registry import METHODS, find_method
from tests.fuzz.containers import CONTAINERS, contain, holds_words
from tests.fuzz.targets import CLASSES, NUMBERS, TARGETS

SHAPES = ((2, 1), (2, 5), (3, 4), (9, 1), (10, 30), (25, 6), (40, 3), (60, 12))
DTYPES = (
    *("float64", "float32", "float16", "longdouble"),
    *("int64", "int32", "int16", "int8", "uint64", "uint16", "uint8", "bool"),
)
SCALES = ("plain", "large", "small", "mixed", "offset", "powers", "extreme")
GAPS = ("none", "nan", "inf")
COUNTS = (None, 1, 2, 0.5, 1.0, 100)
LARGEST = 100  # of integers, whatever their type can hold


@dataclass(frozen=True)
class Case:
    """The choices; everything else follows from the seed."""

    method: str
    container: str = "array"
    shape: tuple[int, int] = (25, 6)
    dtype: str = "float64"
    scale: str = "plain"
    gaps: str = "none"
    categories: bool = False
    target: str = "two classes"
    count: float | None = 2
    seed: int = 0

    @classmethod
    def choices(cls) -> dict[str, tuple[Any, ...]]:
        """What each field is drawn from; a failing case is made small towards the first."""
        # Most tables are plain, for a refused one tells little about the rest.
        return {
            "container": CONTAINERS,
            "shape": SHAPES[::-1],
            "dtype": ("float64",) * 6 + DTYPES,
            "scale": ("plain",) * 6 + SCALES,
            "gaps": ("none",) * 10 + GAPS,
            "categories": (False, False, False, True),
            "target": (*CLASSES, *NUMBERS, *CLASSES, *NUMBERS, *TARGETS),
            "count": COUNTS,
        }

    @classmethod
    def numbered(cls, seed: int, number: int) -> Case:
        """The same case for the same two numbers, whatever came before."""
        rng = np.random.default_rng([seed, number])
        drawn = {name: of[rng.integers(len(of))] for name, of in cls.choices().items()}
        method = METHODS[rng.integers(len(METHODS))].name
        return cls(method=method, seed=int(rng.integers(2**31)), **drawn).made_cheap()

    def made_cheap(self) -> Case:
        """A wrapper fits hundreds of models on 30 columns, and learns nothing from it."""
        is_long = self.method == "WrapperSelector" and self.shape[1] > 12
        return replace(self, shape=(25, 6)) if is_long else self

    def as_dict(self) -> dict[str, Any]:
        return asdict(self)

    @classmethod
    def from_dict(cls, given: dict[str, Any]) -> Case:
        known = {field.name for field in fields(cls)}
        values = {name: value for name, value in given.items() if name in known}
        return cls(**{**values, "shape": tuple(values.get("shape", cls.shape))})

    # --- the table -------------------------------------------------------------------------------

    def values(self) -> Any:
        """Cells of the dtype; in every other table some columns are constant, equal, rounded."""
        rng = np.random.default_rng(self.seed)
        X = rng.normal(size=self.shape)
        kinds = rng.integers(8, size=self.shape[1]) if self.seed % 2 else np.full(self.shape[1], 8)
        X[:, kinds == 0] = 1.0
        X[:, kinds == 1] = np.round(X[:, kinds == 1])
        for j in np.flatnonzero(kinds == 2):
            X[:, j] = X[:, 0]
        with np.errstate(over="ignore"):  # the largest are cut off below
            X = X * self._factors(rng) + (1e6 if self.scale == "offset" else 0.0)
        coded = list(self.coded)
        X[:, coded] = rng.integers(3, size=(self.shape[0], len(coded)))
        return self._with_gap(self._typed(X), rng)

    @property
    def coded(self) -> tuple[int, ...]:
        """Columns of three states, known as categories."""
        return tuple(range(1, self.shape[1], 2)) if self.categories else ()

    @property
    def is_general(self) -> bool:
        """No two columns are equal, none is constant, and there are rows enough to tell them."""
        return (
            self.seed % 2 == 0
            and self.dtype in ("float64", "float32")
            and self.shape[0] >= 25
            and not self.categories
        )

    def _factors(self, rng: Any) -> Any:
        if not self._is_fractional:
            return 10.0  # of the whole range of the type
        n = self.shape[1]
        largest = np.log10(float(np.finfo(self.dtype).max))
        if self.scale == "powers":
            return (
                2.0 ** rng.integers(-10, 10, n) if largest < 5 else 2.0 ** rng.integers(-40, 40, n)
            )
        powers = {"large": 0.8, "small": -0.8, "mixed": rng.uniform(-0.4, 0.4, n)}
        powers["extreme"] = rng.uniform(-0.97, 0.97, n)
        reach = min(largest, 308.0 if self.scale == "extreme" else 38.0)
        return 10.0 ** (reach * powers.get(self.scale, 0.0))

    @property
    def _is_fractional(self) -> bool:
        return np.issubdtype(self.dtype, np.floating)

    def _typed(self, X: Any) -> Any:
        if self._is_fractional:
            largest = float(np.finfo(self.dtype).max)
            return np.clip(X, -largest, largest).astype(self.dtype)
        if self.dtype == "bool":
            return X > 0
        limits = np.iinfo(self.dtype)
        lowest, highest = max(limits.min, -LARGEST), min(limits.max, LARGEST)
        return np.clip(np.round(X), lowest, highest).astype(self.dtype)

    def _with_gap(self, X: Any, rng: Any) -> Any:
        numbers = [j for j in range(self.shape[1]) if j not in self.coded]
        if self.gaps != "none" and self._is_fractional:
            X[rng.integers(len(X)), rng.choice(numbers)] = float(self.gaps)
        return X

    def target_values(self, X: Any) -> Any:
        return TARGETS[self.target](X, np.random.default_rng([self.seed, 1]))

    def contained(self, values: Any) -> Any:
        return contain(self.container, values, self.coded)

    # --- the selector ----------------------------------------------------------------------------

    def selector(self, container: str | None = None, **params: Any) -> Any:
        """For the table in its own container, or in another one."""
        selector = example_method(find_method(self.method)).set_params(**params)
        known = selector.get_params(deep=False)
        if "random_state" in known:
            selector.set_params(random_state=0)
        if "max_time" in known:
            selector.set_params(max_time=None)  # a machine under load is not what is tested
        if "n_features_to_select" in known:
            selector.set_params(n_features_to_select=self.count)
        if self.coded and not holds_words(container or self.container):
            selector.set_params(categorical_features=list(self.coded))
        return selector

    @property
    def is_deterministic(self) -> bool:
        return "random_state" not in self.selector().get_params(deep=True)

    @property
    def n_wanted(self) -> int:
        n_columns = self.shape[1]
        if self.count is None:
            return max(1, n_columns // 2)
        if isinstance(self.count, float):
            return max(1, int(self.count * n_columns))
        return min(int(self.count), n_columns)
