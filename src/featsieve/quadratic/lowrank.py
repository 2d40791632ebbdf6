"""LowRank (P-CMI, section II-B3): the bilinear form (6) on a rank-d approximation of Q.

Every optimal x of max x'Q_d y is the top-k of some combination of d vectors, so the search runs
over directions in d dimensions (the Spannogram): all of them for d <= 2, a net above. The paper
draws random directions, so many that with probability 1 − δ some direction lies within ε/2 of any
given one; a grid on the faces of a cube does the same with certainty, and with far fewer.
Q_d takes the d largest eigenvalues, not the largest in absolute value: with k fixed, Q + tI has the
same optimum, and for a t that leaves no negative eigenvalue both choices agree.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, field

import numpy as np

from featsieve.arrays import FloatArray, IntArray
from featsieve.errors import InputError
from featsieve.quadratic.problem import Answer, Options, Problem

BLOCK_BYTES = 1 << 22  # scores of one block of directions: stays in the cache
SEEN_SLOTS = 1 << 18
KEY_SEED = 1
MAX_DIRECTIONS = 500_000_000  # hours


def sample_count(rank: int, epsilon: float, delta: float) -> int:
    """Random directions for a value within epsilon with probability 1 − delta.

    >>> sample_count(3, 0.1, 0.1)
    926519
    """
    cover = (1 + 4 / epsilon) ** rank
    return max(1, round((np.log(delta) - np.log(cover)) / np.log1p(-1 / cover)))


def net_size(rank: int, epsilon: float) -> int:
    """How many directions :func:`net_directions` gives.

    >>> net_size(3, 0.1)
    2523
    """
    return int(rank * _points_per_edge(rank, epsilon) ** (rank - 1))


def _points_per_edge(rank: int, epsilon: float) -> int:
    # Cells of edge ε/√(d − 1) have their corners within ε/2 of the middle, and going from the cube
    # to the unit ball inside makes no distance larger.
    return math.ceil(2 * math.sqrt(rank - 1) / epsilon)


def net_directions(rank: int, epsilon: float, first: int, last: int) -> FloatArray:
    """Rows ``first … last`` of a net: every direction, or its opposite, is within ε/2 of a row.

    The rows are the middles of a grid of cells on one face of the cube [−1, 1]^d per axis.
    """
    edge = _points_per_edge(rank, epsilon)
    axis, cell = np.divmod(np.arange(first, last), edge ** (rank - 1))
    directions = np.ones((last - first, rank))
    for m in range(1, rank):
        cell, coordinate = np.divmod(cell, edge)
        directions[np.arange(len(axis)), (axis + m) % rank] = (2 * coordinate + 1) / edge - 1
    return directions / np.linalg.norm(directions, axis=1, keepdims=True)


def exact_directions(factors: FloatArray, k: int) -> FloatArray:
    """Directions c (m × d, d <= 2) such that the top-k of ±factors·c run through all that exist."""
    if factors.shape[1] == 1:
        return np.ones((1, 1))
    angles = np.concatenate([_angles_at_rank(factors, i, k) for i in range(len(factors))])
    angles = np.unique(np.append(angles, 0.0))  # at least one, even if all points are the same
    return np.column_stack([np.cos(angles), np.sin(angles)])


def _angles_at_rank(points: FloatArray, i: int, k: int) -> FloatArray:
    """For each arc of directions in which point i is the k-th largest, an angle inside it.

    A point j lies above i on the half circle around the direction of (j − i); going round, the
    number above changes only where such a half circle starts or ends.
    """
    steps = np.delete(points - points[i], i, axis=0)
    steps = steps[np.abs(steps).max(axis=1) > 0]  # copies of i are never above it
    middle = np.arctan2(steps[:, 1], steps[:, 0])
    starts = np.mod(middle - np.pi / 2, 2 * np.pi)
    ends = np.mod(middle + np.pi / 2, 2 * np.pi)
    edges = np.concatenate([starts, ends])
    order = np.argsort(edges, kind="stable")
    change = np.repeat([1, -1], len(steps))[order]
    above = int((ends < starts).sum()) + np.cumsum(change)  # after each edge
    copies = len(points) - 1 - len(steps)
    at_rank = (above < k) & (above + copies >= k - 1)
    edges = edges[order]
    following = np.append(edges[1:], edges[:1] + 2 * np.pi) if len(edges) else edges
    return np.mod((edges + following)[at_rank] / 2, 2 * np.pi)


@dataclass
class Scan:
    """The best set among the candidates of all directions seen so far."""

    problem: Problem
    eigenvalues: FloatArray
    eigenvectors: FloatArray
    value: float = -np.inf
    pair_value: float = -np.inf  # of x'Q_d y
    best: IntArray = field(init=False)

    def __post_init__(self) -> None:
        sizes = np.sqrt(np.abs(self.eigenvalues))
        self.factors = np.ascontiguousarray(self.eigenvectors * sizes)
        self.signs = np.where(self.eigenvalues < 0, -1.0, 1.0)
        rng = np.random.default_rng(KEY_SEED)
        self.keys = rng.integers(1, 2**64 - 1, size=self.problem.n, dtype=np.uint64)
        self.seen = np.zeros(SEEN_SLOTS, dtype=np.uint64)
        self.best = np.arange(self.problem.k, dtype=np.int64)
        self.work = (
            np.empty(self.problem.n),
            np.empty(self.problem.n),
            np.empty(self.problem.k, dtype=np.int64),
            np.empty(self.problem.k, dtype=np.int64),
        )

    def add(self, directions: FloatArray) -> None:
        from featsieve.compiled.lowrank import scan_directions

        self.value, self.pair_value = scan_directions(
            self.problem.Q,
            self.factors,
            self.signs,
            directions @ self.factors.T,
            self.keys,
            self.seen,
            self.best,
            self.value,
            self.pair_value,
            *self.work,
        )


def _blocks(scan: Scan, options: Options) -> Iterator[FloatArray]:
    """The directions, a block at a time."""
    size = max(1, BLOCK_BYTES // (8 * scan.problem.n))
    rank = scan.factors.shape[1]
    if rank <= 2 and options.n_samples is None:
        exact = exact_directions(scan.factors, scan.problem.k)
        yield from np.array_split(exact, -(-len(exact) // size))
        return
    samples = options.n_samples or sample_count(rank, options.epsilon, options.delta)
    pairs = -(-samples // 2)  # each direction serves twice: top-k and bottom-k
    in_net = net_size(rank, options.epsilon)
    is_net = options.n_samples is None and in_net <= pairs
    n_directions = in_net if is_net else pairs
    if options.n_samples is None and n_directions > MAX_DIRECTIONS:
        raise InputError(
            f"rank={rank} with epsilon={options.epsilon} and delta={options.delta} asks for "
            f"{n_directions:.1e} directions; give a smaller rank, a larger epsilon or n_samples."
        )
    for first in range(0, n_directions, size):
        last = min(first + size, n_directions)
        if is_net:
            yield net_directions(rank, options.epsilon, first, last)
        else:
            yield options.rng.standard_normal((last - first, rank))


def lowrank_steps(problem: Problem, options: Options) -> Iterator[Answer]:
    """The best so far after each block of directions."""
    scan = Scan(problem, *problem.eigenpairs(options.rank))
    for directions in _blocks(scan, options):
        scan.add(directions)
        yield problem.ranked(scan.best)
        options.monitor.check()
