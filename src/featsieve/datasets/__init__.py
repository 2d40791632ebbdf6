"""The papers' data: generators of the artificial sets, and loaders of the real ones.

Nothing heavy is imported before a function is used.
"""

from __future__ import annotations

from featsieve.runtime.lazy import lazy_exports

_EXPORTS = {
    "make_and_or": "featsieve.datasets.toy",
    "make_quad": "featsieve.datasets.toy",
    "make_xor": "featsieve.datasets.toy",
    "make_binary_xor": "featsieve.datasets.cluster",
    "make_multiclass": "featsieve.datasets.cluster",
    "make_nonlinear_regression": "featsieve.datasets.cluster",
    "make_sparse_linear": "featsieve.datasets.linear",
    "make_motor_imagery": "featsieve.datasets.eeg",
    "fetch": "featsieve.datasets.loader",
    "dataset_names": "featsieve.datasets.catalog",
}

__all__ = [*_EXPORTS]

__getattr__, __dir__ = lazy_exports(__name__, _EXPORTS)
