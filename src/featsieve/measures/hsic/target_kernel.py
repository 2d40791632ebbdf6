"""Kernels on the target: P-HSIC section 5, delta, Gaussian, any function, given Gram matrices.

A target kernel turns two blocks of y into a tile of L. It holds arrays only, so that it can travel
to where the rows are."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any, Protocol, Self, runtime_checkable

import numpy as np

from featsieve.arrays import Array, FloatArray, IntArray
from featsieve.engines.base import require_memory
from featsieve.errors import InputError
from featsieve.input.parameters import is_word, not_allowed
from featsieve.linalg.inverse_root import inverse_root
from featsieve.measures.hsic.kernels import (
    KernelFunction,
    kernel_function,
    median_kernel_distance,
    positive_bandwidth,
)
from featsieve.measures.hsic.medians import median_rows
from featsieve.measures.hsic.object_kernels import ObjectKernel
from featsieve.protocols import Engine
from featsieve.schema import Block, Target

# What stands for classes and what for numbers: P-HSIC, P-LSMI's authors, HSIC Lasso's authors.
BY_TASK = {
    "auto": ("labels", "rbf"),
    "delta_or_rbf": ("delta", "rbf"),
    "balanced_delta_or_rbf": ("balanced_delta", "rbf"),
}
TARGET_LANDMARKS = 64
NO_COLUMNS: IntArray = np.empty(0, dtype=np.intp)


class TargetKernel(Protocol):
    """L between the rows of two blocks of targets."""

    def tile(self, a: Block, b: Block) -> FloatArray: ...


@runtime_checkable
class HasFeatures(Protocol):
    """A target kernel that is (or is close to) a product of finite features."""

    def features(self, y: Array) -> FloatArray: ...


@dataclass(frozen=True)
class LabelVectors:
    """A linear kernel on one vector per class and output: BIN and MUL."""

    vectors: tuple[FloatArray, ...]

    def tile(self, a: Block, b: Block) -> FloatArray:
        return self.features(a.y) @ self.features(b.y).T

    def features(self, y: Array) -> FloatArray:
        return np.hstack([v[y[:, o].astype(np.intp)] for o, v in enumerate(self.vectors)])


@dataclass(frozen=True)
class Delta:
    """1 for rows with the same target, else 0."""

    def tile(self, a: Block, b: Block) -> FloatArray:
        same = np.ones((a.n_rows, b.n_rows), dtype=np.bool_)
        for output in range(a.y.shape[1]):
            same &= a.y[:, output, None] == b.y[:, output]
        return same.astype(np.float64)


Classes = tuple[Array, ...]


def class_values(y: Array, classes: Classes) -> Array:
    """The labels behind codes, as the user gave them; numbers without classes stay as they are."""
    if not classes:
        return y
    return np.column_stack([c[y[:, o].astype(np.intp)] for o, c in enumerate(classes)])


@dataclass(frozen=True)
class NumericTarget:
    """A kernel function on the numbers of y, also where they are class labels.

    ``factor`` brings y to a size whose squares neither vanish nor overflow; bandwidth and landmarks
    are for y times ``factor``.
    """

    function: KernelFunction
    bandwidth: float
    landmarks: FloatArray
    factor: float = 1.0
    classes: Classes = ()

    def tile(self, a: Block, b: Block) -> FloatArray:
        return self.function.gram(self._numbers(a.y), self._numbers(b.y), self.bandwidth)

    def _numbers(self, y: Array) -> FloatArray:
        return np.asarray(class_values(y, self.classes), dtype=np.float64) * self.factor

    def features(self, y: Array) -> FloatArray:
        """Itself when linear, else Nyström features: on few outputs they are all but exact."""
        y = self._numbers(y)
        if self.function.degree == 1:
            return y
        marks = self.landmarks
        root = inverse_root(self.function.gram(marks, marks, self.bandwidth))
        return self.function.gram(y, marks, self.bandwidth) @ root.T


@dataclass(frozen=True)
class FunctionOfTarget:
    """A user's function of two 2-D arrays of targets, labels as given."""

    function: Callable[[Array, Array], Array]
    classes: Classes = ()

    def tile(self, a: Block, b: Block) -> FloatArray:
        left, right = (class_values(block.y, self.classes) for block in (a, b))
        return gram_of_function("target_kernel", self.function, left, right)


