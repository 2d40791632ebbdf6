"""Contingency tables of pairs of coded columns from bit planes and hardware popcount.

A column of S states has S − 1 planes: bit r of plane a says whether row r has state a, and the last
state follows from the margins. Rows are sorted by class and each class starts a new word, so a
range of words is a class. Planes lie side by side in a word row: the inner loop runs over the
planes of many columns at once, without a horizontal sum or any overhead a pair.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
from numba import config, njit, types
from numba.extending import intrinsic

from featsieve.kernels.inlining import part_of_kernel

Words = npt.NDArray[np.uint64]
Ints = npt.NDArray[np.int64]
Floats = npt.NDArray[np.floating[Any]]
Codes = npt.NDArray[np.uint8]
Unsigned = np.uint64


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


@njit(nogil=True, cache=True, error_model="numpy")
def pack_planes(
    codes: Codes, order: Ints, class_rows: Ints, bounds: Ints, starts: Ints, words: Words
) -> None:
    """Set the bits of ``codes`` (rows × columns); ``order`` lists the rows class by class.

    ``words`` has one plane more than there are, which stays empty.
    """
    row = 0
    for c in range(class_rows.size):
        for k in range(class_rows[c]):
            bit = np.uint64(1) << np.uint64(k % 64)
            planes = words[bounds[c] + k // 64]
            states = codes[order[row]]
            for j in range(states.size):
                plane = starts[j] + states[j]
                # Without a branch: a last state sets no bit, in the plane after its column's own.
                planes[plane] |= bit * np.uint64(plane < starts[j + 1])
            row += 1


@part_of_kernel
def _count_class(
    words: Words,
    w0: int,
    w1: int,
    first: int,
    own: int,
    p0: Unsigned,
    p1: Unsigned,
    c: int,
    counts: Words,
) -> None:
    """counts[c, a, p − p0] = rows of words w0 … w1 in plane first + a and in plane p."""
    for a in range(own):
        for p in range(p0, p1):
            counts[c, a, p - p0] = 0
    blocked = w0 + (w1 - w0) // 4 * 4
    for w in range(w0, blocked, 4):
        for a in range(own):
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
        for a in range(own):
            x0 = words[w, first + a]
            for p in range(p0, p1):
                counts[c, a, p - p0] += popcount(x0 & words[w, p])


@part_of_kernel
def _count_last_state(
    counts: Words, c: int, own: int, margins: Words, p0: Unsigned, p1: Unsigned
) -> None:
    """counts[c, own] = what the other states leave of the margins."""
    for p in range(p0, p1):
        counts[c, own, p - p0] = margins[c, p]
    for a in range(own):
        for p in range(p1 - p0):
            counts[c, own, p] -= counts[c, a, p]


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
    own: int,
    margins: Words,
    first: int,
    left_over: Unsigned,
    table: Floats,
) -> float:
    """Σ n log n over one table; the last state of the other column is what the planes leave."""
    total = 0.0
    for a in range(own + 1):
        left = margins[c, first + a] if a < own else left_over
        part = 0.0  # a sum of its own a row: short chains of additions overlap
        for b in range(p, end):
            left -= counts[c, a, b]
            part += table[counts[c, a, b]]
        total += part + table[left]
    return total


@njit(nogil=True, cache=True, error_model="numpy")
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
        own = starts[i + 1] - first
        for c in range(n_classes + 1):
            if c < n_classes:
                _count_class(words, bounds[c], bounds[c + 1], first, own, p0, p1, c, counts)
                _count_last_state(counts, c, own, margins, p0, p1)
            else:
                _join_classes(counts, n_classes, own + 1, p1 - p0)
            p, left = np.uint64(0), last_margins[c, i]
            for j in range(j0, j1):
                end = np.uint64(starts[j + 1]) - p0
                sums[np.int64(c < n_classes), k, j - j0] += _table_sum(
                    counts, c, p, end, own, margins, first, left, table
                )
                p = end
