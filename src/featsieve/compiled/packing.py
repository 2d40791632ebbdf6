"""From numbers to bit planes: one bit per row and state, 64 rows in a word, without codes between.

The planes of a column of s states are those of its first s − 1 states. Rows are sorted by class,
and each class begins with a new word. A block without missing cells leaves their state out, so that
a column of c cuts is c planes there, and c + 1 planes elsewhere.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
from numba import config, types
from numba.extending import intrinsic

from featsieve.compiled.counting import Codes, Floats, Ints, Words, count_class
from featsieve.compiled.inlining import kernel, part_of_kernel

BITS = 64
COLUMNS_AT_A_TIME = 64  # whole cache lines of a few rows, and the first cache holds them
WORDS_AT_A_TIME = 16  # a table that lies column by column is read in runs
Rows = npt.NDArray[np.uint32]


def _vector_of(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
    """The 64 numbers of an array as one vector of LLVM, in as many registers as it takes."""
    from llvmlite import ir

    number = context.get_data_type(signature.args[0].dtype)
    array = context.make_array(signature.args[0])(context, builder, arguments[0])
    pointer = builder.bitcast(array.data, ir.VectorType(number, BITS).as_pointer())
    vector = builder.load(pointer)
    vector.align = context.get_abi_sizeof(number)
    return vector


def _above(typing_context: Any, values: Any, cut: Any) -> Any:
    """Which of 64 numbers are larger than ``cut``, one bit each."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        from llvmlite import ir

        vector = _vector_of(context, builder, signature, arguments)
        unset = ir.Constant(vector.type, ir.Undefined)
        first = builder.insert_element(unset, arguments[1], ir.Constant(ir.IntType(32), 0))
        lanes = ir.Constant(ir.VectorType(ir.IntType(32), BITS), [0] * BITS)
        cuts = builder.shuffle_vector(first, unset, lanes)
        return builder.bitcast(builder.fcmp_ordered(">", vector, cuts), ir.IntType(BITS))

    return types.uint64(values, values.dtype), generate


