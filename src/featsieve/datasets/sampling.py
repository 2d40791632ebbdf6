"""What all generators share: the seed and the shape of the answer."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from sklearn.utils import Bunch

from featsieve.arrays import Array, FloatArray
from featsieve.errors import InputError

Seed = int | np.random.Generator | np.random.RandomState | None


def generator(random_state: Seed) -> np.random.Generator:
    """A numpy Generator from whatever scikit-learn users pass as ``random_state``."""
    if isinstance(random_state, np.random.RandomState):
        return np.random.default_rng(random_state.randint(2**31))
    try:
        return np.random.default_rng(random_state)
    except (TypeError, ValueError):
        raise InputError(
            f"random_state={random_state!r} is not a seed; give a non-negative integer, "
            "a numpy Generator or RandomState, or None."
        ) from None


def coin_flips(rng: np.random.Generator, probability: float, shape: tuple[int, ...]) -> Array:
    """Independent Bernoulli draws as booleans."""
    return rng.random(shape) < probability


def bunch(
    data: FloatArray,
    target: Array,
    relevant: Sequence[int],
    description: str,
    **extras: Any,
) -> Bunch:
    """The answer of every generator; columns are named X1, X2, … as the papers write them."""
    contents: dict[str, Any] = {
        "data": data,
        "target": target,
        "relevant": np.asarray(relevant, dtype=np.intp),
        "feature_names": [f"X{j + 1}" for j in range(data.shape[1])],
        "DESCR": description,
    }
    return Bunch(**(contents | extras))
