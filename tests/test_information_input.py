"""Unusual input of the information family: outputs, infinities, parameters."""

from __future__ import annotations

import numpy as np
import pytest

from featsieve import MIFS, GlobalCMI
from featsieve.discretize import CAIM
from featsieve.errors import InputError


@pytest.fixture
def two_outputs():
    X = np.random.default_rng(0).normal(size=(60, 5))
    return X, np.c_[X[:, 0] + X[:, 1] > 0, X[:, 2] > 0].astype(int)


def test_the_order_of_outputs_does_not_matter_to_caim(two_outputs):
    X, y = two_outputs
    found = [GlobalCMI(n_features_to_select=2).fit(X, outputs) for outputs in (y, y[:, ::-1])]
    assert found[0].indices_.tolist() == found[1].indices_.tolist()
    assert found[0].objective_ == pytest.approx(found[1].objective_, rel=1e-12)


def test_caim_cuts_by_the_joint_class_of_all_outputs(two_outputs):
    X, y = two_outputs
    joint = GlobalCMI(n_features_to_select=2).fit(X, y)
    codes = CAIM().fit_transform(X, 2 * y[:, 0] + y[:, 1])
    coded = GlobalCMI(n_features_to_select=2, discretizer=None).fit(codes, y)
    assert joint.objective_ == pytest.approx(coded.objective_, rel=1e-12)


@pytest.mark.parametrize("beta", [np.nan, np.inf, -1.0, "abc", None, True])
def test_mifs_refuses_a_weight_that_is_no_finite_number(beta, two_outputs):
    X, y = two_outputs
    with pytest.raises(InputError, match=r"beta=.*is not possible; give a finite number from 0"):
        MIFS(n_features_to_select=3, beta=beta).fit(X, y)
