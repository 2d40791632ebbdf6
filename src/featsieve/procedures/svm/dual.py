"""The quadratic programs of support vector machines, in pieces that a time limit can end."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from featsieve.arrays import FloatArray
from featsieve.compiled.smo import optimise_pairs
from featsieve.runtime.pool import is_worker, ordered_map
from featsieve.runtime.progress import Monitor
from featsieve.runtime.user_warnings import warn_user

CELLS_PER_PIECE = 10_000_000  # rows × steps: some hundredths of a second
MOST_STEPS, FEWEST_STEPS = 2_000_000, 10_000
BOUND_RANGE = (1e-30, 1e30)  # of C times the kernel; beyond it the answer no longer changes


@dataclass(frozen=True)
class Dual:
    """α and the minimum ½ α'Qα + b'α; ``gap`` is the violation of its conditions that is left."""

    alpha: FloatArray
    value: float
    gap: float = 0.0


class Solver:
    """Solves one program after the other to ``tol``, and remembers the worst violation left.

    Each recorded program that did not converge halves the steps allowed to those that follow, so
    that many hopeless ones do not take forever. Callers record: some answers nobody asks for in the
    end, and those found side by side on threads are recorded in order.
    """

    def __init__(self, monitor: Monitor, tol: float = 1e-3) -> None:
        self._monitor, self._tol = monitor, tol
        self._n_failed, self._worst = 0, 0.0
        self.limit = MOST_STEPS

    def warn(self, method: str) -> None:
        if self._n_failed:
            warn_user(
                f"{method}: {self._n_failed} support vector machines did not converge (largest "
                f"violation {self._worst:.1e}, wanted {self._tol:.1e}); give a smaller C or a "
                "larger tol."
            )

    def soft_margins(
        self, programs: Sequence[tuple[FloatArray, FloatArray]], C: float, n_jobs: int
    ) -> list[Dual]:
        """Of several kernels and signs, side by side on threads; all may take as many steps."""
        duals = list(ordered_map(lambda p: self.soft_margin(*p, C), programs, n_jobs))
        self.record(duals)
        return duals

    def soft_margin(self, K: FloatArray, sign: FloatArray, C: float) -> Dual:
        """A classifier with hinge loss: min ½ α'Qα − Σα, 0 ≤ α ≤ C, Σ sign·α = 0.

        The kernel is rounded to single precision, as libsvm does.
        """
        scale = power_of_two(K)
        Q = _signed(K * (1 / scale), sign).astype(np.float32).astype(np.float64)
        diagonal = K.diagonal() / scale
        linear = np.full(len(K), -1.0)
        bound = float(np.clip(C * scale, *BOUND_RANGE))
        dual = self._minimize(Q, diagonal, sign, bound, np.zeros(len(K)), linear)
        return Dual(dual.alpha / scale, dual.value / scale, dual.gap)

    def squared_margin(
        self, K: FloatArray, sign: FloatArray, ridge: float, start: FloatArray
    ) -> Dual:
        """A classifier with squared hinge loss: K has ``ridge`` = 1/C on its diagonal.

        α = Cξ has no bound of its own, but Σξ² ≤ n, the loss without any weights. Where rounding
        hides the ridge, α would grow for ever beyond that.
        """
        Q = _signed(K.copy(), sign)
        linear = np.full(len(K), -1.0)
        bound = float(np.sqrt(len(K)) / ridge)
        return self._minimize(Q, K.diagonal().copy(), sign, bound, start, linear)

    def enclosing_ball(self, K: FloatArray, start: FloatArray) -> Dual:
        """min β'Kβ − Σ K_ii β_i on the simplex: minus the squared radius of the smallest ball."""
        Q = 2.0 * K
        diagonal, ones = Q.diagonal().copy(), np.ones(len(K))
        return self._minimize(Q, diagonal, ones, np.inf, start, -K.diagonal())

    def _minimize(
        self,
        Q: FloatArray,
        diagonal: FloatArray,
        sign: FloatArray,
        bound: float,
        start: FloatArray,
        linear: FloatArray,
    ) -> Dual:
        alpha = start.copy()
        slope = linear + Q @ alpha if alpha.any() else linear.copy()
        piece, done = max(1, CELLS_PER_PIECE // len(Q)), 0
        while done < self.limit:
            steps, gap = optimise_pairs(Q, diagonal, sign, bound, alpha, slope, self._tol, piece)
            done += steps
            if steps < piece:
                break
            self._look_at_clock(done, self.limit + piece)
        return Dual(alpha, 0.5 * float(alpha @ (slope + linear)), float(gap))

    def _look_at_clock(self, done: int, total: int) -> None:
        if is_worker():  # threads of the pool do not report
            self._monitor.check()
        else:
            self._monitor.tick("training", done, total)

    def record(self, duals: Iterable[Dual]) -> None:
        for dual in duals:
            if dual.gap >= self._tol:
                self._worst, self._n_failed = max(self._worst, dual.gap), self._n_failed + 1
                self.limit = max(self.limit // 2, FEWEST_STEPS)


def _signed(K: FloatArray, sign: FloatArray) -> FloatArray:
    """K_ij · sign_i · sign_j, in place: memory from the system costs more than the products."""
    K *= sign
    K *= sign[:, None]
    return K


def power_of_two(K: FloatArray) -> float:
    """Next to the largest diagonal entry; dividing by it is exact."""
    top = float(K.diagonal().max(initial=0.0))
    return float(2.0 ** np.floor(np.log2(top))) if top > 0 else 1.0
