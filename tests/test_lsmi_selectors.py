"""The selectors of the LSMI family: scikit-learn's checks, engines, what they find."""

from __future__ import annotations

from sklearn.utils.estimator_checks import parametrize_with_checks

from featsieve import BLSMI, FLSMI, L1LSMI, LSMIRanking

FAST = {"n_basis": 10, "sigmas": [0.5, 2.0], "lambdas": [0.01, 1.0], "cv": 2}


@parametrize_with_checks(
    [
        LSMIRanking(**FAST),
        FLSMI(**FAST, n_features_to_select=1),
        BLSMI(**FAST, n_features_to_select=1),
        L1LSMI(**FAST, n_features_to_select=1, n_init=2, max_iter=10),
    ]
)
def test_scikit_learn_check(estimator, check):
    check(estimator)
