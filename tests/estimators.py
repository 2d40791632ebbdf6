"""One quick selector per registered method, for tests that loop over all of them."""

from __future__ import annotations

import numpy as np
from sklearn.tree import DecisionTreeRegressor

from featsieve.registry import METHODS, Method

# Settings under which one fit takes milliseconds.
QUICK = {"max_iter": 20, "n_init": 2, "n_basis": 20, "cv": 2, "random_state": 0, "n_trees": 10}
QUICK |= {"methods": ["pc", "cmim"], "judges": ["neighbors"]}
# With few columns nothing can pass at the usual levels.
QUICK |= {"n_pairs": 3, "threshold": 0.6, "fdr": 1.0, "allow_empty": True}

# These take classes only: numbers in a test are given as classes.
CLASSES_ONLY = {method.name for method in METHODS if method.target == "classes"}


def quick_selector(method: Method, **parameters):
    """The method with cheap settings; the wrapper gets a model of scikit-learn."""
    selector = method.load()()
    known = selector.get_params(deep=False)
    quick = {name: value for name, value in QUICK.items() if name in known}
    if known.get("estimator", "") is None:
        quick["estimator"] = DecisionTreeRegressor(max_depth=3, random_state=0)
    if method.name in CLASSES_ONLY:
        quick["task"] = "classification"
    return selector.set_params(**(quick | parameters))


def target_for(method: Method, numbers):
    """The numbers, or whether each is above the median for a method that takes classes only."""
    if method.name not in CLASSES_ONLY:
        return numbers
    return (numbers > np.median(numbers)).astype(int)


def method_ids(method: Method) -> str:
    return method.name


__all__ = ["METHODS", "method_ids", "quick_selector", "target_for"]
