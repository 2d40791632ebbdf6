"""What correlations are shrunk toward when the rows are few: factors, blocks and a sparse graph.

Shrinking toward the identity weakens every correlation. A copy of a column next to a true one would
then be less correlated with it than the column is, and lose against it although neither has an
effect. So the main correlations are kept: what a few factors explain (all columns rise and fall
together, or those of a block do), and what a sparse graph of partial correlations explains
(neighbours). All are fitted to the correlations alone, so any engine gives the same.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial

import numpy as np
from scipy.linalg import eigh

from featsieve.arrays import BoolArray, FloatArray, IntArray
from featsieve.inference.knockoffs.blocks import LEAST_UNIQUE, block_loadings
from featsieve.runtime.products import watched_call
from featsieve.runtime.progress import SILENT, Monitor

MOST_FACTORS = 10
MOST_NEIGHBOURS = 20
AXIS_SWEEPS = 5
GRAPH_SWEEPS = 100
TOLERANCE = 1e-5
RIDGE = 1e-3  # copied columns would make small systems singular
SLACK = 10.0  # chance moves the weight of a right target by a few times 1/(number of columns)
ROWS_A_COLUMN = 2  # from here on correlations may be taken as they are


@dataclass(frozen=True)
class Target:
    """A correlation matrix with few parameters, and what they cost."""

    correlation: FloatArray
    n_factors: int
    n_blocks: int
    n_edges: int
    criterion: float


@dataclass(frozen=True)
class Structure:
    """How the correlations were modelled; ``too_few_rows``: neither by structure nor as they are.

    ``shrinkage`` is the weight of a model with ``n_factors``, ``n_blocks`` and ``n_edges``.
    """

    n_factors: int = 0
    n_blocks: int = 0
    n_edges: int = 0
    shrinkage: float = 0.0
    too_few_rows: bool = False


def structured(
    correlation: FloatArray, n_samples: int, monitor: Monitor = SILENT
) -> tuple[FloatArray, Structure]:
    """Correlations shrunk toward the best target, if that explains them; else as they are.

    Where it does not explain them, and the rows are too few to take them as they are, they are
    shrunk all the same, and the answer says so.
    """
    *_, target = target_steps(correlation, n_samples, monitor)
    weight = shrinkage(correlation, target.correlation, n_samples)
    explained = weight * (1.0 + SLACK / len(correlation)) >= 1.0
    enough = n_samples >= ROWS_A_COLUMN * len(correlation)
    if enough and not explained:
        weight = 0.0
    model = weight * target.correlation + (1.0 - weight) * correlation
    too_few = not (explained or enough)
    counts = target.n_factors, target.n_blocks, target.n_edges
    return model, Structure(*counts, weight, too_few)


def shrinkage(correlation: FloatArray, target: FloatArray, n_samples: int) -> float:
    """The weight of ``target`` with the least expected squared error, for Gaussian columns.

    It is the variance of all correlations over their squared distance from the target (Ledoit and
    Wolf 2003; for correlations Schäfer and Strimmer 2005): near 1 if the target leaves nothing but
    chance.
    """
    distance = float(((correlation - target) ** 2).sum())
    chance = float(((1.0 - correlation**2) ** 2).sum()) / max(n_samples - 1, 1)
    return min(1.0, chance / distance) if distance > chance else 1.0


def target_steps(
    correlation: FloatArray, n_samples: int, monitor: Monitor = SILENT
) -> Iterator[Target]:
    """More and more factors, while the extended Bayesian criterion gets better; then blocks."""
    best: Target | None = None
    for n_factors in range(min(MOST_FACTORS, len(correlation) - 1, n_samples // 4) + 1):
        target = fitted_target(correlation, n_samples, n_factors, monitor)
        if best is not None and target.criterion >= best.criterion:
            break
        best = target
        yield best
    assert best is not None  # no factor at all is always tried
    for n_factors in sorted({0, best.n_factors}):
        target = blocked_target(correlation, n_samples, n_factors, monitor)
        if target.criterion < best.criterion:
            best = target
            yield best


def fitted_target(
    correlation: FloatArray, n_samples: int, n_factors: int, monitor: Monitor = SILENT
) -> Target:
    """Loadings of ``n_factors``, and a graph for what they leave."""
    width = len(correlation)
    correlation, loadings = with_axes(correlation, n_factors, monitor)
    left, scale = left_by(loadings, correlation)
    cost = edge_cost(n_samples, width)
    edges = graph(left, n_samples, cost, monitor)
    try:
        model = graph_model(left, edges, monitor)
    except np.linalg.LinAlgError:  # a column is a sum of others, and no sparse graph says so
        edges, model = np.zeros_like(edges), np.eye(width)
    model *= np.outer(scale, scale)
    model += loadings @ loadings.T
    n_edges = int(edges.sum()) // 2
    penalty = n_factors * width * np.log(n_samples) + n_edges * cost
    criterion = n_samples * misfit(correlation, model, monitor) + penalty
    return Target(model, n_factors, 0, n_edges, criterion)


def blocked_target(
    correlation: FloatArray, n_samples: int, n_factors: int, monitor: Monitor = SILENT
) -> Target:
    """Loadings of ``n_factors``, and one more factor for each block in what they leave."""
    width = len(correlation)
    correlation, loadings = with_axes(correlation, n_factors, monitor)
    left, scale = left_by(loadings, correlation)
    cost = edge_cost(n_samples, width)
    in_blocks = block_loadings(left, n_samples, cost, monitor) * scale[:, None]
    model = loadings @ loadings.T + in_blocks @ in_blocks.T
    np.fill_diagonal(model, 1.0)
    penalty = n_factors * width * np.log(n_samples) + np.count_nonzero(in_blocks) * cost
    criterion = n_samples * misfit(correlation, model, monitor) + penalty
    return Target(model, n_factors, in_blocks.shape[1], 0, criterion)


def with_axes(
    correlation: FloatArray, n_factors: int, monitor: Monitor
) -> tuple[FloatArray, FloatArray]:
    """Correlations that copied columns do not make singular, and the loadings of their factors."""
    ridged = (1.0 - RIDGE) * correlation + RIDGE * np.eye(len(correlation))
    return ridged, principal_axes(ridged, n_factors, monitor)


def left_by(loadings: FloatArray, correlation: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Correlations of what factors leave of the columns, and its standard deviations."""
    left = correlation - loadings @ loadings.T
    scale = np.sqrt(np.diag(left))
    left /= np.outer(scale, scale)
    return left, scale


