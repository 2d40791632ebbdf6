"""Comparing selections and methods. Nothing heavy is imported before a function is used."""

from __future__ import annotations

from featsieve.runtime.lazy import lazy_exports

_EXPORTS = {
    "ErrorCurve": "featsieve.evaluation.error_curve",
    "JUDGES": "featsieve.evaluation.judges",
    "TableEncoder": "featsieve.evaluation.encoding",
    "average_ranks": "featsieve.evaluation.ranks",
    "band_map": "featsieve.evaluation.bands",
    "bold_face": "featsieve.evaluation.significance",
    "compare": "featsieve.evaluation.compare",
    "error_curve": "featsieve.evaluation.error_curve",
    "f_measure": "featsieve.evaluation.metrics",
    "l2_distance_score": "featsieve.evaluation.metrics",
    "make_judge": "featsieve.evaluation.judges",
    "paired_test": "featsieve.evaluation.significance",
    "stability": "featsieve.evaluation.stability",
    "win_tie_loss": "featsieve.evaluation.significance",
}

__all__ = [*_EXPORTS]

__getattr__, __dir__ = lazy_exports(__name__, _EXPORTS)
