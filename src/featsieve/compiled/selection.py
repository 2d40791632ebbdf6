"""Order statistics without sorting (Hoare's selection)."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from featsieve.compiled.inlining import part_of_kernel


@part_of_kernel
def kth_largest(values: npt.NDArray[np.floating[Any]], size: int, k: int) -> float:
    """The k-th largest of ``values[:size]``, which comes to have its k largest in front."""
    target = k - 1
    low, high = 0, size - 1
    while low < high:
        pivot = values[(low + high) // 2]
        i, j = low, high
        while i <= j:
            while values[i] > pivot:
                i += 1
            while values[j] < pivot:
                j -= 1
            if i <= j:
                values[i], values[j] = values[j], values[i]
                i += 1
                j -= 1
        if target <= j:
            high = j
        elif target >= i:
            low = i
        else:
            break
    return values[target]
