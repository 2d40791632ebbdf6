"""Display classes: each is made by ``from_estimator`` or ``from_result`` and drawn by ``plot``."""

from featsieve.runtime.lazy import lazy_exports

_EXPORTS = {
    "BandDisplay": "featsieve.plots.band",
    "CriticalDifferenceDisplay": "featsieve.plots.critical_difference",
    "EmbeddingDisplay": "featsieve.plots.embedding",
    "ErrorCurveDisplay": "featsieve.plots.curves",
    "ManhattanDisplay": "featsieve.plots.manhattan",
    "PairwiseDisplay": "featsieve.plots.pairwise",
    "PathDisplay": "featsieve.plots.path",
}

__all__ = [*_EXPORTS]

__getattr__, __dir__ = lazy_exports(__name__, _EXPORTS)
