"""Random states are the same everywhere."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.base import clone

from featsieve import BAHSIC, L1LSMI, QPFS, GlobalCMI, MaxRel
from featsieve.errors import InputError
from featsieve.inference import hsic_test
from featsieve.quadratic import solve
from featsieve.runtime.seeds import random_generator, random_source, root_seed

RNG = np.random.default_rng(0)
X = RNG.normal(size=(40, 6))
Y = (X[:, 0] > 0).astype(int)
SELECTORS = {
    "nyström": QPFS(n_features_to_select=2, n_columns=3),
    "swaps": GlobalCMI(n_features_to_select=2),
    "permutations": MaxRel(n_features_to_select=2, n_permutations=5),
    "kernel": BAHSIC(n_features_to_select=2),
    "restarts": L1LSMI(n_features_to_select=1, n_init=1, max_iter=3),
}


@pytest.mark.parametrize("make", [np.random.default_rng, np.random.RandomState])
@pytest.mark.parametrize("name", SELECTORS)
def test_generators_are_taken_and_repeat(name, make):
    found = [clone(SELECTORS[name]).set_params(random_state=make(7)).fit(X, Y) for _ in range(2)]
    assert found[0].indices_.tolist() == found[1].indices_.tolist()


@pytest.mark.parametrize("name", SELECTORS)
def test_other_states_are_refused(name):
    with pytest.raises(InputError, match="random_state='abc' is not allowed; give an integer"):
        clone(SELECTORS[name]).set_params(random_state="abc").fit(X, Y)


def test_functions_take_generators():
    rng = np.random.default_rng(0)
    assert 0 < hsic_test(X[:, :1], Y, method="permutation", random_state=rng).pvalue <= 1
    assert len(solve(np.abs(X.T @ X), 2, random_state=rng).indices) == 2


@pytest.mark.parametrize("draw", [root_seed, random_source, random_generator])
@pytest.mark.parametrize("state", [-1, 1.5, True, 2**32, "0"])
def test_what_is_no_seed(draw, state):
    with pytest.raises(InputError, match="random_state="):
        draw(state)


def test_whole_numbers_draw_what_numpy_draws():
    assert random_source(3).randint(100) == np.random.RandomState(3).randint(100)
    assert random_generator(3).integers(100) == np.random.default_rng(3).integers(100)


def test_none_draws_from_numpys_global_state_as_in_scikit_learn():
    np.random.seed(3)  # noqa: NPY002 - what this test is about
    first = root_seed(None), root_seed(None)
    np.random.seed(3)  # noqa: NPY002 - what this test is about
    assert (root_seed(None), root_seed(None)) == first
    assert first[0] != first[1]
