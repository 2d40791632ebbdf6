"""Searches: how are the sets of columns explored?"""

from featsieve.runtime.lazy import lazy_exports

# One line per search.
SEARCHES = {
    "Backward": "featsieve.searches.stepwise",
    "Exhaustive": "featsieve.searches.exhaustive",
    "Forward": "featsieve.searches.stepwise",
    "L1Ball": "featsieve.searches.l1_ball",
    "L1LInf": "featsieve.searches.l1_linf",
    "GlobalQuadratic": "featsieve.searches.global_quadratic",
    "Greedy": "featsieve.searches.greedy",
    "Ranking": "featsieve.searches.ranking",
    "SimplexQP": "featsieve.searches.simplex",
}

__all__ = [*SEARCHES]

__getattr__, __dir__ = lazy_exports(__name__, SEARCHES)
