"""Counting states: contingency tables, and joint counts by popcounts of bit planes."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
from numba import config, types
from numba.extending import intrinsic

from featsieve.compiled.inlining import called_by_kernels, kernel, part_of_kernel

Words = npt.NDArray[np.uint64]
Ints = npt.NDArray[np.int64]
Floats = npt.NDArray[np.floating[Any]]
Codes = npt.NDArray[np.uint8]
Unsigned = np.uint64


@kernel()
def add_counts(codes: Codes, keys: Ints, cells: Ints, table: npt.NDArray[np.int64]) -> None:
    """table[keys[r], cells[j] + codes[r, j]] += 1 for all rows r and columns j."""
    for r in range(codes.shape[0]):
        row = table[keys[r]]
        for j in range(codes.shape[1]):
            row[cells[j] + codes[r, j]] += 1


@kernel()
def add_weights(codes: Codes, keys: Ints, weights: Floats, cells: Ints, table: Floats) -> None:
    """As ``add_counts``, with the weight of each row instead of 1."""
    for r in range(codes.shape[0]):
        row, weight = table[keys[r]], weights[r]
        for j in range(codes.shape[1]):
            row[cells[j] + codes[r, j]] += weight


@called_by_kernels()
def _move_class(
    mine: Codes, other: Codes, width: int, r0: int, r1: int, table: Floats, one: Ints, joint: Ints
) -> float:
    """Count rows r0 … r1 in ``one``, then move the counts to ``joint``; the sum of their n log n.

    Reading back by rows instead of by cells costs nothing for states that do not meet.
    """
    for r in range(r0, r1):
        one[mine[r] * width + other[r]] += 1
    total = 0.0
    for r in range(r0, r1):
        cell = mine[r] * width + other[r]
        count = one[cell]
        if count > 0:
            total += table[np.uint64(count)]
            joint[cell] += count
            one[cell] = 0
    return total


@called_by_kernels()
def _empty_joint(mine: Codes, other: Codes, width: int, table: Floats, joint: Ints) -> float:
    total = 0.0
    for r in range(mine.size):
        cell = mine[r] * width + other[r]
        count = joint[cell]
        if count > 0:
            total += table[np.uint64(count)]
            joint[cell] = 0
    return total


@kernel()
def direct_row(
    codes: Codes,
    class_bounds: Ints,
    states: Ints,
    i: int,
    columns: Ints,
    table: Floats,
    pair: Floats,
    triple: Floats,
) -> None:
    """Σ n log n over the tables of column i with ``columns``.

    ``codes`` is columns × rows, the rows sorted by class.
    """
    widest = 0
    for k in range(columns.size):
        widest = max(widest, states[columns[k]])
    pair_counts = np.zeros(states[i] * widest, np.int64)
    joint = np.zeros(states[i] * widest, np.int64)
    mine = codes[i]
    for k in range(columns.size):
        other, width = codes[columns[k]], states[columns[k]]
        total = 0.0
        for c in range(class_bounds.size - 1):
            total += _move_class(
                mine, other, width, class_bounds[c], class_bounds[c + 1], table, pair_counts, joint
            )
        triple[k] = total
        pair[k] = _empty_joint(mine, other, width, table, joint)


@kernel()
def segment_sums(codes: Codes, bounds: Ints, table: Floats) -> Floats:
    """Σ n log n over the states of each column within each segment of rows."""
    sums = np.zeros(codes.shape[0])
    counts = np.zeros(256, np.int64)
    for j in range(codes.shape[0]):
        column = codes[j]
        for s in range(bounds.size - 1):
            for r in range(bounds[s], bounds[s + 1]):
                counts[column[r]] += 1
            for r in range(bounds[s], bounds[s + 1]):
                sums[j] += table[np.uint64(counts[column[r]])]
                counts[column[r]] = 0
    return sums


def _popcount(typing_context: Any, word: Any) -> Any:
    """Number of set bits of a 64-bit word, as one machine instruction."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return builder.ctpop(arguments[0])

    return types.uint64(types.uint64), generate


def _counted_bits(word: Any) -> Any:
    """The same without a compiler, for runs with NUMBA_DISABLE_JIT."""
    return np.uint64(int(word).bit_count())


# The decorator's type would hide that the compiler, not the caller, gives the first argument.
popcount: Any = _counted_bits if getattr(config, "DISABLE_JIT", False) else intrinsic(_popcount)


