"""Discretisers: numbers to at most 255 states a column."""

from featsieve.runtime.lazy import lazy_exports

# One line a discretiser.
DISCRETIZERS = {
    "CAIM": "featsieve.discretize.caim",
    "EqualWidth": "featsieve.discretize.widths",
    "Quantile": "featsieve.discretize.quantile",
    "SigmaCuts": "featsieve.discretize.widths",
}

__all__ = [*DISCRETIZERS]

__getattr__, __dir__ = lazy_exports(__name__, DISCRETIZERS)
