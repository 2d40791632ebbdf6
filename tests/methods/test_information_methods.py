"""The information selectors: FEAST's figures, slow twins, engines, weights, missing cells."""

from __future__ import annotations

from unittest import mock

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

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
    FeatureSelector,
    GlobalCMI,
    MaxRel,
    NMIRanking,
    open_parquet,
)
from featsieve.discretize import SigmaCuts
from featsieve.errors import IncompatibleError, InputError, MemoryBudgetError
from featsieve.measures import (
    ConditionalMutualInformation,
    MutualInformation,
    cmi_matrix,
    conditional_mutual_information,
    entropy,
    joint_entropy,
    mutual_information,
    normalized_mutual_information,
)
from featsieve.measures.information.counts import CodedRows
from featsieve.measures.information.joint import ConditionalGains
from featsieve.searches import Exhaustive, Forward, GlobalQuadratic, Greedy, SimplexQP
from featsieve.searches.conditional_minimum import ConditionalMinimum, LazyMinimum
from tests import reference
from tests.golden_data import golden, toy

GREEDY = {
    "mRMR_D": MRMR,
    "JMI": JMI,
    "CMIM": CMIM,
    "DISR": DISR,
    "ICAP": ICAP,
    "CondMI": CondMI,
    "MIFS_beta1": MIFS,
    "CIFE": CIFE,
}
SETS = ["andor_t1", "xor_t1", "quad_t1_sig5"]


def coded_toy(name):
    X, y = toy(name.removesuffix("_sig5"))
    if name.endswith("_sig5"):
        table = SigmaCuts().fit_transform(np.c_[X, y])
        X, y = table[:, :-1], table[:, -1]
    return np.asarray(X, dtype=np.int64), np.asarray(y, dtype=np.int64)


def in_nats(name, scores):
    """FEAST counts in bits; DISR is a ratio from the second step on."""
    factors = np.full(len(scores), np.log(2))
    if name == "DISR":
        factors[1:] = 1.0
    return np.asarray(scores) * factors


@pytest.mark.filterwarnings("ignore:no column adds information")
@pytest.mark.parametrize("data", SETS)
@pytest.mark.parametrize("name", GREEDY)
def test_orders_and_scores_are_feasts(data, name):
    X, y = coded_toy(data)
    expected = golden("information")["feast"][data][name]
    order = [column for column in expected["order0"] if column >= 0]  # −1: nothing left to gain
    fitted = GREEDY[name](n_features_to_select=10, discretizer=None, task="classification")
    fitted.fit(X, y)
    assert fitted.indices_[: len(order)].tolist() == order
    scores = in_nats(name, expected["score"])
    assert_allclose(fitted.result_.trace[: len(order)], scores[: len(order)], atol=1e-9)
    if len(order) < 10:  # CondMI ran out of information, as FEAST did
        assert_allclose(fitted.result_.trace[len(order) :], 0.0, atol=1e-12)


def test_when_nothing_is_left_to_gain_relevance_decides_and_the_user_is_told():
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 60)
    X = np.stack([rng.integers(0, 2, 60), y, (y + (rng.random(60) < 0.2)) % 2, y], axis=1)
    selector = CondMI(n_features_to_select=4, discretizer=None, task="classification")
    with pytest.warns(UserWarning, match="no column adds information to the first 1 selected"):
        selector.fit(X, y)
    assert selector.indices_.tolist() == [1, 3, 2, 0]


@given(st.integers(0, 2**31), st.integers(2, 60), st.integers(1, 3))
def test_gains_given_a_set_equal_their_definition(seed, n_rows, size):
    rng = np.random.default_rng(seed)
    X, y = rng.integers(0, 3, (n_rows, 5)), rng.integers(0, 3, n_rows)
    gains = ConditionalGains(CodedRows(X.astype(np.uint8), y[:, None])).given(range(size))
    together = [str(row) for row in X[:, :size].tolist()]
    for column in range(5):
        expected = reference.conditional_information_by_definition(
            X[:, column].tolist(), y.tolist(), together
        )
        assert_allclose(gains[column], expected, atol=1e-12)


