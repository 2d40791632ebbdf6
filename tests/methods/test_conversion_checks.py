"""The selectors with a penalty on rows through scikit-learn's own checks, no expected failures."""

from __future__ import annotations

import pytest
from sklearn.utils.estimator_checks import parametrize_with_checks

from featsieve import HSFS, LDFS, PrincipalFeatures

ESTIMATORS = [
    HSFS(n_features_to_select=1, n_init=1),
    LDFS(n_features_to_select=1),
    PrincipalFeatures(n_features_to_select=1),
]


# One check's column is the class itself: the ratio trace is flat there, and the solver stops early
# with a warning.
@pytest.mark.filterwarnings("ignore:the solver of L1LInf reached:UserWarning")
@parametrize_with_checks(ESTIMATORS)
def test_scikit_learn_check(estimator, check):
    check(estimator)
