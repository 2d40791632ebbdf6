"""Blocks of columns that rise and fall together: one factor for each, which loads on it alone."""

from __future__ import annotations

import numpy as np
from scipy.cluster.hierarchy import linkage
from scipy.spatial.distance import squareform

from featsieve.arrays import FloatArray, IntArray
from featsieve.runtime.progress import SILENT, Monitor

SMALLEST = 3  # two columns are an edge of the graph
LARGEST = 200  # more are what a factor of all columns is for
AXIS_SWEEPS = 30
LEAST_UNIQUE = 0.01  # of a column's variance is left to itself by the factors


def block_loadings(
    correlation: FloatArray, n_samples: int, cost: float, monitor: Monitor = SILENT
) -> FloatArray:
    """Columns × blocks: the loadings of each block's factor, 0 outside of the block.

    Blocks are nodes of the tree of average linkage by |r|. A node is a block where its factor
    gains more likelihood than ``cost`` per column, and more than the best blocks inside of it.
    """
    width = len(correlation)
    nodes = _best_blocks(correlation, n_samples, cost, monitor)
    blocks = [block for block in nodes if len(block) > 1]
    loadings = np.zeros((width, len(blocks)))
    for number, block in enumerate(blocks):
        loadings[block, number] = one_factor(correlation[np.ix_(block, block)])
    return loadings


def _best_blocks(
    correlation: FloatArray, n_samples: int, cost: float, monitor: Monitor = SILENT
) -> list[IntArray]:
    """From the leaves to the root: a node as one block, or the best of its two children."""
    if len(correlation) < SMALLEST:
        return []
    distance = np.maximum(1.0 - np.abs(correlation), 0.0)
    np.fill_diagonal(distance, 0.0)
    tree = linkage(squareform(distance, checks=False), "average")
    members: list[IntArray] = [np.array([column]) for column in range(len(correlation))]
    best: list[list[IntArray]] = [[leaf] for leaf in members]
    gains = [0.0] * len(members)
    for left, right in tree[:, :2].astype(int):
        monitor.check()
        node = np.sort(np.concatenate([members[left], members[right]]))
        members.append(node)
        apart = gains[left] + gains[right]
        joined = _gain(correlation, node, n_samples, cost)
        gains.append(max(apart, joined))
        best.append([node] if joined > apart else best[left] + best[right])
    return best[-1]


def _gain(correlation: FloatArray, block: IntArray, n_samples: int, cost: float) -> float:
    """By how much one factor for the block lowers the criterion of independent columns."""
    if not SMALLEST <= len(block) <= LARGEST:
        return -np.inf
    inside = correlation[np.ix_(block, block)]
    loadings = one_factor(inside)
    unique = 1.0 - loadings**2
    weights = loadings / unique
    spread = 1.0 + float(loadings @ weights)
    log_determinant = float(np.log(unique).sum()) + np.log(spread)
    trace = float((1.0 / unique).sum() - weights @ inside @ weights / spread)
    return float(n_samples * (len(block) - log_determinant - trace) - cost * len(block))


def one_factor(correlation: FloatArray) -> FloatArray:
    """Loadings by principal axis factoring; each sweep is a step of the power method."""
    first = int((correlation**2).sum(axis=1).argmax())
    direction = correlation[first] / np.linalg.norm(correlation[first])
    shared = np.ones(len(correlation))
    loadings = direction
    for _ in range(AXIS_SWEEPS):
        product = correlation @ direction + (shared - 1.0) * direction
        size = float(np.linalg.norm(product))
        direction = product / max(size, 1e-300)
        bound = np.sqrt(1.0 - LEAST_UNIQUE)
        loadings = np.clip(direction * np.sqrt(size), -bound, bound)
        shared = loadings**2
    return loadings
