"""The information estimators and discretisers through scikit-learn's own checks."""

from __future__ import annotations

from sklearn.utils.estimator_checks import parametrize_with_checks

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
