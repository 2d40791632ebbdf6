"""Random binary quadratic problems and the methods that P-CMI's Figures 2 and 3 compare."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass, replace
from statistics import fmean
from typing import Any

import numpy as np

from featsieve.errors import InputError
from featsieve.quadratic.lowrank import sample_count
from featsieve.quadratic.problem import SOLVERS, Answer, Options, Problem, make_problem
from featsieve.quadratic.solve import fitting_threads

# P-CMI gives its figures' (n, k) only as axis labels of an image: sizes of the same kind.
EXPERIMENTS = ((50, 10), (100, 20), (200, 30), (300, 50), (500, 50), (700, 70))
QUICK_EXPERIMENTS = EXPERIMENTS[:3]
TRIALS, QUICK_TRIALS = 10, 3

METHODS: dict[str, tuple[str, dict[str, Any]]] = {
    "Linear": ("linear", {}),
    "Spectral": ("spectral", {}),
    "SDP": ("sdp", {}),
    "LowRank": ("lowrank", {"n_samples": sample_count(3, 0.1, 0.1)}),  # the paper's
    "TPower": ("tpower", {}),
    "TPower, paper's binary": ("tpower", {"iterates": "binary", "shift": "none"}),
    "ours (auto)": ("auto", {}),
}
OURS = "ours (auto)"


@dataclass(frozen=True)
class Trial:
    """One method on one matrix."""

    n: int
    k: int
    method: str
    seconds: float
    value: float


def random_problem(n: int, k: int, seed: int) -> Problem:
    """A random symmetric non-negative matrix stands for a CMI matrix (P-CMI, section IV-A)."""
    return make_problem(np.random.default_rng([n, k, seed]).random((n, n)), k)


def run_method(problem: Problem, method: str, seed: int, **changes: Any) -> tuple[float, Answer]:
    """Seconds and the answer of a method; its bound is not asked for, its own swaps are."""
    solver, settings = METHODS[method]
    options = replace(Options(rng=np.random.default_rng(seed)), **{**settings, **changes})
    fresh = Problem(problem.Q, problem.k)  # nothing remembered from the method before
    start = time.perf_counter()
    with fitting_threads(fresh):
        answer = deque(SOLVERS[solver].steps(fresh, options), maxlen=1)[0]
    return time.perf_counter() - start, answer


def chosen_methods(wanted: Sequence[str] | None) -> list[str]:
    """The methods asked for by solver name or label; all if none is."""
    if not wanted:
        return list(METHODS)
    known: dict[str, str] = {}
    for label, (solver, _) in METHODS.items():
        known.setdefault(solver, label)
        known.setdefault(label.lower(), label)
    unknown = [name for name in wanted if name.lower() not in known]
    if unknown:
        raise InputError(f"there is no method {unknown[0]!r}; use some of {', '.join(known)}.")
    return list(dict.fromkeys(["Linear", *(known[name.lower()] for name in wanted)]))


def warm_up(methods: Sequence[str]) -> None:
    """Compile and import everything once, so that no trial pays for it."""
    for method in methods:
        run_method(random_problem(20, 4, 0), method, 0, n_samples=10)


def run_trials(
    experiments: Sequence[tuple[int, int]], trials: int, methods: Sequence[str]
) -> list[Trial]:
    """Every method on the same matrices, in turns."""
    warm_up(methods)
    results = []
    for n, k in experiments:
        for seed in range(trials):
            problem = random_problem(n, k, seed)
            for method in methods:
                seconds, answer = run_method(problem, method, seed)
                results.append(Trial(n, k, method, seconds, answer.value))
    return results


def figure(
    trials: int | None, methods: Sequence[str] | None, quick: bool
) -> tuple[list[tuple[int, int]], list[str], list[Trial], int]:
    """Experiments, methods, trials of one of the two figures, and how often each was run."""
    experiments = list(QUICK_EXPERIMENTS if quick else EXPERIMENTS)
    names = chosen_methods(methods)
    repeats = trials or (QUICK_TRIALS if quick else TRIALS)
    return experiments, names, run_trials(experiments, repeats, names), repeats


def mean_seconds(results: Sequence[Trial], n: int, k: int, method: str) -> float:
    return fmean(t.seconds for t in results if (t.n, t.k, t.method) == (n, k, method))


def mean_gain(results: Sequence[Trial], n: int, k: int, method: str) -> float:
    """Mean percentage above Linear's value on the same matrices."""
    values = [t.value for t in results if (t.n, t.k, t.method) == (n, k, method)]
    linear = [t.value for t in results if (t.n, t.k, t.method) == (n, k, "Linear")]
    return fmean(100 * (a / b - 1) for a, b in zip(values, linear, strict=True))
