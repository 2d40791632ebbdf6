"""Song et al. (2007), Figure 1: median rank of the two relevant features against n."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any

import numpy as np

from featsieve.arrays import Array
from featsieve.datasets import make_binary_xor, make_multiclass, make_nonlinear_regression
from featsieve.errors import InputError
from featsieve.evaluation.benches._frame import Bench, Request, Results, trial_values
from featsieve.evaluation.benches._report import (
    Claim,
    Figure,
    Report,
    markdown_table,
    mean_and_error,
)
from featsieve.evaluation.cells import Cell
from featsieve.evaluation.fitting import fit_quietly
from featsieve.registry import find_method

SETS = {
    "binary XOR": make_binary_xor,
    "multiclass": make_multiclass,
    "regression": make_nonlinear_regression,
}
COMPARED = ("BAHSIC", "FOHSIC", "PearsonRanking", "MaxRel", "ReliefF")
SIZES = (40, 80, 120, 160, 200, 240, 280, 320, 360, 400)
QUICK_SIZES = (40, 200, 400)
TRIALS, QUICK_TRIALS = 10, 2
FOUND = 2.0  # mean of the median rank; 1.5 is perfect, 11.5 is chance
MISSED = 4.0

# What section 6.1 says: (set, method, found?, at which end of the sizes).
CONCLUSIONS = (
    ("binary XOR", "BAHSIC", True, "small"),
    ("binary XOR", "BAHSIC", True, "large"),
    ("binary XOR", "ReliefF", True, "small"),
    ("binary XOR", "ReliefF", True, "large"),
    ("binary XOR", "FOHSIC", False, "large"),
    ("binary XOR", "PearsonRanking", False, "large"),
    ("binary XOR", "MaxRel", False, "large"),
    ("multiclass", "BAHSIC", True, "small"),
    ("multiclass", "FOHSIC", True, "small"),
    ("multiclass", "MaxRel", True, "small"),
    ("multiclass", "PearsonRanking", False, "small"),
    ("multiclass", "PearsonRanking", True, "large"),
    ("regression", "BAHSIC", True, "large"),
    ("regression", "FOHSIC", True, "large"),
    ("regression", "PearsonRanking", False, "large"),
    ("regression", "MaxRel", False, "large"),
)
NOTE = """The paper's figure is an image: its sentences are compared. Pearson on several classes is
Hall's sum over the classes here, which sees the fourth class; the paper takes the labels as
numbers. MI on regression cuts the target into bins here; the paper's estimate is for classes."""


def full_order(method: str, X: Array, y: Array) -> Array:
    """All columns, best first."""
    kept = X.shape[1] if method == "FOHSIC" else 1
    fitted = fit_quietly(find_method(method).load()(n_features_to_select=kept), X, y)
    order = fitted.result_.order
    return np.asarray(fitted.indices_ if order is None else order)


def median_rank(order: Array, relevant: Sequence[int]) -> float:
    """
    >>> median_rank(np.array([3, 0, 2, 1]), [0, 1])
    3.0
    """
    ranks = [int(np.flatnonzero(order == column)[0]) + 1 for column in relevant]
    return float(np.median(ranks))


def _trial(problem: str, method: str, size: int, seed: int) -> float:
    data: Any = SETS[problem](size, random_state=seed)
    return median_rank(full_order(method, data.data, data.target), data.relevant)


def _methods(request: Request) -> list[str]:
    if not request.methods:
        return list(COMPARED)
    try:
        return [find_method(name).name for name in request.methods]
    except KeyError as unknown:
        raise InputError(
            f"there is no method {unknown.args[0]!r}; see 'featsieve methods'."
        ) from None


def _runs(request: Request) -> list[tuple[str, str, int]]:
    sizes = QUICK_SIZES if request.quick else SIZES
    pairs = [
        (problem, method)
        for problem in SETS
        for method in _methods(request)
        if not (problem != "binary XOR" and method == "ReliefF")  # the paper's is binary
    ]
    return [(problem, method, size) for problem, method in pairs for size in sizes]


def cells(request: Request) -> list[Cell]:
    return [
        Cell((problem, method, str(n), str(seed)), partial(_trial, problem, method, n, seed))
        for problem, method, n in _runs(request)
        for seed in range(request.repeats(TRIALS, QUICK_TRIALS))
    ]


def report(request: Request, results: Results) -> Report:
    curves: dict[str, dict[str, dict[str, list[float]]]] = {problem: {} for problem in SETS}
    for problem, method, n in _runs(request):
        ranks = trial_values(results, problem, method, str(n))
        if ranks:
            mean, error = mean_and_error(ranks)
            curve = curves[problem].setdefault(method, {"x": [], "y": [], "error": []})
            for word, value in (("x", n), ("y", mean), ("error", error)):
                curve[word].append(value)
    trials = request.repeats(TRIALS, QUICK_TRIALS)
    return Report(
        "Song et al. (2007), Figure 1: median rank of the two relevant features among 22",
        [
            *(_section(problem, panel) for problem, panel in curves.items() if panel),
            f"Mean over {trials} data sets of the median of the two ranks: 1.5 is perfect, about "
            "11.5 is chance. " + NOTE.replace("\n", " "),
        ],
        claims=_claims(curves),
        figures=[Figure("ranks", curves, xlabel="n", ylabel="median rank")],
        seeds=f"0 … {trials - 1}",
    )


def _section(problem: str, panel: dict[str, dict[str, list[float]]]) -> str:
    rows = [[method, *(f"{rank:.1f}" for rank in c["y"])] for method, c in panel.items()]
    sizes = [f"{n:.0f}" for n in next(iter(panel.values()))["x"]]
    return f"## {problem}\n" + markdown_table(["method", *sizes], rows)


def _claims(curves: dict[str, dict[str, dict[str, list[float]]]]) -> list[Claim]:
    """Each conclusion of the paper, and whether it holds."""
    claims = []
    for problem, method, is_found, end in CONCLUSIONS:
        if method not in curves[problem]:
            continue
        rank = curves[problem][method]["y"][0 if end == "small" else -1]
        holds = rank <= FOUND if is_found else rank >= MISSED
        text = "finds both" if is_found else "does not find both"
        claims.append(
            Claim(f"{problem}: {method} {text}, {end} sample", holds, f"median rank {rank:.1f}")
        )
    return claims


BENCH = Bench("p-hsic-fig1", cells, report)