def gram_of_function(
    parameter: str, function: Callable[[Array, Array], Array], A: Array, B: Array
) -> FloatArray:
    """What a user's function gives for the rows of A and B, if it has the right shape."""
    K = np.asarray(function(A, B), dtype=np.float64)
    if K.shape != (len(A), len(B)):
        raise InputError(
            f"the {parameter} function returned shape {K.shape} for {len(A)} and {len(B)} rows; "
            "return one value for each pair of rows."
        )
    return K


@dataclass(frozen=True)
class LabelGram:
    """The kernel of each class with each other, looked up."""

    gram: FloatArray

    def tile(self, a: Block, b: Block) -> FloatArray:
        return self.gram[np.ix_(a.y[:, 0].astype(np.intp), b.y[:, 0].astype(np.intp))]


@dataclass(frozen=True)
class PrecomputedTarget:
    """Rows of y are rows of the Gram matrix of the target; ``order``: which row each one is."""

    order: IntArray | None = None

    def tile(self, a: Block, b: Block) -> FloatArray:
        columns = slice(b.start, b.start + b.n_rows)
        chosen = columns if self.order is None else self.order[columns]
        return np.array(a.y[:, chosen], dtype=np.float64)


def binary_labels(counts: Array) -> FloatArray:
    """BIN: −1/m₋ and +1/m₊ (P-HSIC section 4; section 5 lost the sign).

    >>> binary_labels(np.array([2, 4])).ravel().tolist()
    [-0.5, 0.25]
    """
    return np.array([[-1.0 / counts[0]], [1.0 / counts[1]]])


def multiclass_labels(counts: Array) -> FloatArray:
    """MUL: label vectors of P-HSIC eq. (9), one row per class."""
    counts = np.asarray(counts, dtype=np.float64)
    labels = np.tile(1.0 / (counts - counts.sum()), (len(counts), 1))
    np.fill_diagonal(labels, 1.0 / counts)
    return labels


def class_labels(counts: Array, kind: str) -> FloatArray:
    """BIN for two classes and MUL for more, or as asked; one class has one constant label."""
    counts = np.maximum(counts, 1)  # a class that never occurs is never looked up
    if len(counts) == 1:
        return np.ones((1, 1))
    if kind == "balanced_delta":  # 1/m_c for two rows of class c, else 0
        return np.diag(1.0 / np.sqrt(counts))
    if kind == "bin" and len(counts) != 2:
        raise InputError(f"target_kernel='bin' needs two classes, y has {len(counts)}; use 'mul'.")
    if kind == "mul" or len(counts) > 2:
        return multiclass_labels(counts)
    return binary_labels(counts)


@dataclass(frozen=True)
class ClassCounts:
    """Rows of each class, per output."""

    outputs: tuple[FloatArray, ...]

    def merge(self, other: Self) -> Self:
        return type(self)(tuple(a + b for a, b in zip(self.outputs, other.outputs, strict=True)))


def _count_classes(n_classes: tuple[int, ...], block: Block) -> ClassCounts:
    outputs = zip(block.y.T, n_classes, strict=True)
    return ClassCounts(tuple(np.bincount(y, minlength=n).astype(np.float64) for y, n in outputs))


def fit_target_kernel(
    engine: Engine,
    kind: Any,
    bandwidth: float | str,
    seed: int = 0,
    order: IntArray | None = None,
) -> TargetKernel:
    """The kernel that ``target_kernel`` asks for, with the counts or the median that it needs.

    ``order`` lists the rows that will be asked for, where they are not all rows as they are.
    """
    target = engine.target
    if isinstance(kind, ObjectKernel):
        return _object_target(kind, engine)
    if callable(kind):
        return FunctionOfTarget(kind, target.classes)
    if isinstance(kind, str) and kind in BY_TASK:
        kind = BY_TASK[kind][0 if target.is_classification else 1]
    if isinstance(kind, str) and kind in ("labels", "bin", "mul", "balanced_delta"):
        _require_classes(kind, target)
        counts = engine.reduce_rows(partial(_count_classes, target.class_counts)).outputs
        return LabelVectors(tuple(class_labels(c, kind) for c in counts))
    if is_word(kind, "precomputed"):
        return _precomputed_target(engine, order)
    if is_word(kind, "delta"):
        return _delta_target(target)
    _, sample = engine.take(median_rows(engine.n_samples, seed), NO_COLUMNS)
    if not isinstance(bandwidth, str):
        bandwidth = positive_bandwidth(bandwidth, "target_bandwidth") * target.factor
    by_name = is_word(kind, "reg")
    return _numeric_target("rbf" if by_name else kind, target.classes, sample, bandwidth)


