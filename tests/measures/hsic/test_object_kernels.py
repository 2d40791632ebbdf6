"""String and graph kernels against brute force, and as kernels of HSIC."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from featsieve import BAHSIC, FeatureSelector, HSICLasso, HSICRanking
from featsieve.errors import InputError, MemoryBudgetError
from featsieve.inference import hsic_test
from featsieve.measures import (
    HSIC,
    MismatchKernel,
    SpectrumKernel,
    WeisfeilerLehmanKernel,
    hsic,
)
from featsieve.measures.hsic.grams import gram_hsic
from featsieve.searches import Ranking
from tests.reference import mismatch_product, spectrum_product, weisfeiler_lehman_product

WORDS = st.lists(st.text("abc", max_size=7), min_size=1, max_size=4)


def normalised(gram):
    d = np.sqrt(np.diag(gram))
    d[d == 0] = 1
    return gram / np.outer(d, d)


@settings(max_examples=40, deadline=None)
@given(words=WORDS, length=st.integers(1, 3))
def test_spectrum_counts_common_substrings(words, length):
    expected = np.array([[spectrum_product(s, t, length) for t in words] for s in words])
    kernel = SpectrumKernel(length=length, normalize=False)
    np.testing.assert_array_equal(kernel.gram(words), expected)
    np.testing.assert_allclose(SpectrumKernel(length=length).gram(words), normalised(expected))


@settings(max_examples=30, deadline=None)
@given(words=WORDS, length=st.integers(1, 3), n_mismatches=st.integers(0, 2))
def test_mismatch_counts_near_substrings(words, length, n_mismatches):
    expected = np.array(
        [[mismatch_product(s, t, length, n_mismatches, "abc") for t in words] for s in words]
    )
    kernel = MismatchKernel(
        length=length, n_mismatches=n_mismatches, alphabet="abc", normalize=False
    )
    np.testing.assert_array_equal(kernel.gram(words), expected)


def random_graph(rng):
    n = int(rng.integers(1, 6))
    edges = [(a, b) for a in range(n) for b in range(a, n) if rng.random() < 0.5]
    return edges, {node: int(rng.integers(2)) for node in range(n)}


@settings(max_examples=40, deadline=None)
@given(seed=st.integers(0, 10**6), n_iterations=st.integers(0, 3))
def test_weisfeiler_lehman_counts_equal_neighbourhoods(seed, n_iterations):
    rng = np.random.default_rng(seed)
    graphs = [random_graph(rng) for _ in range(3)]
    expected = np.array(
        [[weisfeiler_lehman_product(g, h, n_iterations) for h in graphs] for g in graphs]
    )
    kernel = WeisfeilerLehmanKernel(n_iterations=n_iterations, normalize=False)
    np.testing.assert_array_equal(kernel.gram(graphs), expected)


def test_names_of_nodes_and_order_of_edges_do_not_matter():
    kernel = WeisfeilerLehmanKernel()
    graph = [("a", "b"), ("b", "c"), ("c", "a"), ("c", "d")]
    same = [(4, 3), (1, 3), (2, 1), (3, 2), (2, 3)]  # one edge twice
    np.testing.assert_allclose(kernel([graph], [same]), 1.0)


def sequences_and_columns(n=60):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, 4))
    words = ["".join(rng.choice(list("acgt"), 20)) for _ in range(n)]
    words = [w[:8] + "tataat" + w[14:] if x > 0 else w for w, x in zip(words, X[:, 2], strict=True)]
    return X, words


def test_strings_as_data_and_as_target_of_functions():
    X, words = sequences_and_columns()
    kernel = SpectrumKernel(length=3)
    gram = kernel.gram(words)
    by_gram = hsic(X[:, 2], gram, target_kernel="precomputed", bandwidth=1.0)
    assert hsic(X[:, 2], words, target_kernel=kernel, bandwidth=1.0) == pytest.approx(by_gram)
    both = hsic(words, words, kernel=kernel, target_kernel=kernel)
    assert both == pytest.approx(gram_hsic(gram, gram))
    assert hsic_test(words, X[:, 2], kernel=kernel, random_state=0).pvalue <= 0.01
    assert hsic_test(words, X[:, 1], kernel=kernel, method="gamma").pvalue > 0.05


@pytest.mark.parametrize("method", [HSICRanking, BAHSIC, HSICLasso])
@pytest.mark.parametrize("kernel", [SpectrumKernel(), MismatchKernel(length=4)])
def test_strings_as_target_of_selectors(method, kernel):
    X, words = sequences_and_columns()
    selector = method(target_kernel=kernel, n_features_to_select=1).fit(X, words)
    assert selector.indices_.tolist() == [2]
    by_gram = method(target_kernel="precomputed", n_features_to_select=1)
    scores = by_gram.fit(X, kernel.gram(words)).scores_
    np.testing.assert_allclose(selector.scores_, scores, rtol=1e-9)


def test_strings_as_target_of_any_pair():
    X, words = sequences_and_columns()
    words[5] = words[3]
    for kernel in (SpectrumKernel(), MismatchKernel()):
        pair = FeatureSelector(HSIC(target_kernel=kernel), Ranking(), n_features_to_select=1)
        named = HSICRanking(target_kernel=kernel, n_features_to_select=1)
        np.testing.assert_allclose(
            pair.fit(X, words).scores_, named.fit(X, words).scores_, rtol=1e-9
        )


def test_graphs_as_target():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(50, 3))
    ring = [(i, (i + 1) % 6) for i in range(6)]
    star = [(0, i) for i in range(1, 6)]
    graphs = [[*(ring if x > 0 else star), (0, int(rng.integers(1, 6)))] for x in X[:, 1]]
    selector = HSICRanking(target_kernel=WeisfeilerLehmanKernel(), n_features_to_select=1)
    assert selector.fit(X, graphs).indices_.tolist() == [1]
    assert hsic(graphs, X[:, 1], kernel=WeisfeilerLehmanKernel()) > 0


@pytest.mark.parametrize(
    ("kernel", "objects", "message"),
    [
        (SpectrumKernel(length=0), ["ab"], "length=0 is not allowed; give an integer >= 1"),
        (SpectrumKernel(), [1.0, 2.0], "strings or lists of symbols"),
        (SpectrumKernel(), np.array([["a", "b"]]), "one object per row"),
        (MismatchKernel(n_mismatches=-1), ["ab"], "n_mismatches=-1"),
        (MismatchKernel(alphabet="ab"), ["abx"], "'x', which is not in the alphabet"),
        (WeisfeilerLehmanKernel(n_iterations=1.5), [[(0, 1)]], "n_iterations=1.5"),
        (WeisfeilerLehmanKernel(), [3], "a graph is a list of edges"),
        (WeisfeilerLehmanKernel(), [[(0, 1, 2)]], "a graph is a list of edges"),
        (WeisfeilerLehmanKernel(), [([(0, 1)], {0: "C"})], "node 1 of a graph has no label"),
    ],
)
def test_bad_objects_get_one_sentence(kernel, objects, message):
    with pytest.raises(InputError, match=message):
        kernel.gram(objects)


def test_numbers_as_target_and_too_many_objects_are_refused():
    X, words = sequences_and_columns()
    pair = FeatureSelector(HSIC(target_kernel=SpectrumKernel()), Ranking())
    with pytest.raises(InputError, match="takes strings or lists of symbols"):
        pair.fit(X, X[:, 0])
    with pytest.raises(InputError, match="takes one sequence per row"):
        pair.set_params(task="regression").fit(X, X[:, 0])
    with pytest.raises(MemoryBudgetError, match="Gram matrix"):
        HSICRanking(target_kernel=SpectrumKernel(), memory_limit=20_000).fit(X, words)
