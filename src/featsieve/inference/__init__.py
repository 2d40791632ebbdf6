"""p-values, intervals and corrections for many tests."""

from featsieve.runtime.lazy import lazy_exports

_EXPORTS = {
    "HSICInterval": "featsieve.inference.hsic_tests",
    "HSICTestResult": "featsieve.inference.hsic_tests",
    "hsic_interval": "featsieve.inference.hsic_tests",
    "hsic_test": "featsieve.inference.hsic_tests",
    "PermutationResult": "featsieve.inference.permutation",
    "permutation_test": "featsieve.inference.permutation",
}

__all__ = [*_EXPORTS]

__getattr__, __dir__ = lazy_exports(__name__, _EXPORTS)