def edge_cost(n_samples: int, width: int) -> float:
    """The extended Bayesian criterion with γ = 1/2 (Foygel and Drton 2010)."""
    return float(np.log(n_samples) + 2.0 * np.log(width))


def misfit(correlation: FloatArray, model: FloatArray, monitor: Monitor = SILENT) -> float:
    """−2/n times the Gaussian log-likelihood, up to a constant."""
    inverse = watched_call(np.linalg.inv, model, monitor)
    _, log_determinant = watched_call(np.linalg.slogdet, model, monitor)
    return float(log_determinant + np.sum(inverse * correlation))


def principal_axes(
    correlation: FloatArray, n_factors: int, monitor: Monitor = SILENT
) -> FloatArray:
    """Loadings by principal axis factoring: columns keep a part of their own."""
    width = len(correlation)
    loadings: FloatArray = np.zeros((width, n_factors))
    if not n_factors:
        return loadings
    reduced = correlation.copy()
    for _ in range(AXIS_SWEEPS):
        values, vectors = watched_call(partial(largest_pairs, n_factors), reduced, monitor)
        loadings = vectors * np.sqrt(np.maximum(values, 0.0))
        shared = (loadings**2).sum(axis=1)
        too_much = np.sqrt(np.minimum(1.0, (1.0 - LEAST_UNIQUE) / np.maximum(shared, 1e-300)))
        loadings *= too_much[:, None]
        np.fill_diagonal(reduced, np.minimum(shared, 1.0 - LEAST_UNIQUE))
    return loadings


def largest_pairs(count: int, A: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Eigenvalues and vectors, the largest last."""
    values, vectors = eigh(A, subset_by_index=[len(A) - count, len(A) - 1])
    return values, vectors


def graph(
    correlation: FloatArray, n_samples: int, cost: float, monitor: Monitor = SILENT
) -> BoolArray:
    """Which pairs of columns are neighbours: either is selected forward for the other."""
    edges = np.zeros(correlation.shape, dtype=np.bool_)
    for column in range(len(correlation)):
        monitor.check()
        edges[column, neighbours(correlation, column, n_samples, cost)] = True
    return edges | edges.T


def neighbours(correlation: FloatArray, column: int, n_samples: int, cost: float) -> list[int]:
    """Forward selection for one column, while a step gains more likelihood than it costs."""
    width = len(correlation)
    chosen: list[int] = []
    most = min(MOST_NEIGHBOURS, n_samples // 4, width - 1)
    basis = np.zeros((most, width))  # orthonormal directions of the chosen, seen by all columns
    with_column, variance = correlation[column].copy(), np.ones(width)
    open_ = np.ones(width, dtype=np.bool_)
    open_[column] = False
    for step in range(most):
        gain = np.where(open_, with_column**2 / np.maximum(variance, TOLERANCE), 0.0)
        best = int(gain.argmax())
        share = min(float(gain[best]) / max(variance[column], TOLERANCE), 1.0 - 1e-12)
        if -n_samples * np.log1p(-share) <= cost:
            break
        chosen.append(best)
        direction = correlation[best] - basis[:step].T @ basis[:step, best]
        direction /= np.sqrt(max(direction[best], TOLERANCE))
        basis[step] = direction
        with_column -= direction * direction[column]
        variance -= direction**2
        open_ &= variance > TOLERANCE
    return chosen


def graph_model(correlation: FloatArray, edges: BoolArray, monitor: Monitor = SILENT) -> FloatArray:
    """The likeliest covariance whose inverse is zero where there is no edge.

    On edges it equals ``correlation`` (Hastie et al. 2009, algorithm 17.1), so nothing that is kept
    is weakened.
    """
    model = correlation.copy()  # a feasible start: each step raises its determinant
    lists: list[IntArray] = [np.flatnonzero(row) for row in edges]
    for _ in range(GRAPH_SWEEPS):
        largest_change = 0.0
        for column, near in enumerate(lists):
            monitor.check()
            row: FloatArray = np.zeros(len(model))
            if len(near):
                slopes = np.linalg.solve(model[np.ix_(near, near)], correlation[near, column])
                row = model[:, near] @ slopes
            row[column] = 1.0
            largest_change = max(largest_change, float(np.abs(row - model[column]).max()))
            model[column] = model[:, column] = row
        if largest_change <= TOLERANCE:
            break
    return model
