"""The papers' data: generators of the artificial sets, and loaders of the real ones.

Nothing heavy is imported before a function is used.
"""

from __future__ import annotations

from featsieve.lazy import attach

_HOME = {
    "make_and_or": "toy",
    "make_quad": "toy",
    "make_xor": "toy",
    "make_binary_xor": "cluster",
    "make_multiclass": "cluster",
    "make_nonlinear_regression": "cluster",
    "make_sparse_linear": "linear",
    "make_motor_imagery": "eeg",
    "fetch": "loader",
    "dataset_names": "catalog",
}

__all__ = [
    "dataset_names",
    "fetch",
    "make_and_or",
    "make_binary_xor",
    "make_motor_imagery",
    "make_multiclass",
    "make_nonlinear_regression",
    "make_quad",
    "make_sparse_linear",
    "make_xor",
]

__getattr__, __dir__ = attach(__name__, _HOME)
