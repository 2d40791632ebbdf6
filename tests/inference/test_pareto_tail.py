"""p-values from the tail of few permutations against exact ones."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import genpareto, norm

from featsieve.errors import InputError
from featsieve.inference import permutation_test
from featsieve.inference.exchange import rarest_pvalue
from featsieve.inference.pareto_tail import KEPT, LargestScores, fit_pareto, survival, tail_pvalue
from featsieve.inference.permutation import _Counts


@pytest.mark.parametrize("shape", [-0.3, -0.1, 0.0])
def test_survival_and_fit_are_those_of_the_generalised_pareto_law(shape):
    z = np.linspace(0, 2, 9)
    expected = genpareto.sf(z, -shape, scale=1.5)
    assert survival(z, shape, 1.5) == pytest.approx(expected, abs=1e-12)
    draws = np.sort(genpareto.rvs(-shape, scale=1.5, size=20_000, random_state=0))
    assert fit_pareto(draws) == pytest.approx((shape, 1.5), abs=0.08)


def test_a_law_with_an_end_becomes_an_exponential_one():
    draws = np.sort(np.random.default_rng(0).uniform(size=500))
    assert fit_pareto(draws) == (0.0, pytest.approx(draws.mean()))


def test_the_largest_are_kept_in_falling_order_from_any_pieces():
    scores = np.random.default_rng(0).normal(size=(3, 700))
    kept = LargestScores(3)
    for start in range(0, 700, 100):
        kept.add(scores[:, start : start + 100])
    assert np.array_equal(kept.values, -np.sort(-scores, axis=1)[:, :KEPT])


def test_the_tail_of_normal_scores_is_near_the_truth():
    ratios = []
    for seed in range(40):
        scores = np.random.default_rng(seed).normal(size=1000)
        pvalue = tail_pvalue(-np.sort(-scores)[:KEPT], 1000, 4.0)
        if pvalue is not None:
            ratios.append(np.log10(pvalue / norm.sf(4.0)))
    assert len(ratios) >= 30
    assert -0.3 < np.median(ratios) < 1.2  # never far too small


def test_a_column_beyond_all_permutations_gets_less_than_the_floor():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(120, 5))
    y = 0.5 * X[:, 1] + rng.normal(size=120)
    options = {"n_permutations": 999, "random_state": 0}
    plain = permutation_test(X, y, **options)
    tail = permutation_test(X, y, tail="pareto", **options)
    assert plain.by_tail is None
    assert plain.pvalues[1] == pytest.approx(0.001)
    assert 0 < tail.pvalues[1] < 0.001
    assert tail.by_tail[1]
    counted = ~tail.by_tail
    assert tail.pvalues[counted].tolist() == plain.pvalues[counted].tolist()
    assert tail.adjusted_wy.tolist() == plain.adjusted_wy.tolist()


def test_an_unknown_tail_is_refused():
    with pytest.raises(InputError, match="tail"):
        permutation_test(np.eye(5), np.arange(5.0) / 2, tail="normal")


def test_no_approximation_is_zero_or_below_the_rarest_permutation():
    counts = _Counts(np.array([1e6]), 0.0, rarest_pvalue(1000))
    counts.add(np.random.default_rng(0).exponential(size=(1, 1000)))
    assert counts.result().by_tail[0]
    assert counts.result().pvalues[0] == np.finfo(float).tiny
    x = np.arange(5.0) ** 1.5
    result = permutation_test(x[:, None], x, n_permutations=200, tail="pareto", random_state=0)
    assert result.pvalues[0] >= 1 / 120
