"""HSIC, MMD and KTA of two sets of columns, as functions."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from featsieve.arrays import FloatArray
from featsieve.compiled.hsic_tiles import sum_contributions
from featsieve.errors import InputError
from featsieve.input.parameters import is_word
from featsieve.measures.hsic.grams import gram_hsic, gram_kta
from featsieve.measures.hsic.hsic import HSIC
from featsieve.measures.hsic.kernels import column_major, kernel_function, width_policy
from featsieve.measures.hsic.object_kernels import ObjectKernel
from featsieve.measures.hsic.target_kernel import check_gram, fit_target_kernel
from featsieve.protocols import Engine
from featsieve.schema import Block


@dataclass(frozen=True)
class KernelChoice:
    """Which kernels, for the functions that need whole Gram matrices."""

    kernel: Any = "rbf"
    target_kernel: Any = "auto"
    bandwidth: float | str = "median"
    target_bandwidth: float | str = "median"
    task: str = "auto"

    def grams(self, X: Any, Y: Any) -> tuple[FloatArray, FloatArray]:
        """K and L; the memory for both is refused beyond 1 GiB."""
        choice, X, Y = self.with_grams(X, Y)
        return choice._grams(X, Y)

    def with_grams(self, X: Any, Y: Any) -> tuple[KernelChoice, Any, Any]:
        """The same question with the Gram matrices of sequences and graphs in their place."""
        choice = self
        if isinstance(self.kernel, ObjectKernel):
            choice, X = replace(choice, kernel="precomputed"), self.kernel.gram(X)
        if isinstance(self.target_kernel, ObjectKernel):
            choice, Y = replace(choice, target_kernel="precomputed"), self.target_kernel.gram(Y)
        return choice, X, Y

    def _grams(self, X: Any, Y: Any) -> tuple[FloatArray, FloatArray]:
        engine = _engine(X, Y, self)
        n = engine.n_samples
        if 16 * n**2 > engine.memory_limit:
            raise InputError(
                f"two Gram matrices of {n} samples do not fit into 1 GiB; give a subsample of rows."
            )
        return self._data_gram(engine), self._target_gram(engine)

    def _data_gram(self, engine: Engine) -> FloatArray:
        X, _ = engine.take()
        if is_word(self.kernel, "precomputed"):
            return check_gram(X, engine.n_samples, "X")
        if callable(self.kernel):
            return np.asarray(self.kernel(X, X), dtype=np.float64)
        if self.bandwidth == "optimize":
            raise InputError("bandwidth='optimize' is for selection; give 'median' or a number.")
        function = kernel_function(self.kernel)
        everything = range(engine.schema.n_units)
        units = function.columns_of(engine.schema, everything)
        rows = column_major(X[:, units.columns])
        ones = np.ones(units.n_columns)
        total = sum_contributions(rows, rows, ones, units.is_code, function.form, False)
        width = width_policy(self.bandwidth, function, engine, seed=0).of_set(everything)
        return function.values(total, float(function.rate(width)))

    def _target_gram(self, engine: Engine) -> FloatArray:
        _, y = engine.take()
        if is_word(self.target_kernel, "precomputed"):
            return check_gram(y, engine.n_samples, "Y")
        kernel = fit_target_kernel(engine, self.target_kernel, self.target_bandwidth)
        rows = Block(0, y, y)
        return kernel.tile(rows, rows)


def _engine(X: Any, Y: Any, choice: KernelChoice) -> Engine:
    from featsieve.input.boundary import Settings, open_columns

    task = "regression" if is_word(choice.target_kernel, "precomputed") else choice.task
    engine: Any = open_columns(X, Y, Settings(task=task))
    engine.screen()
    return engine


def hsic(
    X: Any,
    Y: Any,
    *,
    kernel: Any = "rbf",
    target_kernel: Any = "auto",
    bandwidth: float | str = "median",
    target_bandwidth: float | str = "median",
    estimator: str = "unbiased",
    task: str = "auto",
) -> float:
    """HSIC between all columns of X together and Y; nothing is standardised.

    The parameters are those of :class:`HSIC`; ``kernel="precomputed"``: X is a Gram matrix. With a
    :class:`SpectrumKernel`, :class:`MismatchKernel` or :class:`WeisfeilerLehmanKernel` on a side,
    that side is a list of sequences or graphs.

    >>> rng = np.random.default_rng(0)
    >>> x = rng.normal(size=200)
    >>> hsic(x, x**2) > 10 * abs(hsic(x, rng.normal(size=200)))
    True
    >>> from featsieve.measures import SpectrumKernel
    >>> words, classes = ["gattaca", "gattata", "cattaca", "ttggtg", "ttgtgg"], [0, 0, 0, 1, 1]
    >>> hsic(words, classes, kernel=SpectrumKernel(length=2)) > 0
    True
    """
    choice = KernelChoice(kernel, target_kernel, bandwidth, target_bandwidth, task)
    choice, X, Y = choice.with_grams(X, Y)
    if is_word(choice.kernel, "precomputed"):
        return gram_hsic(*choice.grams(X, Y), estimator)
    measure = HSIC(
        kernel=choice.kernel,
        target_kernel=choice.target_kernel,
        bandwidth=bandwidth,
        target_bandwidth=target_bandwidth,
        estimator=estimator,
    )
    engine = _engine(X, Y, choice)
    return measure.bind(engine).value(range(engine.n_features))


def mmd(X: Any, y: Any, *, kernel: Any = "rbf", bandwidth: float | str = "median") -> float:
    """Biased MMD² between the two classes of y: tr KL with labels +1/m₊ and −1/m₋.

    >>> x = np.array([0.0, 0.1, 0.2, 3.0, 3.1, 3.2])
    >>> round(mmd(x, [0, 0, 0, 1, 1, 1], bandwidth=1.0), 3)
    1.963
    """
    measure = HSIC(kernel=kernel, bandwidth=bandwidth, criterion="mmd")
    engine = _engine(X, y, KernelChoice(kernel, task="classification"))
    return measure.bind(engine).value(range(engine.n_features))


def kta(
    X: Any,
    Y: Any,
    *,
    kernel: Any = "rbf",
    target_kernel: Any = "auto",
    bandwidth: float | str = "median",
    target_bandwidth: float | str = "median",
    normalize: bool = False,
    task: str = "auto",
) -> float:
    """Kernel target alignment tr KL (Song et al. 2007); ``normalize``: divided by ‖K‖ ‖L‖.

    >>> x = np.array([0.0, 0.1, 0.2, 3.0, 3.1, 3.2])
    >>> round(kta(x, [0, 0, 0, 1, 1, 1], bandwidth=1.0, normalize=True), 3)
    0.699
    """
    choice = KernelChoice(kernel, target_kernel, bandwidth, target_bandwidth, task)
    return gram_kta(*choice.grams(X, Y), normalize)