@pytest.mark.parametrize("data", SETS)
def test_maximal_relevance_is_feasts(data):
    X, y = coded_toy(data)
    expected = golden("information")["feast"][data]["MIM"]
    fitted = MaxRel(n_features_to_select=10, discretizer=None, task="classification").fit(X, y)
    assert fitted.indices_.tolist() == expected["order0"]
    assert_allclose(fitted.scores_[fitted.indices_], np.log(2) * np.array(expected["score"]))


# --- slow twins ---------------------------------------------------------------------------------


def mi(codes, y, i, j=None):
    return mutual_information(codes[:, i], y if j is None else codes[:, j])


def given_classes(codes, y, i, j):
    return conditional_mutual_information(codes[:, i], codes[:, j], y)


def pair_code(codes, i, j):
    return codes[:, i] * 100 + codes[:, j]


def pair_information(codes, y, i, j):
    return mutual_information(pair_code(codes, i, j), y)


def mean_redundancy(codes, y, c, selected):
    return np.mean([mi(codes, y, c, j) for j in selected])


DEFINITIONS = {
    "MRMR": lambda X, y, c, S: mi(X, y, c) - (mean_redundancy(X, y, c, S) if S else 0),
    "MRMR quotient": lambda X, y, c, S: (
        mi(X, y, c) / (max(mean_redundancy(X, y, c, S), 1e-12) if S else 1)
    ),
    "JMI": lambda X, y, c, S: sum(pair_information(X, y, c, j) for j in S) if S else mi(X, y, c),
    "DISR": lambda X, y, c, S: (
        sum(pair_information(X, y, c, j) / joint_entropy(pair_code(X, c, j), y) for j in S)
        if S
        else mi(X, y, c)
    ),
    "CMIM": lambda X, y, c, S: min(
        [mi(X, y, c), *[conditional_mutual_information(X[:, c], y, X[:, j]) for j in S]]
    ),
    "ICAP": lambda X, y, c, S: (
        mi(X, y, c) - sum(max(0, mi(X, y, c, j) - given_classes(X, y, c, j)) for j in S)
    ),
    "CIFE": lambda X, y, c, S: (
        mi(X, y, c) - sum(mi(X, y, c, j) - given_classes(X, y, c, j) for j in S)
    ),
    "MIFS": lambda X, y, c, S: mi(X, y, c) - 0.5 * sum(mi(X, y, c, j) for j in S),
}
SELECTORS = {
    "MRMR": MRMR(),
    "MRMR quotient": MRMR(scheme="quotient"),
    "JMI": JMI(),
    "DISR": DISR(),
    "CMIM": CMIM(),
    "ICAP": ICAP(),
    "CIFE": CIFE(),
    "MIFS": MIFS(beta=0.5),
}


@settings(max_examples=5)
@pytest.mark.parametrize("name", DEFINITIONS)
@given(st.integers(0, 2**31))
def test_greedy_selectors_equal_their_definitions(name, seed):
    rng = np.random.default_rng(seed)
    y = np.r_[0, 1, 2, rng.integers(0, 3, 57)]
    codes = (rng.integers(0, 3, size=(60, 6)) + y[:, None] * rng.integers(0, 2, 6)) % 4
    codes[:, 5] = codes[:, 1]  # a copy
    selector = SELECTORS[name].set_params(n_features_to_select=4, discretizer=None)
    found = selector.fit(codes, y).result_
    order, trace = reference.greedy_by_definition(codes, y, 4, DEFINITIONS[name])
    assert_allclose(found.trace, trace, atol=1e-11)
    assert found.indices.tolist() == order


