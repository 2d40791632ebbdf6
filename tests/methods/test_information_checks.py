"""The information estimators and discretisers through scikit-learn's own checks."""

from __future__ import annotations

import pytest
from sklearn.utils.estimator_checks import estimator_checks_generator, parametrize_with_checks

from featsieve import (
    CIFE,
    CMIM,
    DISR,
    ICAP,
    JMI,
    MIFS,
    MRMR,
    QPFS,
    CondMI,
    GlobalCMI,
    MaxRel,
    NMIRanking,
)
from featsieve.discretize import CAIM, EqualWidth, Quantile, SigmaCuts

ESTIMATORS = [
    MaxRel(),
    MaxRel(discretizer="caim", correction="shrink"),
    NMIRanking(discretizer="sigma"),
    MRMR(),
    MRMR(scheme="quotient"),
    JMI(),
    CMIM(),
    DISR(),
    ICAP(),
    CIFE(),
    MIFS(),
    CondMI(),
    QPFS(),
    QPFS(similarity="mi"),
    GlobalCMI(),
    CAIM(),
    Quantile(),
    EqualWidth(),
    SigmaCuts(),
]


@parametrize_with_checks(ESTIMATORS)
def test_scikit_learn_check(estimator, check):
    check(estimator)


def is_about_weights(check):
    return "sample_weight" in getattr(check, "func", check).__name__


# Scikit-learn sees from the signature of ``fit`` that MaxRel takes weights, which holds for bins.
# The neighbour estimate has no weighted form, and fit says so instead of ignoring them: the checks
# of weights do not apply to it (test_information_methods.py has the refusal).
NEIGHBOUR_CHECKS = [
    check
    for _, check in estimator_checks_generator(MaxRel(estimator="ksg"))
    if not is_about_weights(check)
]


@pytest.mark.parametrize("check", NEIGHBOUR_CHECKS, ids=lambda check: check.func.__name__)
def test_scikit_learn_check_of_the_neighbour_estimate(check):
    check(MaxRel(estimator="ksg"))
