"""Sugiyama's lecture notes: Manhattan plot, regularisation path and MSE (N = 1000, n = 100)."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

from featsieve.arrays import Array, FloatArray
from featsieve.datasets import make_sparse_linear
from featsieve.evaluation.benches._frame import Bench, Request, Results
from featsieve.evaluation.benches._report import (
    Claim,
    Figure,
    Report,
    markdown_table,
    mean_and_error,
)
from featsieve.evaluation.cells import Cell
from featsieve.methods.lasso import LassoSelector
from featsieve.methods.ranking import PearsonRanking

N_SAMPLES, QUICK_SAMPLES, N_PERMUTATIONS, QUICK_PERMUTATIONS = 1000, 300, 9999, 2999
TRIALS, QUICK_TRIALS = 10, 2
ALPHA = 0.05
TOLERANCE = 1e-8
NOTE = """The lecture gives the sizes and pictures without values or data: what can be checked is
what it says in words. Coefficients and noise are ours (ten columns, sizes 2 to 0.2, noise 1). The
p-value of a permutation test is (1 + b)/(1 + R), so it is never 0."""


def trial(n_samples: int, n_permutations: int, seed: int) -> dict[str, Any]:
    """Everything that the three pictures show, for one draw."""
    data = make_sparse_linear(n_samples, random_state=seed)
    k = len(data.relevant)
    ranking = PearsonRanking(
        n_features_to_select=k, n_permutations=n_permutations, random_state=seed
    ).fit(data.data, data.target)
    lasso = LassoSelector(n_features_to_select=k).fit(data.data, data.target)
    full = LassoSelector(n_features_to_select=data.data.shape[1]).fit(data.data, data.target)
    alphas, path = full.alphas_, full.coef_path_
    between = (alphas[:-1] + alphas[1:]) / 2, (path[:, :-1] + path[:, 1:]) / 2
    lars = LassoSelector(n_features_to_select=k, method="lar").fit(data.data, data.target)
    return {
        "pvalues": ranking.pvalues_.tolist(),
        "relevant": [int(j) for j in data.relevant],
        "ranked": sorted(ranking.indices_.tolist()),
        "selected": sorted(lasso.indices_.tolist()),
        "lar": sorted(lars.indices_.tolist()),
        "zeros": float(np.mean(path == 0)),
        "least_mse": int(np.count_nonzero(path[:, np.argmin(full.mse_path_.mean(axis=1))])),
        **(_pictured(full) if seed == 0 else {}),
        "residual": subgradient_residual(data.data, data.target, alphas, path),
        "between": subgradient_residual(data.data, data.target, *between),
    }


def _pictured(selector: LassoSelector) -> dict[str, Any]:
    """What the pictures of one draw need, to six digits."""
    return {
        "alphas": selector.alphas_.round(9).tolist(),
        "path": selector.coef_path_.T.round(6).tolist(),
        "mse": selector.mse_path_.round(6).tolist(),
    }


def subgradient_residual(
    X: FloatArray, y: FloatArray, alphas: FloatArray, path: FloatArray
) -> float:
    """How far a path is from the lecture's condition, relative to the largest penalty.

    |⟨x_j, y − Xw⟩|/N = λ where w_j ≠ 0, and at most λ elsewhere, for standardised columns.
    """
    scaled = (X - X.mean(axis=0)) / X.std(axis=0)
    correlations = np.abs(scaled.T @ ((y - y.mean())[:, None] - scaled @ path)) / len(y)
    active = path != 0
    above = np.where(active, np.abs(correlations - alphas), correlations - alphas)
    return float(max(above.max(), 0.0) / alphas[0])


def _sizes(request: Request) -> tuple[int, int]:
    return (QUICK_SAMPLES, QUICK_PERMUTATIONS) if request.quick else (N_SAMPLES, N_PERMUTATIONS)


def cells(request: Request) -> list[Cell]:
    n_samples, n_permutations = _sizes(request)
    return [
        Cell((str(seed),), partial(trial, n_samples, n_permutations, seed))
        for seed in range(request.repeats(TRIALS, QUICK_TRIALS))
    ]


def report(request: Request, results: Results) -> Report:
    answers = list(results.values())
    first = answers[0]
    rows = [[seed[0], *_line(answer)] for seed, answer in results.items()]
    head = ["seed", "true columns with p ≤ 0.05/100", "false ones", "lasso: true of 10",
            "LAR: true of 10", "columns at the least MSE", "KKT residual"]  # fmt: skip
    n_samples, n_permutations = _sizes(request)
    return Report(
        "Sugiyama's lecture notes: Manhattan plot, path and MSE of the lasso",
        [
            markdown_table(head, rows),
            f"N = {n_samples}, n = 100, {n_permutations} permutations. " + NOTE.replace("\n", " "),
        ],
        claims=_claims(answers),
        figures=[_manhattan(first), _path(first), _mse(first)],
        seeds=f"0 … {len(answers) - 1}; the pictures show seed 0",
    )


def _line(answer: dict[str, Any]) -> list[str]:
    true = set(answer["relevant"])
    small = {j for j, p in enumerate(answer["pvalues"]) if p <= ALPHA / len(answer["pvalues"])}
    return [
        str(len(small & true)),
        str(len(small - true)),
        str(len(true & set(answer["selected"]))),
        str(len(true & set(answer["lar"]))),
        str(answer["least_mse"]),
        f"{answer['residual']:.1e}",
    ]


def _claims(answers: list[dict[str, Any]]) -> list[Claim]:
    zeros = [a["zeros"] for a in answers]
    residual = max(a["residual"] for a in answers)
    same = sum(a["selected"] == a["lar"] for a in answers)
    n = len(answers)
    false = [int(_line(a)[1]) for a in answers]
    mean, error = mean_and_error([float(f) for f in false])
    middle = max(a["between"] for a in answers)
    return [
        Claim("the solution typically has many coefficients equal to zero",
              min(zeros) > 0.1, f"{100 * np.mean(zeros):.0f} % of the path's entries"),
        Claim("the solution satisfies the subgradient condition", residual < TOLERANCE,
              f"largest violation {residual:.1e} of the largest penalty, over all knots"),
        Claim("the coefficients are piecewise linear in λ, which LAR follows",
              middle < TOLERANCE,
              f"half-way between knots the condition is violated by {middle:.1e} at most; LAR has "
              f"the same ten columns for {same} of {n} seeds"),
        Claim("p-values by permutation tell relevant columns from chance",
              mean <= ALPHA + 2 * error,
              f"false columns beyond Bonferroni: {mean:.2f} ± {error:.2f} per table"),
    ]  # fmt: skip


def _manhattan(answer: dict[str, Any]) -> Figure:
    heights = -np.log10(answer["pvalues"])
    true = np.isin(np.arange(len(heights)), answer["relevant"])
    panel = {
        name: {"x": np.flatnonzero(mask).tolist(), "y": heights[mask].tolist()}
        for name, mask in (("no coefficient", ~true), ("relevant", true))
    }
    line = float(-np.log10(ALPHA / len(heights)))
    panel["line: 5 %, Bonferroni"] = {"x": [], "y": [line]}
    return Figure("manhattan", {"Manhattan plot": panel}, "points", "column", "−log10 p")


def _path(answer: dict[str, Any]) -> Figure:
    shown, x = _penalties(answer)
    path = np.array(answer["path"])[shown]
    panel = {f"x{j}": {"x": x, "y": path[:, j].tolist()} for j in range(path.shape[1])}
    return Figure("path", {"Path": panel}, xlabel="−log10 λ", ylabel="coefficient")


def _mse(answer: dict[str, Any]) -> Figure:
    shown, x = _penalties(answer)
    mse = np.array(answer["mse"])[shown]
    error = mse.std(axis=1, ddof=1) / np.sqrt(mse.shape[1])
    panel = {"MSE": {"x": x, "y": mse.mean(axis=1).tolist(), "error": error.tolist()}}
    return Figure("mse", {"MSE": panel}, xlabel="−log10 λ", ylabel="cross-validated MSE")


def _penalties(answer: dict[str, Any]) -> tuple[Array, list[float]]:
    """Which points of the path have a logarithm (the last penalty is 0), and where they lie."""
    alphas = np.array(answer["alphas"])
    shown = np.flatnonzero(alphas > 0)
    return shown, (-np.log10(alphas[shown])).tolist()


BENCH = Bench("p-lecture", cells, report, options=("trials",))