def _known(typing_context: Any, values: Any) -> Any:
    """Which of 64 numbers are numbers, one bit each."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        from llvmlite import ir

        vector = _vector_of(context, builder, signature, arguments)
        return builder.bitcast(builder.fcmp_ordered("==", vector, vector), ir.IntType(BITS))

    return types.uint64(values), generate


def _bits_of(flags: Any) -> Any:
    return np.packbits(flags, bitorder="little").view(np.uint64)[0]


above: Any
known: Any
if getattr(config, "DISABLE_JIT", False):  # the same without a compiler

    def above(values: Any, cut: Any) -> Any:
        return _bits_of(values > cut)

    def known(values: Any) -> Any:
        return _bits_of(values == values)

else:
    above, known = intrinsic(_above), intrinsic(_known)


@part_of_kernel
def _gather(
    values: Floats, rows: Rows, row_step: int, column_step: int, j0: int, n: int, gathered: Floats
) -> None:
    """gathered[t, b] = column j0 + t of row rows[b], in the order in which the numbers lie.

    Indices are unsigned: a signed one may mean "from the end", and the check for it costs as much
    as the rest.
    """
    start = np.uint64(j0 * column_step)
    if column_step == 1:
        for b in range(np.uint64(BITS)):
            first = np.uint64(rows[b]) * np.uint64(row_step) + start
            for t in range(np.uint64(n)):
                gathered[t, b] = values[first + t]
    else:
        for t in range(np.uint64(n)):
            first = start + t * np.uint64(column_step)
            for b in range(np.uint64(BITS)):
                gathered[t, b] = values[first + np.uint64(rows[b])]


@kernel()
def pack_block(
    values: Floats,
    row_step: int,
    column_step: int,
    order: Rows,
    valid: Words,
    cuts: Floats,
    sizes: Ints,
    starts: Ints,
    gathered: Floats,
    words: Words,
) -> bool:
    """The planes of a block of numbers into ``words``; False if a missing cell has no plane.

    Row r of column j is at ``values[r * row_step + j * column_step]``, and one of the steps is 1.
    ``order`` are the rows of each word, ``valid`` the bits of each word that are rows; ``cuts`` is
    columns × cuts, of which ``sizes`` count; ``gathered`` is work space for some columns of 64
    rows.
    """
    missed = np.uint64(0)
    width, n_columns = len(gathered), sizes.size
    run = 1 if column_step == 1 else WORDS_AT_A_TIME
    for w0 in range(0, valid.size, run):
        for j0 in range(0, n_columns, width):
            j1 = min(j0 + width, n_columns)
            for w in range(w0, min(w0 + run, valid.size)):
                _gather(values, order[w], row_step, column_step, j0, j1 - j0, gathered)
                for j in range(j0, j1):
                    column, first = gathered[j - j0], starts[j]
                    left = known(column) & valid[w]
                    has_missing = starts[j + 1] - first > sizes[j]
                    if not has_missing:
                        missed |= left ^ valid[w]
                    for c in range(sizes[j]):
                        higher = above(column, cuts[j, c]) & valid[w]
                        words[w, first + c] = left & ~higher
                        left = higher
                    if has_missing:
                        words[w, first + sizes[j]] = left
    return missed == 0


@kernel()
def count_plane_pairs(
    words: Words,
    bounds: Ints,
    class_rows: Ints,
    margins: Ints,
    starts: Ints,
    i: int,
    cells: Ints,
    counts: Words,
    table: npt.NDArray[np.int64],
) -> None:
    """Rows of each class (the first axis of ``table``) in each state of column i (the second) and
    in each state of every column, which begin at ``cells``.

    ``margins`` are the rows of each class in each plane, which tell the states that have none. A
    state beyond the cells of its column does not occur in any block. ``counts`` is work space of
    1, the planes of column i and one more, and all planes.
    """
    first, n_planes = starts[i], starts[i + 1] - starts[i]
    none, all_planes = np.uint64(0), np.uint64(starts[-1])
    for c in range(bounds.size - 1):
        count_class(words, bounds[c], bounds[c + 1], first, n_planes, none, all_planes, 0, counts)
        for p in range(margins.shape[1]):
            last = margins[c, p]
            for a in range(n_planes):
                last -= np.int64(counts[0, a, p])
            counts[0, n_planes, p] = np.uint64(last)
        last = class_rows[c]
        for a in range(n_planes + 1):
            total = margins[c, first + a] if a < n_planes else last
            last -= total
            if a >= table.shape[1]:
                continue
            into = table[c, a]
            for j in range(starts.size - 1):
                left, cell = total, cells[j]
                for p in range(starts[j], starts[j + 1]):
                    count = np.int64(counts[0, a, p])
                    left -= count
                    if cell < cells[j + 1]:
                        into[cell] = count
                    cell += 1
                if cell < cells[j + 1]:
                    into[cell] = left


@kernel()
def append_planes(
    words: Words, class_rows: Ints, places: Ints, packed: Ints, bounds: Ints, into: Words
) -> None:
    """Put the words of a block behind those of ``into``, class by class, in the middle of a word.

    ``places`` says where each plane goes, ``packed`` counts the rows of each class that are there.
    """
    w = 0
    for c in range(class_rows.size):
        shift = np.uint64(packed[c] % BITS)
        end = np.uint64(BITS) - shift
        target = bounds[c] + packed[c] // BITS
        for _ in range((class_rows[c] + BITS - 1) // BITS):
            for p in range(places.size):
                into[target, places[p]] |= words[w, p] << shift
            if shift > 0 and target + 1 < bounds[c + 1]:
                for p in range(places.size):
                    into[target + 1, places[p]] |= words[w, p] >> end
            w += 1
            target += 1
        packed[c] += class_rows[c]


@kernel()
def unpack_planes(
    words: Words, order: Rows, valid: Words, starts: Ints, states: Codes, codes: Codes
) -> None:
    """The codes of a block (rows × columns); ``states`` is work space for 64 of them."""
    for w in range(valid.size):
        for j in range(starts.size - 1):
            n_planes = starts[j + 1] - starts[j]
            states[:] = n_planes
            for a in range(n_planes):
                word, less = words[w, starts[j] + a], np.uint8(n_planes - a)
                for b in range(BITS):
                    states[b] -= less * np.uint8((word >> np.uint64(b)) & np.uint64(1))
            for b in range(BITS):
                if valid[w] >> np.uint64(b) & np.uint64(1):
                    codes[order[w, b], j] = states[b]
