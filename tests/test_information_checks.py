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
    MaxRel(estimator="ksg"),
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


# Scikit-learn sees from the signature of ``fit`` that MaxRel takes weights, which holds for bins.
# The neighbour estimate has no weighted form, and fit says so instead of ignoring them.
WEIGHTED = (
    "check_sample_weights_pandas_series",
    "check_sample_weights_not_an_array",
    "check_sample_weights_list",
    "check_all_zero_sample_weights_error",
    "check_sample_weights_shape",
    "check_sample_weights_not_overwritten",
    "check_sample_weight_equivalence_on_dense_data",
    "check_sample_weight_equivalence_on_sparse_data",
)


def refused(estimator):
    if getattr(estimator, "estimator", None) != "ksg":
        return {}
    return dict.fromkeys(WEIGHTED, "neighbours have no weights: fit refuses them")


@parametrize_with_checks(ESTIMATORS, expected_failed_checks=refused)
def test_scikit_learn_check(estimator, check):
    check(estimator)
