"""Random binary quadratic problems and the methods that P-CMI's Figures 2 and 3 compare."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from featsieve.errors import InputError
from featsieve.evaluation.benches._frame import Request, Results, trial_values
from featsieve.evaluation.benches._report import Figure
from featsieve.evaluation.cells import Cell
from featsieve.quadratic.lowrank import sample_count
from featsieve.quadratic.problem import SOLVERS, Answer, Options, Problem, make_problem
from featsieve.quadratic.solve import fitting_threads

# P-CMI gives its figures' (n, k) only as axis labels of an image: sizes of the same kind.
EXPERIMENTS = ((50, 10), (100, 20), (200, 30), (300, 50), (500, 50), (700, 70))
QUICK_EXPERIMENTS = EXPERIMENTS[:2]
TRIALS, QUICK_TRIALS = 10, 2

METHODS: dict[str, tuple[str, dict[str, Any]]] = {
    "Linear": ("linear", {}),
    "Spectral": ("spectral", {}),
    "SDP": ("sdp", {}),
    "SDP, plain": ("sdp", {"sdp_form": "plain"}),  # without X1 = kx
    "LowRank": ("lowrank", {"n_samples": sample_count(3, 0.1, 0.1)}),  # the paper's
    "TPower": ("tpower", {}),
    "TPower, paper's binary": ("tpower", {"iterates": "binary", "shift": "none"}),
    "ours (auto)": ("auto", {}),
}
OURS = "ours (auto)"
SDP_FORMS = (
    "SDP asks that X1 = kx, which holds for every answer of zeros and ones; SDP, plain, does not, "
    "as the relaxation that the paper cites."
)


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


def experiments(request: Request) -> list[tuple[int, int]]:
    return list(QUICK_EXPERIMENTS if request.quick else EXPERIMENTS)


def trial(n: int, k: int, method: str, seed: int) -> dict[str, float]:
    """One method on one matrix."""
    seconds, answer = run_method(random_problem(n, k, seed), method, seed)
    return {"seconds": seconds, "value": answer.value}


def cells(request: Request) -> list[Cell]:
    """Every method on the same matrices, in turns."""
    return [
        Cell((str(n), str(k), method, str(seed)), partial(trial, n, k, method, seed))
        for n, k in experiments(request)
        for seed in range(request.repeats(TRIALS, QUICK_TRIALS))
        for method in chosen_methods(request.methods)
    ]


def warm_up_for(request: Request) -> None:
    warm_up(chosen_methods(request.methods))


def values(results: Results, n: int, k: int, method: str, word: str) -> list[float]:
    """ "seconds" or "value" of each matrix."""
    return [answer[word] for answer in trial_values(results, str(n), str(k), method)]


def gains(results: Results, n: int, k: int, method: str) -> list[float]:
    """Percentages above Linear's value on the same matrices."""
    ours = values(results, n, k, method, "value")
    linear = values(results, n, k, "Linear", "value")
    return [100 * (a / b - 1) for a, b in zip(ours, linear, strict=False)]


def figure_curves(
    request: Request, name: str, ylabel: str, log: bool, point: Callable[[int, int, str], float]
) -> Figure:
    """A value of each method over the experiments, numbered by n."""
    sizes = experiments(request)
    panel = {
        method: {"x": [n for n, _ in sizes], "y": [point(n, k, method) for n, k in sizes]}
        for method in chosen_methods(request.methods)
    }
    return Figure(name, {ylabel: panel}, xlabel="n", ylabel=ylabel, log=log)
