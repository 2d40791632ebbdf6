"""Comparing selections and methods. Nothing heavy is imported before a function is used."""

from __future__ import annotations

from featsieve.runtime.lazy import lazy_exports

_EXPORTS = {
    "band_map": "featsieve.evaluation.bands",
    "f_measure": "featsieve.evaluation.metrics",
}

__all__ = [*_EXPORTS]

__getattr__, __dir__ = lazy_exports(__name__, _EXPORTS)
