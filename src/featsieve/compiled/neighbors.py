"""Neighbour counts for estimates of information from distances."""

from __future__ import annotations

import numpy as np

from featsieve.compiled.counting import Floats
from featsieve.compiled.inlining import kernel, part_of_kernel


@part_of_kernel
def _count_near(ordered: Floats, centre: float, radius: float) -> int:
    """How many of the sorted values lie nearer to ``centre`` than ``radius``; at least 1.

    By the differences themselves: a bound such as centre + radius is rounded, which would move
    values at the very edge.
    """
    low, high = 0, ordered.size
    while low < high:
        middle = (low + high) // 2
        if centre - ordered[middle] < radius:
            high = middle
        else:
            low = middle + 1
    first, high = low, ordered.size
    while low < high:
        middle = (low + high) // 2
        if ordered[middle] - centre < radius:
            low = middle + 1
        else:
            high = middle
    return max(low - first, 1)


@part_of_kernel
def _keep(nearest: Floats, distance: float) -> None:
    """Put a distance into its place among the smallest ones, the largest of which is dropped."""
    slot = nearest.size - 1
    while slot > 0 and nearest[slot - 1] > distance:
        nearest[slot] = nearest[slot - 1]
        slot -= 1
    nearest[slot] = distance


@kernel()
def pair_digammas(x: Floats, y: Floats, y_ordered: Floats, nearest: Floats, psi: Floats) -> float:
    """Σ ψ(n_x + 1) + ψ(n_y + 1) over the rows, which are sorted by x (Kraskov et al. 2004, eq. 8).

    n_x counts the other rows that are nearer in x than the k-th neighbour is in the larger of both
    distances. ``nearest`` is work space for k distances, ``psi[m]`` holds ψ(m).
    """
    total = 0.0
    last = nearest.size - 1
    for i in range(x.size):
        nearest[:] = np.inf
        left, right = i - 1, i + 1
        while True:
            on_left = x[i] - x[left] if left >= 0 else np.inf
            on_right = x[right] - x[i] if right < x.size else np.inf
            distance = min(on_left, on_right)
            if not distance < nearest[last]:
                break  # all others are farther away in x alone
            if on_left <= on_right:
                other = left
                left -= 1
            else:
                other = right
                right += 1
            distance = max(distance, abs(y[i] - y[other]))
            if distance < nearest[last]:
                _keep(nearest, distance)
        radius = nearest[last]
        total += psi[_count_near(x, x[i], radius)] + psi[_count_near(y_ordered, y[i], radius)]
    return total


@kernel()
def label_digammas(alike: Floats, ordered: Floats, k: int, psi: Floats) -> float:
    """Σ ψ(m) over the values of one label, sorted; all labels' values are ``ordered`` (Ross 2014).

    m counts the values of any label that are nearer than the k-th neighbour of the same label.
    """
    total = 0.0
    for i in range(alike.size):
        left, right = i, i
        for _ in range(k):
            on_left = alike[i] - alike[left - 1] if left > 0 else np.inf
            on_right = alike[right + 1] - alike[i] if right + 1 < alike.size else np.inf
            if on_left <= on_right:
                left -= 1
            else:
                right += 1
        radius = max(alike[i] - alike[left], alike[right] - alike[i])
        total += psi[_count_near(ordered, alike[i], radius)]
    return total


@kernel()
def common_step(gaps: Floats, finest: float, error: float) -> float:
    """A number of which all sorted gaps are multiples, each gap known up to ``error``; or 0.

    The smallest gap is so many steps, for one number after the other. It is known to few digits,
    so each gap that fits makes the step more exact for the next, larger one.
    """
    n_steps = 1
    while gaps[0] / n_steps >= finest:
        step, counted, fits = gaps[0] / n_steps, float(n_steps), True
        for gap in gaps:
            count = np.rint(gap / step)
            allowed = error + count * error / counted
            if allowed >= step / 2 or abs(gap - count * step) > allowed:
                fits = False
                break
            step, counted = gap / count, count
        if fits:
            return step
        n_steps += 1
    return 0.0
