"""Random states: whatever scikit-learn takes, and NumPy's generators, everywhere alike."""

from __future__ import annotations

from typing import Any

import numpy as np

from featsieve.arrays import FloatArray, IntArray
from featsieve.input.parameters import check_random_state


def root_seed(random_state: Any) -> int:
    """One number out of a random state."""
    check_random_state("random_state", random_state)
    if random_state is None:
        return int(np.random.randint(2**31))  # noqa: NPY002 - the global state, as in scikit-learn
    if isinstance(random_state, np.random.Generator):
        return int(random_state.integers(2**31))
    if isinstance(random_state, np.random.RandomState):
        return int(random_state.randint(2**31))
    return int(random_state)


def random_source(random_state: Any) -> np.random.RandomState:
    """What draws: a ``RandomState`` as it is, anything else by its seed."""
    if isinstance(random_state, np.random.RandomState):
        return random_state
    return np.random.RandomState(root_seed(random_state))


def random_generator(random_state: Any) -> np.random.Generator:
    """What draws: a ``Generator`` as it is, anything else by its seed."""
    if isinstance(random_state, np.random.Generator):
        return random_state
    return np.random.default_rng(root_seed(random_state))


def derived_seed(seed: int, number: int) -> int:
    """Seed number ``number`` out of one seed; their streams are independent."""
    return int(np.random.SeedSequence(seed, spawn_key=(number,)).generate_state(1, np.uint32)[0])


# SplitMix64 (Steele, Lea and Flood 2014): its n-th number is a function of n alone.
_GOLDEN = np.uint64(0x9E3779B97F4A7C15)
_MIXERS = ((30, np.uint64(0xBF58476D1CE4E5B9)), (27, np.uint64(0x94D049BB133111EB)))
_HALF_STEP = 2.0**-54


def row_uniforms(seed: int, rows: IntArray, width: int) -> FloatArray:
    """``width`` numbers in (0, 1) per row, a function of the seed and the row's index alone.

    Whoever asks for a row, in whichever block, gets the same numbers.

    >>> together = row_uniforms(7, np.array([4, 5, 6]), 3)
    >>> bool((row_uniforms(7, np.array([5]), 3) == together[1]).all())
    True
    """
    first = rows.astype(np.uint64)[:, None] * np.uint64(width)
    mixed = _mixed((first + np.arange(width, dtype=np.uint64)) * _GOLDEN + _key(seed))
    return np.asarray(mixed * 2.0**-53 + _HALF_STEP)


def _key(seed: int) -> np.uint64:
    return np.uint64(np.random.SeedSequence(seed).generate_state(1, np.uint64)[0])


def _mixed(counters: Any) -> Any:
    """The 53 highest bits of each number, scrambled in place."""
    for shift, factor in _MIXERS:
        counters ^= counters >> np.uint64(shift)
        counters *= factor
    counters ^= counters >> np.uint64(31)
    return counters >> np.uint64(11)


def fill_row_normals(seed: int, rows: IntArray, width: int, out: FloatArray) -> None:
    """The same with standard normal numbers, written into the first columns of ``out``."""
    from featsieve.compiled.copying import fill_normals

    fill_normals(_key(seed), rows.astype(np.int64, copy=False), width, out)