@given(st.integers(0, 2**31), st.sampled_from([0.05, 10.0]))
def test_lazy_cmim_is_the_eager_one(seed, worthwhile):
    few = mock.patch.object(ConditionalMinimum, "few_units", 10)
    small = mock.patch.multiple(LazyMinimum, group_size=8, worthwhile=worthwhile)
    rng = np.random.default_rng(seed)
    y = np.r_[0, 1, rng.integers(0, 2, 38)]
    codes = rng.integers(0, 3, size=(40, 150))
    with few, small:
        found = CMIM(n_features_to_select=8, discretizer=None).fit(codes, y).result_
    Q = cmi_matrix(codes, y)
    score, selected = np.diag(Q).copy(), []
    for _ in range(8):
        if selected:
            score = np.minimum(score, Q[selected[-1]])
        outside = np.setdiff1d(np.arange(150), selected)
        best = score[outside].max()
        selected.append(int(outside[score[outside] >= best - 1e-12 * abs(best)][0]))
    assert found.indices.tolist() == selected


def test_joint_information_of_a_set_follows_the_chain_rule():
    rng = np.random.default_rng(0)
    X = rng.integers(0, 3, size=(200, 5))
    y = X[:, 0] ^ X[:, 1]
    search = FeatureSelector(
        MutualInformation(discretizer=None), Exhaustive(), n_features_to_select=2
    ).fit(X, y)
    assert sorted(search.indices_.tolist()) == [0, 1]
    expected = mutual_information(X[:, 0] * 3 + X[:, 1], y)
    assert_allclose(search.result_.objective, expected)
    forward = FeatureSelector(
        MutualInformation(discretizer=None), Forward(), n_features_to_select=2
    ).fit(X, y)
    assert_allclose(forward.result_.objective, expected, rtol=0.5)


# --- rankings -----------------------------------------------------------------------------------


def test_normalised_ranking_is_the_function():
    X, y = coded_toy("quad_t1_sig5")
    fitted = NMIRanking(discretizer=None, task="classification").fit(X, y)
    expected = [normalized_mutual_information(x, y) for x in X.T]
    assert_allclose(fitted.scores_, expected, atol=1e-12)


@pytest.mark.parametrize("correction", ["miller_madow", "shrink"])
@pytest.mark.parametrize("kind", [MaxRel, NMIRanking])
def test_corrected_scores_are_the_functions(kind, correction):
    X, y = coded_toy("andor_t1")
    fitted = kind(discretizer=None, correction=correction).fit(X, y)
    function = mutual_information if kind is MaxRel else normalized_mutual_information
    expected = [function(x, y, correction=correction) for x in X.T]
    assert_allclose(fitted.scores_, expected, atol=1e-12)


def test_codes_in_parts_give_the_scores_of_all_rows():
    X, y = coded_toy("quad_t1_sig5")
    whole = MaxRel(discretizer=None, task="classification").fit(X, y)
    parts = MaxRel(discretizer=None, task="classification")
    for rows in np.array_split(np.arange(400), 7):
        parts.partial_fit(X[rows], y[rows], classes=np.unique(y))
    assert_allclose(parts.scores_, whole.scores_, rtol=1e-12)
    assert parts.indices_.tolist() == whole.indices_.tolist()


def test_parts_that_are_no_codes_are_refused():
    X, y = coded_toy("andor_t1")
    with pytest.raises(InputError, match="codes 0"):
        MaxRel(discretizer=None).partial_fit(X + 0.5, y)
    assert not hasattr(MaxRel(estimator="ksg"), "partial_fit")