@kernel()
def pack_planes(
    codes: Codes, classes: Ints, packed: Ints, bounds: Ints, starts: Ints, words: Words
) -> None:
    """Set the bits of ``codes`` (rows × columns), each row behind the last one of its class.

    ``packed`` counts the rows of each class that are there already. ``words`` has one plane more
    than there are, which stays empty.
    """
    for r in range(classes.size):
        c = classes[r]
        bit = np.uint64(1) << np.uint64(packed[c] % 64)
        planes = words[bounds[c] + packed[c] // 64]
        packed[c] += 1
        states = codes[r]
        for j in range(states.size):
            plane = starts[j] + states[j]
            # Without a branch: a last state sets no bit, in the plane after its column's own.
            planes[plane] |= bit * np.uint64(plane < starts[j + 1])


@part_of_kernel
def count_class(
    words: Words,
    w0: int,
    w1: int,
    first: int,
    n_planes: int,
    p0: Unsigned,
    p1: Unsigned,
    c: int,
    counts: Words,
) -> None:
    """counts[c, a, p − p0] = rows of words w0 … w1 in plane first + a and in plane p."""
    for a in range(n_planes):
        for p in range(p0, p1):
            counts[c, a, p - p0] = 0
    blocked = w0 + (w1 - w0) // 4 * 4
    for w in range(w0, blocked, 4):
        for a in range(n_planes):
            x = first + a
            x0, x1, x2, x3 = words[w, x], words[w + 1, x], words[w + 2, x], words[w + 3, x]
            for p in range(p0, p1):
                counts[c, a, p - p0] += (
                    popcount(x0 & words[w, p])
                    + popcount(x1 & words[w + 1, p])
                    + popcount(x2 & words[w + 2, p])
                    + popcount(x3 & words[w + 3, p])
                )
    for w in range(blocked, w1):
        for a in range(n_planes):
            x0 = words[w, first + a]
            for p in range(p0, p1):
                counts[c, a, p - p0] += popcount(x0 & words[w, p])


@part_of_kernel
def _count_last_state(
    counts: Words, c: int, n_planes: int, margins: Words, p0: Unsigned, p1: Unsigned
) -> None:
    """counts[c, n_planes] = what the other states leave of the margins."""
    for p in range(p0, p1):
        counts[c, n_planes, p - p0] = margins[c, p]
    for a in range(n_planes):
        for p in range(p1 - p0):
            counts[c, n_planes, p] -= counts[c, a, p]


@part_of_kernel
def _join_classes(counts: Words, n_classes: int, n_states: int, width: Unsigned) -> None:
    """counts[n_classes] = the sum over the classes."""
    for a in range(n_states):
        for p in range(width):
            counts[n_classes, a, p] = counts[0, a, p]
        for c in range(1, n_classes):
            for p in range(width):
                counts[n_classes, a, p] += counts[c, a, p]


@part_of_kernel
def _table_sum(
    counts: Words,
    c: int,
    p: Unsigned,
    end: Unsigned,
    n_planes: int,
    margins: Words,
    first: int,
    left_over: Unsigned,
    table: Floats,
) -> float:
    """Σ n log n over one table; the last state of the other column is what the planes leave."""
    total = 0.0
    for a in range(n_planes + 1):
        left = margins[c, first + a] if a < n_planes else left_over
        part = 0.0  # one sum per row: short chains of additions overlap
        for b in range(p, end):
            left -= counts[c, a, b]
            part += table[counts[c, a, b]]
        total += part + table[left]
    return total


@kernel()
def plane_tile(
    words: Words,
    bounds: Ints,
    starts: Ints,
    margins: Words,
    last_margins: Words,
    table: Floats,
    columns: Ints,
    j0: int,
    stops: Ints,
    counts: Words,
    sums: Floats,
) -> None:
    """Add Σ n log n over the tables of each of ``columns`` with columns j0 … stops[k].

    ``sums[0]`` gets those for (X_i, X_j), ``sums[1]`` those for (X_i, X_j, Y). ``margins[c]`` holds
    the rows of class c in each plane and ``last_margins[c]`` those in each column's last state,
    with all rows after the last class; so does ``counts``, which is work space of classes + 1,
    states and planes. Planes are counted by unsigned numbers: a signed index may mean "from the
    end", and the check for it would keep the loops from using vector instructions.
    """
    n_classes = bounds.size - 1
    p0 = np.uint64(starts[j0])
    for k in range(columns.size):
        i, j1 = columns[k], stops[k]
        first, p1 = starts[i], np.uint64(starts[j1])
        n_planes = starts[i + 1] - first
        for c in range(n_classes + 1):
            if c < n_classes:
                count_class(words, bounds[c], bounds[c + 1], first, n_planes, p0, p1, c, counts)
                _count_last_state(counts, c, n_planes, margins, p0, p1)
            else:
                _join_classes(counts, n_classes, n_planes + 1, p1 - p0)
            p, left = np.uint64(0), last_margins[c, i]
            for j in range(j0, j1):
                end = np.uint64(starts[j + 1]) - p0
                sums[np.int64(c < n_classes), k, j - j0] += _table_sum(
                    counts, c, p, end, n_planes, margins, first, left, table
                )
                p = end
