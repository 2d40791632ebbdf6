"""Discretisers: numbers to at most 255 states per column."""

from featsieve.runtime.lazy import lazy_exports

# One line per discretiser.
DISCRETIZERS = {
    "CAIM": "featsieve.discretize.caim",
    "EqualWidth": "featsieve.discretize.bins",
    "Quantile": "featsieve.discretize.bins",
    "SigmaCuts": "featsieve.discretize.bins",
}

__all__ = [*DISCRETIZERS]

__getattr__, __dir__ = lazy_exports(__name__, DISCRETIZERS)
