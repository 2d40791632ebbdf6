"""Are columns and copies exchangeable? A classifier that tells them apart shows that they are not.

For half of the rows columns and copies change places; a classifier is trained to say for which, and
judged on rows that it has not seen. If the model of the columns is right, it can only guess.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from featsieve.arrays import BoolArray, FloatArray, IntArray
from featsieve.inference.knockoffs.regression import fit_regression
from featsieve.runtime.ordering import best_first
from featsieve.runtime.products import watched_call
from featsieve.runtime.progress import SILENT, Monitor

MISFIT = 0.01  # a p-value below it is a warning
CLEARLY = 4.0  # standard errors
N_DIRECTIONS = 5
PAIRS_PER_COLUMN = 2
N_SHAPES, N_PAIR_SHAPES = 5, 2
NUMBERS_PER_CELL = 30  # of the memory that a row takes, in all
POOLED_WEIGHT = 3.0  # what all columns have in common is told apart first
PENALTY = 100.0
FEWEST_ROWS = 40
FREQUENT = 0.01  # of all values of a column and its copy
FARTHEST = 4.0  # heavy tails would otherwise drown everything else


def exchangeability_pvalue(
    originals: FloatArray,
    copies: FloatArray,
    rng: np.random.Generator,
    monitor: Monitor = SILENT,
) -> float:
    """P-value of "columns and copies are exchangeable", from standardised rows; 1 for few rows."""
    from scipy.stats import binom

    n_rows, width = originals.shape
    if n_rows < FEWEST_ROWS or not width:
        return 1.0
    originals, copies = _with_directions(originals, copies, monitor)
    swapped = np.zeros(n_rows, dtype=np.bool_)
    swapped[rng.permutation(n_rows)[: n_rows // 2]] = True
    pairs = rng.integers(width, size=(2, PAIRS_PER_COLUMN * width))
    training = np.asarray(rng.random(n_rows) < 0.5)
    contrast = _contrast(originals, copies, pairs, np.where(swapped, -1.0, 1.0)[:, None], training)
    model = fit_regression(
        contrast[training], swapped[training].astype(np.intp), penalty=PENALTY, monitor=monitor
    )
    guesses = model.logits(contrast[~training])[:, 1] > 0
    right = int((guesses == swapped[~training]).sum())
    return float(binom.sf(right - 1, len(guesses), 0.5))


def unlike_copies(originals: FloatArray, copies: FloatArray) -> IntArray:
    """The columns whose own shape differs clearly from that of their copies, most of all first."""
    no_pairs = np.empty((2, 0), dtype=np.intp)
    largest = np.zeros(originals.shape[1])
    for own, copied in zip(
        _features(originals, no_pairs, _repeats(originals, copies)),
        _features(copies, no_pairs, _repeats(copies, originals)),
        strict=True,
    ):
        if own.shape[1]:
            difference = own - copied
            error = difference.std(axis=0) / np.sqrt(len(difference))
            mean = np.abs(difference.mean(axis=0))
            np.maximum(largest, mean / np.where(error > 0, error, np.inf), out=largest)
    order = best_first(largest)
    return order[largest[order] > CLEARLY]


def _with_directions(
    originals: FloatArray, copies: FloatArray, monitor: Monitor
) -> tuple[FloatArray, FloatArray]:
    """The columns, and the directions in which the rows vary most: clusters show there.

    Originals and copies choose them together: in directions of their own choice originals would
    vary more than any copies.
    """
    some = slice(2 * originals.shape[1])
    both = np.concatenate([originals[some], copies[some]])
    axes = watched_call(_right_axes, both, monitor)[:N_DIRECTIONS].T
    size = (both @ axes).std(axis=0) + np.finfo(np.float64).tiny
    return (
        np.concatenate([originals, originals @ axes / size], axis=1),
        np.concatenate([copies, copies @ axes / size], axis=1),
    )


def _right_axes(A: FloatArray) -> FloatArray:
    return np.linalg.svd(A, full_matrices=False)[2]


def _repeats(values: FloatArray, others: FloatArray) -> FloatArray:
    """1 where a value is frequent in its column, as in counts; rounding to digits does no harm."""
    frequent = FREQUENT * 2 * len(values)
    repeated = np.empty_like(values)
    for column in range(values.shape[1]):
        both = np.concatenate([values[:, column], others[:, column]])
        _, positions, counts = np.unique(both, return_inverse=True, return_counts=True)
        repeated[:, column] = counts[positions[: len(values)]] > frequent
    return repeated


def _contrast(
    originals: FloatArray,
    copies: FloatArray,
    pairs: IntArray,
    signs: FloatArray,
    training: BoolArray,
) -> FloatArray:
    """Shapes of columns less those of copies, standardised; before them the mean of each kind.

    One kind after the other, in place: the table is nine times as wide as that of the columns.
    """
    widths = [originals.shape[1]] * N_SHAPES + [pairs.shape[1]] * N_PAIR_SHAPES
    stops = len(widths) + np.cumsum(widths)
    table = np.empty((len(originals), stops[-1]))
    of_originals = _features(originals, pairs, _repeats(originals, copies))
    of_copies = _features(copies, pairs, _repeats(copies, originals))
    for kind, (own, copied) in enumerate(zip(of_originals, of_copies, strict=True)):
        part = table[:, stops[kind] - widths[kind] : stops[kind]]
        np.subtract(own, copied, out=part)
        part *= signs
        table[:, kind] = part.mean(axis=1)
        _standardize(part, training)
        part /= np.sqrt(len(widths))
    _standardize(table[:, : len(widths)], training)
    table[:, : len(widths)] *= POOLED_WEIGHT
    return table


def _features(z: FloatArray, pairs: IntArray, repeated: FloatArray) -> Iterator[FloatArray]:
    """Shapes of the columns (peak, shoulders, tails, repeated values) and of pairs of them."""
    size = np.minimum(np.abs(z), FARTHEST)
    yield size
    yield size**2
    yield np.exp(-2.0 * size**2)
    yield (size > 2.5).astype(np.float64)
    yield repeated
    del size
    product = np.clip(z[:, pairs[0]] * z[:, pairs[1]], -9.0, 9.0)
    yield np.abs(product)
    yield product


def _standardize(features: FloatArray, training: BoolArray) -> None:
    """In place, by the rows that are learned from."""
    seen = features[training]
    scale = seen.std(axis=0)
    features -= seen.mean(axis=0)
    features /= np.where(scale > 0, scale, 1.0)
