"""Measures of dependence: how good is a set of columns for a target?"""

from featsieve.lazy import lazy_exports

# One line a measure: the class that searches take, and the functions that stand alone.
MEASURES = {
    "CrossValScore": "featsieve.measures.cross_val_score",
    "Pearson": "featsieve.measures.pearson",
}
FUNCTIONS = {
    "pearson": "featsieve.measures.pearson",
}

__all__ = [*MEASURES, *FUNCTIONS]  # noqa: PLE0604

__getattr__, __dir__ = lazy_exports(__name__, MEASURES | FUNCTIONS)
