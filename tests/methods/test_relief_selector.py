"""ReliefF as a scikit-learn estimator."""

from __future__ import annotations

from sklearn.utils.estimator_checks import parametrize_with_checks

from featsieve import ReliefF

ESTIMATORS = [ReliefF(), ReliefF(n_neighbors=1, max_samples=0.5, random_state=0)]


@parametrize_with_checks(ESTIMATORS)
def test_scikit_learn_check(estimator, check):
    check(estimator)