@given(st.integers(0, 2**31), st.sampled_from(["quantile", "sigma", "caim", None]), st.booleans())
def test_weights_count_as_repeated_rows(seed, discretizer, regression):
    rng = np.random.default_rng(seed)
    X = rng.integers(0, 9, size=(40, 3))
    weights = np.r_[1, 1, 1, rng.integers(0, 4, 37)]
    y = np.r_[0.5, 1.5, 2.25, rng.normal(size=37)] if regression else np.r_[0:3, X[3:, 0] % 3]
    task = "regression" if regression else "classification"
    weighted = MaxRel(discretizer=discretizer, task=task).fit(X, y, sample_weight=weights)
    repeated = MaxRel(discretizer=discretizer, task=task)
    repeated.fit(np.repeat(X, weights, axis=0), np.repeat(y, weights))
    assert_allclose(weighted.scores_, repeated.scores_, atol=1e-12)


def test_neighbour_scores_stand_beside_scikit_learns():
    from sklearn.feature_selection import mutual_info_classif, mutual_info_regression

    rng = np.random.default_rng(0)
    X = rng.normal(size=(120, 3))
    y = X[:, 0] + 0.3 * rng.normal(size=120)
    ours = MaxRel(estimator="ksg").fit(X, y).scores_
    assert_allclose(ours, mutual_info_regression(X, y, random_state=0), atol=1e-9)
    labels = (y > 0).astype(int)
    ours = MaxRel(estimator="ksg").fit(X, labels).scores_
    assert_allclose(ours, mutual_info_classif(X, labels, random_state=0), atol=1e-9)
    with pytest.raises(InputError, match="sample_weight"):
        MaxRel(estimator="ksg").fit(X, y, sample_weight=np.ones(120))


# --- missing cells, categories, groups, outputs -------------------------------------------------


def test_missing_cells_are_a_state():
    rng = np.random.default_rng(1)
    X = rng.normal(size=(300, 4))
    y = rng.integers(0, 2, 300)
    X[y == 1, 2] = np.where(rng.random((y == 1).sum()) < 0.8, np.nan, X[y == 1, 2])
    for selector in (MaxRel(), JMI(), CondMI(), GlobalCMI(), MRMR()):
        fitted = selector.set_params(n_features_to_select=1).fit(X, y)
        assert fitted.indices_.tolist() == [2]


def test_categorical_columns_keep_their_states():
    import pandas as pd

    rng = np.random.default_rng(2)
    colour = rng.choice(["red", "green", "blue", None], 200)
    size = rng.normal(size=200)
    y = np.where(colour == "red", "yes", "no")
    frame = pd.DataFrame({"size": size, "colour": pd.Categorical(colour)})
    fitted = MaxRel(n_features_to_select=1).fit(frame, y)
    states = [str(c) for c in colour]
    assert_allclose(fitted.scores_[1], mutual_information(states, y), rtol=1e-12)
    assert JMI(n_features_to_select=1).fit(frame, y).get_feature_names_out().tolist() == ["colour"]


def test_a_group_is_one_variable():
    rng = np.random.default_rng(3)
    X = rng.integers(0, 2, size=(200, 4))
    y = X[:, 1] ^ X[:, 3]
    fitted = MaxRel(discretizer=None, feature_groups=[[1, 3]], n_features_to_select=1).fit(X, y)
    assert sorted(fitted.indices_.tolist()) == [1, 3]
    assert_allclose(fitted.scores_[1], entropy(y))
    many = rng.normal(size=(400, 8))
    with pytest.raises(InputError, match="combinations"):
        MaxRel(feature_groups=[list(range(8))]).fit(many, rng.integers(0, 2, 400))


def test_several_outputs_are_averaged():
    rng = np.random.default_rng(4)
    X, Y = rng.normal(size=(150, 5)), rng.normal(size=(150, 2))
    Y[:, 0] += X[:, 0]
    each = [MaxRel().fit(X, y).scores_ for y in Y.T]
    both = MaxRel().fit(X, Y)
    assert_allclose(both.scores_, np.mean(each, axis=0), rtol=1e-12)
    assert_allclose(both.result_.extras["output_scores"], each, rtol=1e-12)
    assert JMI(n_features_to_select=2).fit(X, Y).indices_[0] == 0