def _object_target(kernel: ObjectKernel, engine: Engine) -> LabelGram:
    """Sequences arrive as classes, one for each distinct sequence."""
    target = engine.target
    if not target.is_classification or target.n_outputs != 1:
        raise InputError(
            f"{type(kernel).__name__} takes one sequence per row as target, got numbers or several "
            "outputs; for graphs give their Gram matrix, with target_kernel='precomputed'."
        )
    n_numbers = 2 * target.class_counts[0] ** 2
    require_memory(n_numbers, engine.memory_limit, "the Gram matrix of all distinct targets")
    return LabelGram(kernel.gram(target.classes[0]))


def _precomputed_target(engine: Engine, order: IntArray | None) -> PrecomputedTarget:
    _, gram = engine.take(columns=NO_COLUMNS)
    check_gram(gram, engine.n_samples, "y")
    return PrecomputedTarget(order)


def _delta_target(target: Target) -> TargetKernel:
    """One class per output has features: an indicator of each class."""
    if target.is_classification and target.n_outputs == 1:
        return LabelVectors((np.eye(target.class_counts[0]),))
    return Delta()


def _numeric_target(
    kind: Any, classes: Classes, sample: Array, bandwidth: float | str
) -> NumericTarget:
    try:
        function = kernel_function(kind)
    except InputError:
        raise not_allowed(
            "target_kernel",
            kind,
            "'auto', 'bin', 'mul', 'reg', 'delta', 'rbf', 'laplace', 'linear', 'poly', "
            "'precomputed', a string or graph kernel, or a function",
        ) from None
    if any(labels.dtype.kind not in "biuf" for labels in classes):
        raise InputError(f"target_kernel={kind!r} needs numbers, but y holds text; use 'delta'.")
    sample = np.asarray(class_values(sample, classes), dtype=np.float64)
    if function.degree == 1:
        return NumericTarget(function, 1.0, _spread_rows(sample), 1.0, classes)
    factor = _exact_factor(sample)
    sample = sample * factor
    if is_word(bandwidth, "median"):
        is_distance = function.has_bandwidth
        width = median_kernel_distance(sample, function if is_distance else kernel_function("rbf"))
    else:
        width = positive_bandwidth(bandwidth, "target_bandwidth") * factor
    if not function.has_bandwidth:  # a polynomial: the 1 that it adds is in units of the width
        return NumericTarget(function, 1.0, _spread_rows(sample / width), factor / width, classes)
    return NumericTarget(function, width, _spread_rows(sample), factor, classes)


def _exact_factor(sample: FloatArray) -> float:
    """A power of two, so that no digit changes: it brings extreme numbers near 1, others stay.

    >>> _exact_factor(np.array([3.0])), _exact_factor(np.array([2.0**-200])) == 2.0**200
    (1.0, True)
    """
    size = float(np.abs(sample).max(initial=0.0))
    if size == 0.0 or 2.0**-100 < size < 2.0**100:
        return 1.0
    return float(2.0 ** -np.clip(np.floor(np.log2(size)), -1000, 1000))


def _spread_rows(sample: Array) -> FloatArray:
    """Rows at even ranks of the first output."""
    ordered = sample[np.argsort(sample[:, 0], kind="stable")]
    ranks = np.linspace(0, len(ordered) - 1, min(TARGET_LANDMARKS, len(ordered)))
    return ordered[ranks.astype(np.intp)].astype(np.float64)


def _require_classes(kind: str, target: Target) -> None:
    if not target.is_classification:
        raise InputError(
            f"target_kernel={kind!r} needs classes, but the task is regression; "
            "use 'reg', or set task='classification'."
        )


def check_gram(G: Array, n_samples: int, name: str) -> FloatArray:
    """A precomputed Gram matrix: square, symmetric, of the right size, finite."""
    G = np.asarray(G, dtype=np.float64)
    if G.ndim != 2 or G.shape[0] != G.shape[1]:
        raise InputError(f"the precomputed Gram matrix {name} must be square, got {G.shape}.")
    if len(G) != n_samples:
        raise InputError(
            f"the precomputed Gram matrix {name} is for {len(G)} samples, but there are "
            f"{n_samples}."
        )
    if not np.isfinite(G).all():
        raise InputError(f"the precomputed Gram matrix {name} has NaN or infinite entries.")
    if not np.allclose(G, G.T, rtol=1e-8, atol=1e-10 * np.abs(G).max(initial=0.0)):
        raise InputError(f"the precomputed Gram matrix {name} is not symmetric; use (G + G.T)/2.")
    return G
