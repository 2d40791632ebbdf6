"""Random states: whatever scikit-learn takes, and NumPy's generators, everywhere alike."""

from __future__ import annotations

from typing import Any

import numpy as np

from featsieve.input.parameters import is_integer, not_allowed


def root_seed(random_state: Any) -> int:
    """One number out of a random state."""
    if random_state is None:
        return int(np.random.randint(2**31))  # noqa: NPY002 - the global state, as in scikit-learn
    if is_integer(random_state) and 0 <= int(random_state) < 2**32:
        return int(random_state)
    if isinstance(random_state, np.random.Generator):
        return int(random_state.integers(2**31))
    if isinstance(random_state, np.random.RandomState):
        return int(random_state.randint(2**31))
    raise not_allowed(
        "random_state", random_state, "an integer from 0 to 2**32 - 1, a NumPy generator or None"
    )


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
