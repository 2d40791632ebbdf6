"""What a notebook shows of a selection, and its dataframe."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from sklearn import config_context

from featsieve import MRMR, PearsonRanking
from featsieve.registry import METHODS
from tests.estimators import method_ids, quick_selector

RNG = np.random.default_rng(0)
NAMES = ["<script>alert(1)</script>", "b", "c", "d"]
X = pd.DataFrame(RNG.normal(size=(60, 4)), columns=NAMES)
Y = (X["c"] + 0.5 * X[NAMES[0]] > 0).astype(int)


def test_the_frame_has_all_units_best_first():
    selector = PearsonRanking(n_features_to_select=2, n_permutations=50, random_state=0).fit(X, Y)
    frame = selector.result_.to_frame()
    assert frame["name"].tolist()[:2] == selector.feature_names_in_[selector.indices_].tolist()
    assert frame.index.tolist()[:2] == selector.indices_.tolist()
    assert frame["rank"].tolist()[:2] == [1, 2]
    assert frame["selected"].tolist() == [True, True, False, False]
    np.testing.assert_array_equal(frame["score"], selector.scores_[frame.index])
    np.testing.assert_array_equal(frame["pvalue"], selector.pvalues_[frame.index])
    assert (frame["adjusted"] >= frame["pvalue"]).all()


def test_groups_are_named():
    groups = {"pair": ["b", "c"]}
    selector = MRMR(n_features_to_select=1, feature_groups=groups).fit(X, Y)
    assert set(selector.result_.to_frame()["name"]) == {NAMES[0], "pair", "d"}


def test_a_fitted_selector_shows_what_it_selected():
    selector = PearsonRanking(n_features_to_select=2)
    assert "columns selected" not in selector._repr_mimebundle_()["text/html"]
    selector.fit(X, Y)
    for html in (
        selector._repr_mimebundle_()["text/html"],
        selector._repr_html_(),
        selector.result_._repr_html_(),
    ):
        assert "2 of 4 columns selected" in html
        assert "<script>alert" not in html.split("featsieve-result")[1]
    with config_context(display="text"):
        assert "text/html" not in selector._repr_mimebundle_()


def test_very_many_selected_columns_are_cut():
    wide = RNG.normal(size=(20, 300))
    html = PearsonRanking().fit(wide, wide[:, 0]).result_._repr_html_()
    assert html.count("<tr>") == 21
    assert "and 130 more: to_frame() has all" in html


@pytest.mark.parametrize("method", METHODS, ids=method_ids)
@pytest.mark.filterwarnings("ignore::UserWarning")
def test_every_method_is_shown(method):
    selector = quick_selector(method, n_features_to_select=2).fit(X.to_numpy(), Y)
    frame = selector.result_.to_frame()
    assert len(frame) == 4
    chosen = int(selector.support_.sum())
    assert frame["selected"].sum() == chosen
    assert f"{chosen} of 4 columns selected" in selector.result_._repr_html_()
