"""Every estimator through scikit-learn's own checks, with no expected failures."""

from __future__ import annotations

import pytest
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.utils.estimator_checks import parametrize_with_checks

from featsieve import FeatureSelector, LassoSelector, PearsonRanking, WrapperSelector
from featsieve.measures import CrossValScore, Pearson
from featsieve.searches import Backward, Exhaustive, Forward, Ranking

ESTIMATORS = [
    PearsonRanking(),
    PearsonRanking(n_permutations=20, n_features_to_select=1),
    LassoSelector(),
    LassoSelector(n_features_to_select="auto", cv=3),
    WrapperSelector(Ridge(), n_features_to_select=1),
    WrapperSelector(LogisticRegression(), n_features_to_select=1, cv=2, search="backward"),
    FeatureSelector(),
    FeatureSelector(Pearson(), Ranking(), n_features_to_select=0.5),
    FeatureSelector(CrossValScore(Ridge(), cv=2), Forward(), n_features_to_select=1),
    FeatureSelector(CrossValScore(Ridge(), cv=2), Backward(step=0.5), n_features_to_select=1),
    FeatureSelector(CrossValScore(Ridge(), cv=2), Exhaustive(), n_features_to_select=1),
]


# scikit-learn's checks draw classes of one member, on which its own splitter warns.
@pytest.mark.filterwarnings("ignore:The least populated class in y:UserWarning")
@parametrize_with_checks(ESTIMATORS)
def test_scikit_learn_check(estimator, check):
    check(estimator)
