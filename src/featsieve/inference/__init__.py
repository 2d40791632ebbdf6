"""p-values, intervals and corrections for many tests."""

from featsieve.lazy import lazy_exports

_EXPORTS = {
    "PermutationResult": "featsieve.inference.permutation",
    "permutation_test": "featsieve.inference.permutation",
}

__all__ = [*_EXPORTS]

__getattr__, __dir__ = lazy_exports(__name__, _EXPORTS)