def test_too_many_states_are_refused_by_name():
    import pandas as pd

    names = [f"id{i}" for i in range(300)]
    frame = pd.DataFrame({"key": pd.Categorical(names), "x": np.arange(300.0)})
    with pytest.raises(InputError, match="'key' has 300 states"):
        MaxRel().fit(frame, np.arange(300) % 2)
    with pytest.raises(InputError, match="x1"):
        MaxRel(discretizer=None).fit(np.c_[[0, 1, 2], [0.5, 1, 2]], [0, 1, 1])


def test_impossible_parameters_are_refused():
    X, y = coded_toy("andor_t1")
    for selector in (
        MRMR(scheme="product"),
        MaxRel(estimator="kde"),
        MaxRel(correction="no"),
        JMI(discretizer="x"),
        NMIRanking(estimator="ksg"),
        MaxRel(estimator="ksg", n_neighbors=0),
    ):
        with pytest.raises(InputError):
            selector.fit(X, y)
    with pytest.raises(InputError, match="target_discretizer"):
        MaxRel(target_discretizer="caim", task="regression").fit(X, y)


def test_cells_that_make_no_sense_are_refused():
    X, y = coded_toy("andor_t1")
    with pytest.raises(IncompatibleError, match="redundancy"):
        FeatureSelector(MutualInformation(), GlobalQuadratic()).fit(X, y)
    with pytest.raises(IncompatibleError, match="complement"):
        FeatureSelector(ConditionalMutualInformation(), SimplexQP()).fit(X, y)
    with pytest.raises(IncompatibleError, match="information_with"):
        FeatureSelector(search=Greedy()).fit(X, y)


