"""Columns kept by adjusted p-values."""

from __future__ import annotations

import numpy as np
import pytest

from featsieve import MaxRel, PearsonRanking
from featsieve.errors import InputError


def table(seed=0, n=120, p=30):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, p))
    return X, X[:, 2] + X[:, 5] + 0.5 * rng.normal(size=n)


@pytest.mark.parametrize("rule", ["bh", "by", "wy"])
@pytest.mark.parametrize("method", [PearsonRanking, MaxRel])
def test_what_is_kept_is_what_passes(rule, method):
    X, y = table()
    selector = method(n_features_to_select=rule, n_permutations=999, alpha=0.1, random_state=0)
    selector.fit(X, y)
    adjusted = selector.result_.extras[f"adjusted_{rule}"]
    assert set(selector.indices_.tolist()) == set(np.flatnonzero(adjusted <= 0.1).tolist())
    assert {2, 5} <= set(selector.indices_.tolist())
    assert "bounded" in selector.guarantee_


def test_nothing_that_passes_is_explained_and_raises_in_transform():
    X, _ = table(n=40)
    y = np.random.default_rng(9).normal(size=40)
    selector = PearsonRanking(n_features_to_select="by", n_permutations=99, random_state=0)
    with pytest.warns(UserWarning, match="Nothing passes at 5%; at .* would"):
        selector.fit(X, y)
    with pytest.raises(InputError, match="allow_empty=True"):
        selector.transform(X)


def test_a_floor_of_the_p_values_is_named():
    X, y = table()
    selector = PearsonRanking(n_features_to_select="by", n_permutations=19, random_state=0)
    with pytest.warns(UserWarning, match="With 19 permutations no p-value is below 0.05; raise"):
        selector.fit(X, y)


def test_p_values_need_permutations():
    with pytest.raises(InputError, match="give n_permutations"):
        PearsonRanking(n_features_to_select="bh").fit(*table())


def test_false_discoveries_under_the_global_null():
    any_found = 0
    for seed in range(60):
        rng = np.random.default_rng(seed)
        selector = PearsonRanking(
            n_features_to_select="wy", n_permutations=99, random_state=seed, allow_empty=True
        )
        any_found += len(selector.fit(rng.normal(size=(30, 10)), rng.normal(size=30)).indices_) > 0
    assert any_found <= 9  # 5 % of 60 is 3; 9 has a probability below 0.3 %
