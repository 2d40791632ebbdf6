"""Columns by what quick models of all of them, or of a growing set, can predict."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from featsieve.input.parameters import check_integer, check_real
from featsieve.procedures import ridge_forward, tree_importance
from featsieve.protocols import Procedure
from featsieve.runtime.seeds import root_seed
from featsieve.selector import BaseSelector


@dataclass(kw_only=True, eq=False, repr=False)
class TreeImportance(BaseSelector):
    """Keep the columns that extremely randomised trees use most (Geurts et al. 2006).

    The importance of a column is its share in the fall of the squared error of the trees (for
    classes: of the Gini index), which sees any dependence and interaction, but spreads over
    redundant columns. At most 5,000 rows are used.

    Parameters
    ----------
    n_trees : int, default=100
    min_samples_leaf : int, default=2
    random_state : int, generator or None, default=0

    Examples
    --------
    >>> from featsieve import TreeImportance
    >>> from featsieve.datasets import make_quad
    >>> data = make_quad(200, random_state=0)
    >>> selector = TreeImportance(n_features_to_select=2).fit(data.data, data.target)
    >>> sorted(selector.indices_.tolist())
    [0, 1]
    """

    n_trees: int = 100
    min_samples_leaf: int = 2
    random_state: Any = 0

    _takes_missing = True

    def _procedure(self) -> Procedure:
        return tree_importance.TreeRanking(
            n_trees=check_integer("n_trees", self.n_trees, 1),
            min_rows=check_integer("min_samples_leaf", self.min_samples_leaf, 1, 2**31),
            seed=root_seed(self.random_state),
        )


@dataclass(kw_only=True, eq=False, repr=False)
class RidgeForward(BaseSelector):
    """Forward selection by the leave-one-out error of ridge regression with a Gaussian kernel.

    A wrapper with a model of its own: non-linear, sees redundancy, and interaction once one of the
    columns is in. Of many columns only a pool is tried, the best by trees and by correlations of
    the columns and their squares.

    Parameters
    ----------
    penalty : float, default=0.03
        Of the ridge, for a kernel whose diagonal is 1. What rounding hides, about 1e-11, is the
        least that is used.
    max_samples : int, default=250
        Rows whose errors are computed.
    max_pool : int, default=40
        Columns that are tried; more if more are to be selected.
    random_state : int, generator or None, default=0
        Draws rows and trees.

    Examples
    --------
    >>> from featsieve import RidgeForward
    >>> from featsieve.datasets import make_quad
    >>> data = make_quad(200, random_state=0)
    >>> selector = RidgeForward(n_features_to_select=2).fit(data.data, data.target)
    >>> sorted(selector.indices_.tolist())
    [0, 1]
    """

    penalty: float = 0.03
    max_samples: int = 250
    max_pool: int = 40
    random_state: Any = 0

    _takes_missing = True

    def _procedure(self) -> Procedure:
        return ridge_forward.RidgeForward(
            penalty=check_real("penalty", self.penalty, 0, inclusive="neither"),
            max_samples=check_integer("max_samples", self.max_samples, 6),
            max_pool=check_integer("max_pool", self.max_pool, 1),
            seed=root_seed(self.random_state),
        )
