"""The Hilbert-Schmidt independence criterion as a measure (P-HSIC; P-LSMI 4.2; P-L1INF 3.2)."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

from featsieve.errors import InputError
from featsieve.measures.base import BaseMeasure
from featsieve.measures.kernel.bound_hsic import BoundFunctionHSIC, BoundHSIC, checked_target_kernel
from featsieve.measures.kernel.feature_hsic import BoundFeatureHSIC
from featsieve.measures.kernel.kernel_function import kernel_function
from featsieve.measures.kernel.width_policy import width_policy
from featsieve.protocols import Engine
from featsieve.seeds import random_source

APPROXIMATIONS = ("auto", "none", "block", "rff", "nystrom")


class HSIC(BaseMeasure):
    """HSIC between a set of columns and the target, and its relatives MMD and KTA.

    Parameters
    ----------
    kernel : {"rbf", "laplace", "linear", "poly"} or function, default="rbf"
        Kernel on the data: exp(−d²/2σ²), exp(−d₁/σ), ⟨x, x'⟩, (⟨x, x'⟩/d + 1)³, or a function of
        two 2-D arrays. A categorical column adds a squared distance of 0 or 1.
    target_kernel : {"auto", "bin", "mul", "reg", "delta", "rbf", "laplace", "linear", \
"precomputed"} or function, default="auto"
        Kernel on the target; ``"auto"``: BIN for two classes, MUL for more, REG for numbers
        (P-HSIC section 5). ``"precomputed"``: y is the Gram matrix of the target.
    bandwidth : {"median", "dimension", "optimize"} or float, default="median"
        σ: the median distance of the columns used; √d for d columns (P-HSIC's 1/(2d)); the one
        with the largest criterion, sought anew at each round; or a number.
    target_bandwidth : "median" or float, default="median"
    estimator : {"unbiased", "biased", "v_statistic"}, default="unbiased"
        P-HSIC eq. (4); P-LSMI eq. (4) with (n − 1)²; P-L1INF eq. (8) with n².
    criterion : {"hsic", "mmd", "kta"}, default="hsic"
        ``"mmd"`` and ``"kta"`` are tr KL, of two classes and of any target.
    approximation : {"auto", "none", "block", "rff", "nystrom"}, default="auto"
        ``"none"``: all pairs of rows; ``"block"``: pairs inside random blocks of 1024 rows only, an
        unbiased mean over blocks; ``"rff"`` (random Fourier features) and ``"nystrom"`` (landmark
        rows): row statistics that add, of the biased estimate. ``"auto"``: all pairs if a pass
        takes less than about a minute, else blocks. ``result_.approximation`` says which, and its
        error.
    precision : {"double", "single"}, default="double"
        Of the kernel evaluations; sums are always double.
    random_state : int, default=None
        Seed of the rows on which medians are taken when there are more than 2000 (None: 0).
    """

    scale_ddof: ClassVar[int | None] = 0

    def __init__(
        self,
        *,
        kernel: Any = "rbf",
        target_kernel: Any = "auto",
        bandwidth: float | str = "median",
        target_bandwidth: float | str = "median",
        estimator: str = "unbiased",
        criterion: str = "hsic",
        approximation: str = "auto",
        precision: str = "double",
        random_state: Any = None,
    ) -> None:
        self.kernel = kernel
        self.target_kernel = target_kernel
        self.bandwidth = bandwidth
        self.target_bandwidth = target_bandwidth
        self.estimator = estimator
        self.criterion = criterion
        self.approximation = approximation
        self.precision = precision
        self.random_state = random_state

    def bind(self, engine: Engine) -> BoundHSIC | BoundFunctionHSIC | BoundFeatureHSIC:
        self._check_approximation()
        if callable(self.kernel):
            return BoundFunctionHSIC(self, engine)
        if self.approximation in ("rff", "nystrom"):
            return self._bind_features(engine)
        return BoundHSIC(self, engine)

    def _check_approximation(self) -> None:
        if self.approximation not in APPROXIMATIONS:
            allowed = ", ".join(map(repr, APPROXIMATIONS))
            raise InputError(f"approximation must be one of {allowed}, got {self.approximation!r}.")
        if self.criterion != "hsic" and self.approximation not in ("auto", "none"):
            raise InputError(
                f"criterion={self.criterion!r} is summed exactly; use approximation='none'."
            )

    def _bind_features(self, engine: Engine) -> BoundFeatureHSIC:
        kernel = kernel_function(self.kernel)
        n = engine.n_samples
        return BoundFeatureHSIC(
            engine,
            kernel,
            width_policy(self.bandwidth, kernel, engine, self.seed),
            checked_target_kernel(self, engine),
            self.approximation,
            self.seed,
            float(n**2 if self.estimator == "v_statistic" else (n - 1) ** 2),
        )

    @property
    def seed(self) -> int:
        return seed_of(self.random_state)


def seed_of(random_state: Any) -> int:
    """A seed that is the same for every question to one bound object; None is 0."""
    if random_state is None:
        return 0
    return int(random_source(random_state).randint(np.iinfo(np.int32).max))
