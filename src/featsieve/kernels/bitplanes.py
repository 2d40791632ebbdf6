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

Words = npt.NDArray[np.uint64]
Ints = npt.NDArray[np.int64]
Floats = npt.NDArray[np.floating[Any]]
Codes = npt.NDArray[np.uint8]


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


@njit(nogil=True, cache=True)
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


@njit(nogil=True, cache=True)
def _add_four(mine: Words, w: int, a: int, words: Words, p0: int, p1: int, counts: Words) -> None:
    x0, x1, x2, x3 = mine[a, w], mine[a, w + 1], mine[a, w + 2], mine[a, w + 3]
    r0, r1, r2, r3 = words[w, p0:p1], words[w + 1, p0:p1], words[w + 2, p0:p1], words[w + 3, p0:p1]
    for p in range(p1 - p0):
        counts[p] += (
            popcount(x0 & r0[p])
            + popcount(x1 & r1[p])
            + popcount(x2 & r2[p])
            + popcount(x3 & r3[p])
        )


@njit(nogil=True, cache=True)
def _count_class(
    mine: Words, n_planes: int, words: Words, w0: int, w1: int, p0: int, p1: int, counts: Words
) -> None:
    """counts[a, p] = rows of words w0 … w1 in state a of this column and in plane p0 + p."""
    for a in range(n_planes):
        for p in range(p1 - p0):
            counts[a, p] = 0
    blocked = w0 + (w1 - w0) // 4 * 4
    for w in range(w0, blocked, 4):
        for a in range(n_planes):
            _add_four(mine, w, a, words, p0, p1, counts[a])
    for w in range(blocked, w1):
        row = words[w, p0:p1]
        for a in range(n_planes):
            x, sums = mine[a, w], counts[a]
            for p in range(p1 - p0):
                sums[p] += popcount(x & row[p])


@njit(nogil=True, cache=True)
def _add_class(
    counts: Words,
    mine: Ints,
    others: Ints,
    starts: Ints,
    j0: int,
    j1: int,
    table: Floats,
    last: Ints,
    joint: Ints,
    triple: Floats,
) -> None:
    """Complete the tables of one class by the margins and add them to ``joint`` and ``triple``."""
    n_planes = mine.size - 1
    for j in range(j0, j1):
        p, cell = starts[j] - starts[j0], starts[j] - starts[j0] + j - j0
        n_other = starts[j + 1] - starts[j]
        for b in range(n_other + 1):
            last[b] = others[starts[j] + j + b]
        total = 0.0
        for a in range(n_planes):
            left, part = mine[a], 0.0  # a sum of its own a row: short chains of additions overlap
            found, sums = counts[a, p:], joint[a, cell:]
            for b in range(n_other):
                count = np.int64(found[b])
                left -= count
                last[b] -= count
                sums[b] += count
                part += table[np.uint64(count)]
            last[n_other] -= left
            sums[n_other] += left
            total += part + table[np.uint64(left)]
        sums, part = joint[n_planes, cell:], 0.0
        for b in range(n_other + 1):
            sums[b] += last[b]
            part += table[np.uint64(last[b])]
        triple[j - j0] += total + part


@njit(nogil=True, cache=True)
def _sum_joint(
    joint: Ints, starts: Ints, j0: int, j1: int, n_states: int, table: Floats, pair: Floats
) -> None:
    for j in range(j0, j1):
        first = starts[j] - starts[j0] + j - j0
        total = 0.0
        for a in range(n_states):
            sums, part = joint[a, first:], 0.0
            for b in range(starts[j + 1] - starts[j] + 1):
                part += table[np.uint64(sums[b])]
            total += part
        pair[j - j0] = total


@njit(nogil=True, cache=True)
def _take_planes(words: Words, start: int, mine: Words) -> None:
    for a in range(mine.shape[0]):
        for w in range(words.shape[0]):
            mine[a, w] = words[w, start + a]


@njit(nogil=True, cache=True)
def plane_tile(
    words: Words,
    bounds: Ints,
    starts: Ints,
    margins: Ints,
    table: Floats,
    columns: Ints,
    j0: int,
    stops: Ints,
    widest: int,
    pair: Floats,
    triple: Floats,
) -> None:
    """Σ n log n over the tables of each of ``columns`` with columns j0 … stops[k].

    ``margins[c]`` holds the counts of all states of all columns within class c, ``widest`` is the
    largest number of states; ``pair`` gets the sums for (X_i, X_j), ``triple`` those for
    (X_i, X_j, Y) on top of the zeros it holds.
    """
    last = np.empty(widest, np.int64)
    tile_planes = starts[j0 + pair.shape[1]] - starts[j0]
    counts = np.empty((widest, tile_planes), np.uint64)
    for k in range(columns.size):
        i, j1 = columns[k], stops[k]
        n_planes = starts[i + 1] - starts[i]
        mine = np.empty((n_planes, words.shape[0]), np.uint64)
        _take_planes(words, starts[i], mine)
        joint = np.zeros((n_planes + 1, tile_planes + pair.shape[1]), np.int64)
        for c in range(bounds.size - 1):
            _count_class(
                mine, n_planes, words, bounds[c], bounds[c + 1], starts[j0], starts[j1], counts
            )
            own = margins[c, starts[i] + i : starts[i + 1] + i + 1]
            _add_class(counts, own, margins[c], starts, j0, j1, table, last, joint, triple[k])
        _sum_joint(joint, starts, j0, j1, n_planes + 1, table, pair[k])