# --- engines ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "selector", [MaxRel(), MRMR(), JMI(), CMIM(), CondMI(), GlobalCMI(solver="exact")], ids=repr
)
def test_files_dask_blocks_and_threads_give_the_same(selector, tmp_path):
    import dask.array as da
    import pandas as pd

    rng = np.random.default_rng(5)
    X = rng.normal(size=(500, 7))
    X[::11, 3] = np.nan
    y = (X[:, 0] + X[:, 1] ** 2 > 0.8).astype(int)
    selector = selector.set_params(n_features_to_select=3)
    expected = selector.fit(X, y)
    wanted = expected.indices_.tolist(), expected.scores_
    frame = pd.DataFrame(X, columns=list("abcdefg")).assign(target=y)
    frame.to_parquet(tmp_path / "rows.parquet", row_group_size=90)
    found = [
        selector.fit(open_parquet(tmp_path / "rows.parquet", target="target"), None),
        selector.fit(da.from_array(X, chunks=(120, 7)), da.from_array(y, chunks=120)),
        selector.set_params(n_jobs=2).fit(X, y),
    ]
    for fitted in found:
        assert fitted.indices_.tolist() == wanted[0]
        assert_allclose(fitted.scores_, wanted[1], rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("budget", [40_000, 110_000])  # streamed, and packed block by block
@pytest.mark.parametrize("selector", [MRMR(), CMIM(), GlobalCMI(solver="exact")], ids=repr)
def test_a_small_budget_gives_the_same_answer(selector, budget):
    rng = np.random.default_rng(6)
    X = rng.normal(size=(3000, 6))
    y = (X[:, 0] * X[:, 1] > 0).astype(int)
    selector = selector.set_params(n_features_to_select=3, discretizer="quantile")
    held = selector.set_params(memory_limit="1GiB").fit(X, y)
    wanted = held.indices_.tolist(), held.scores_
    streamed = selector.set_params(memory_limit=budget).fit(X, y)
    assert streamed.indices_.tolist() == wanted[0]
    assert_allclose(streamed.scores_, wanted[1], rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("selector", [MRMR(), JMI(), CondMI()], ids=repr)
def test_codes_that_exceed_the_budget_are_spilled_once(selector, tmp_path, monkeypatch):
    """Wide columns, missing cells, groups and two outputs; no file has a name while we run."""
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    monkeypatch.setattr("tempfile.tempdir", None)
    rng = np.random.default_rng(9)
    X = rng.normal(size=(4000, 7))
    X[rng.random(X.shape) < 0.1] = np.nan
    X[:, 3] = rng.integers(0, 40, 4000)
    y = np.stack([X[:, 0] > 0, X[:, 3] % 2], axis=1).astype(int)
    groups = {"a": [0, 1], "b": [2], "c": [3], "d": [4, 5], "e": [6]}
    selector = selector.set_params(n_features_to_select=3, n_bins=40, n_jobs=2)
    for parameters in ({"feature_groups": None}, {"feature_groups": groups, "n_bins": 8}):
        held = selector.set_params(**parameters, memory_limit="1GiB").fit(X, y)
        expected = held.indices_.tolist(), held.scores_
        seen = []
        spilled = selector.set_params(
            memory_limit=60_000,
            callback=lambda progress, seen=seen: seen.extend(tmp_path.iterdir()),
        ).fit(X, y)
        assert spilled.indices_.tolist() == expected[0]
        assert_allclose(spilled.scores_, expected[1], rtol=1e-12, atol=1e-12)
        assert not seen
        assert not list(tmp_path.iterdir())
        selector.set_params(callback=None)


def test_a_full_disk_is_named():
    from featsieve.measures.information.coded_table import CodeFile

    file = CodeFile(1000, 3)
    with (
        mock.patch.object(file, "_file", **{"write.side_effect": OSError(28, "No space left")}),
        pytest.raises(MemoryBudgetError, match=r"temporary file failed \(No space left\); raise"),
    ):
        file.append(np.zeros((2, 3), dtype=np.uint8))


@pytest.mark.parametrize("method", [MRMR, JMI, CMIM])
def test_the_cause_of_rare_large_deviations_is_found(method):
    """Most of the variance is a jump of 5 % of the rows; equally frequent states do not see it."""
    rng = np.random.default_rng(1)
    X = rng.normal(size=(1000, 12))
    y = X[:, 2] + X[:, 3] + 40 * (X[:, 0] > 1.6)
    assert method(n_features_to_select=1).fit(X, y).indices_.tolist() == [0]
    by_quantiles = method(n_features_to_select=1, target_discretizer="quantile").fit(X, y)
    assert by_quantiles.indices_.tolist() != [0]


def test_many_rows_are_cut_by_a_sample_that_no_engine_changes(monkeypatch):
    import dask.array as da

    from featsieve.measures.information import coding

    monkeypatch.setattr(coding.sample_rows, "__defaults__", (200,))
    rng = np.random.default_rng(7)
    X = rng.normal(size=(900, 3))
    y = (X[:, 0] > 0).astype(int)
    one = MaxRel().fit(X, y)
    two = MaxRel().fit(da.from_array(X, chunks=(250, 3)), da.from_array(y, chunks=250))
    assert one.result_.approximation == "cuts from 200 of 900 rows"
    assert_array_equal(one.scores_, two.scores_)


# --- global -------------------------------------------------------------------------------------


@pytest.mark.parametrize("solver", ["linear", "spectral", "tpower", "exact", "auto"])
def test_global_selection_reports_its_objective_and_bound(solver):
    X, y = coded_toy("xor_t1")
    fitted = GlobalCMI(n_features_to_select=2, discretizer=None, solver=solver, random_state=0)
    fitted.fit(X, y)
    Q = cmi_matrix(X, y)
    chosen = fitted.indices_
    assert_allclose(fitted.objective_, Q[np.ix_(chosen, chosen)].sum())
    assert_allclose(fitted.scores_[chosen].sum(), fitted.objective_)
    assert fitted.upper_bound_ >= fitted.objective_ - 1e-12
    if solver in {"exact", "auto"}:
        assert sorted(chosen.tolist()) == [0, 1]


def test_global_selection_of_all_columns():
    X, y = coded_toy("andor_t1")
    fitted = GlobalCMI(n_features_to_select=10).fit(X, y)
    assert sorted(fitted.indices_.tolist()) == list(range(10))
    assert fitted.objective_ == fitted.upper_bound_


# --- permutations -------------------------------------------------------------------------------


@pytest.mark.parametrize("parameters", [{}, {"discretizer": "caim"}, {"correction": "shrink"}])
def test_permuted_scores_are_those_of_a_permuted_target(parameters):
    from featsieve.inference.permutation import permutation_steps
    from featsieve.input.boundary import Settings, open_engine
    from featsieve.measures.information.binned import BoundMutualInformation, BoundPermutable

    rng = np.random.default_rng(8)
    X = rng.normal(size=(80, 3))
    y = (X[:, 0] > 0).astype(int)
    engine = open_engine(X, y, Settings(takes_missing=True))
    measure = MutualInformation(**parameters)
    fast = list(permutation_steps(engine, measure, 40, 0))[-1]
    with mock.patch(
        "featsieve.measures.information.binned.BoundPermutable", BoundMutualInformation
    ):
        slow = list(permutation_steps(engine, measure, 40, 0))[-1]
    assert_allclose(fast.pvalues, slow.pvalues)
    assert_allclose(fast.adjusted_wy, slow.adjusted_wy)
    assert fast.pvalues[0] == 1 / 41
    assert isinstance(measure.bind(engine), BoundPermutable) == (
        parameters != {"discretizer": "caim"}
    )


def test_relevance_has_pvalues():
    rng = np.random.default_rng(9)
    X = rng.normal(size=(100, 4))
    y = X[:, 2] ** 2
    fitted = MaxRel(n_features_to_select=1, n_permutations=99, random_state=0).fit(X, y)
    assert fitted.pvalues_[2] == 0.01
    assert (fitted.pvalues_[[0, 1, 3]] > 0.01).all()
    again = NMIRanking(n_permutations=19, random_state=0, n_jobs=2).fit(X, y)
    assert again.pvalues_[2] == 0.05


def test_gains_on_threads_are_the_same(monkeypatch):
    monkeypatch.setattr("featsieve.measures.information.joint.ROWS_WORTH_A_THREAD", 1)
    monkeypatch.setattr("featsieve.measures.information.joint.COLUMNS_TOGETHER", 3)
    codes = np.random.default_rng(0).integers(0, 4, size=(200, 10)).astype(np.uint8)
    rows = CodedRows(codes, (codes[:, :1] ^ codes[:, 1:2]).astype(np.int64))
    one, two = (ConditionalGains(rows, n_jobs).given([0, 5]) for n_jobs in (1, 2))
    assert one.tolist() == two.tolist()
    assert len(one) == 10


@pytest.mark.parametrize("n_columns", [4, 150])
def test_callback_hears_of_every_pair_of_columns(n_columns):
    rng = np.random.default_rng(0)
    X, y, reports = rng.normal(size=(60, n_columns)), rng.integers(2, size=60), []
    GlobalCMI(n_features_to_select=2, solver="linear", callback=reports.append).fit(X, y)
    done = [r.done for r in reports if r.message == "counting pairs of columns"]
    assert done == sorted(done)
    assert done[-1] == n_columns * (n_columns + 1) // 2


@pytest.mark.parametrize("selector", [GlobalCMI(), QPFS(), QPFS(n_columns=200)])
def test_pairs_beyond_the_budget_are_refused_before_anything_is_read(selector):
    X, y, reports = np.zeros((20, 200)), np.arange(20) % 2, []
    selector.set_params(memory_limit=4 * 8 * 200**2 - 1, callback=reports.append)
    with pytest.raises(MemoryBudgetError, match="the matrix of all pairs of 200 columns"):
        selector.fit(X, y)
    assert not reports
