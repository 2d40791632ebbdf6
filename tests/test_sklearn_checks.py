"""Every estimator through scikit-learn's own checks, with no expected failures.

The tests of a family check its methods with the settings that matter there; each registered method
that no such test constructs is checked here with quick settings, so that none can be forgotten.
"""

from __future__ import annotations

from pathlib import Path

import pytest
from docs.tables import example_method
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.utils.estimator_checks import parametrize_with_checks

from featsieve import FeatureSelector, LassoSelector, PearsonRanking, WrapperSelector
from featsieve.measures import CrossValScore, Pearson
from featsieve.registry import METHODS
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


def texts_with_checks():
    """The test modules that run scikit-learn's checks, this one among them."""
    sources = [
        path.read_text(encoding="utf-8") for path in Path(__file__).parent.rglob("test_*.py")
    ]
    return [text for text in sources if "@parametrize_with_checks" in text]


TEXTS = texts_with_checks()
OTHERS = [m for m in METHODS if not any(f"{m.name}(" in text for text in TEXTS)]


# scikit-learn's checks draw classes of one member, on which its own splitter warns.
@pytest.mark.filterwarnings("ignore:The least populated class in y:UserWarning")
# Random targets depend on nothing, and FOCI says so.
@pytest.mark.filterwarnings("ignore:no column shows any dependence:UserWarning")
# They also draw counts, of which no Gaussian copy can be made.
@pytest.mark.filterwarnings("ignore:the copies can be told from the columns:UserWarning")
@parametrize_with_checks([*ESTIMATORS, *map(example_method, OTHERS)])
def test_scikit_learn_check(estimator, check):
    check(estimator)
