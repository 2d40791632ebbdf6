"""Every measure × every search: it runs, or it is refused by the name of what is missing."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest
from docs.tables import bind_to_example, example_measure, example_search, example_table, refusal

from featsieve import FeatureSelector
from featsieve.errors import IncompatibleError
from featsieve.measures import MEASURES
from featsieve.protocols import CAPABILITY_WORDS
from featsieve.searches import SEARCHES

K = 2


@cache
def bound_example(name):
    return bind_to_example(example_measure(name))


@pytest.mark.parametrize("search_name", SEARCHES)
@pytest.mark.parametrize("measure_name", MEASURES)
def test_pair_runs_or_is_refused_by_name(measure_name, search_name):
    selector = FeatureSelector(
        example_measure(measure_name), example_search(search_name), n_features_to_select=K
    )
    words = refusal(bound_example(measure_name), selector.search)
    if words is None:
        check_answer(selector)
    else:
        check_refusal(selector, words)


def check_refusal(selector, words):
    with pytest.raises(IncompatibleError) as refused:
        selector.fit(*example_table())
    sentence = str(refused.value)
    assert type(selector.search).__name__ in sentence
    assert words in sentence


def check_answer(selector):
    X, y = example_table()
    before = repr(selector.get_params())
    selector.fit(X, y)
    assert repr(selector.get_params()) == before
    assert selector.transform(X).shape == (len(X), K)
    assert len(set(selector.indices_.tolist())) == K
    assert np.array_equal(np.flatnonzero(selector.support_), np.sort(selector.indices_))
    assert (selector.ranking_[selector.support_] == 1).all()
    assert (selector.ranking_[~selector.support_] > 1).all()


@pytest.mark.parametrize("measure_name", MEASURES)
def test_every_measure_has_a_search(measure_name):
    bound = bound_example(measure_name)
    assert any(refusal(bound, example_search(name)) is None for name in SEARCHES)


@pytest.mark.parametrize("search_name", SEARCHES)
def test_every_search_has_a_measure_and_words_for_what_it_needs(search_name):
    search = example_search(search_name)
    assert all(capability in CAPABILITY_WORDS for capability in search.requires)
    assert any(refusal(bound_example(name), search) is None for name in MEASURES)
