"""The scikit-learn side: containers in and out, pipelines, grids, pickles, groups and counts."""

from __future__ import annotations

import pickle

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone
from sklearn.compose import ColumnTransformer
from sklearn.linear_model import LinearRegression, Ridge
from sklearn.model_selection import GridSearchCV, GroupKFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from featsieve import (
    BAHSIC,
    L1LSMI,
    MRMR,
    SPEC,
    FeatureSelector,
    GlobalCMI,
    MaxRel,
    PearsonRanking,
    ReliefF,
    SelectionResult,
    WrapperSelector,
)
from featsieve.errors import IncompatibleError, InputError
from featsieve.measures import HSIC, CrossValScore, Pearson
from featsieve.searches import Backward, Exhaustive, Forward, L1Ball, Ranking
from tests.tables import FRAMES, as_pandas, as_polars, mixed_columns


def numbers(n_rows=80, n_columns=6, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n_rows, n_columns))
    return X, 3 * X[:, 4] + X[:, 1] + 0.1 * rng.normal(size=n_rows)


@pytest.fixture
def fitted():
    X, y = numbers()
    return PearsonRanking(n_features_to_select=2).fit(X, y), X


def test_fitted_attributes_of_the_contract(fitted):
    selector, _ = fitted
    assert selector.indices_.tolist() == [4, 1]
    assert selector.support_.tolist() == [False, True, False, False, True, False]
    assert selector.ranking_[[4, 1]].tolist() == [1, 1]
    assert sorted(selector.ranking_.tolist()) == [1, 1, 2, 3, 4, 5]
    assert selector.task_ == "regression"
    assert selector.n_features_in_ == 6
    assert isinstance(selector.result_, SelectionResult)
    assert selector.result_.stop_reason == "completed"
    assert selector.result_.elapsed > 0
    assert_array_equal(selector.get_support(indices=True), [1, 4])


@pytest.mark.parametrize("dtype", ["float32", "float64", "int32", "uint8", "bool"])
@pytest.mark.parametrize("order", ["C", "F"])
def test_arrays_keep_their_dtype(dtype, order):
    X, _ = numbers()
    X = np.asarray(X > 0 if dtype == "bool" else 10 * np.abs(X), dtype=dtype, order=order)
    y = X[:, 4] + 0.5 * X[:, 1] + np.random.default_rng(1).normal(size=len(X))
    before = X.copy()
    selector = PearsonRanking(n_features_to_select=2).fit(X, y)
    chosen = selector.transform(X)
    assert chosen.dtype == dtype
    assert_array_equal(chosen, X[:, [1, 4]])
    assert_array_equal(X, before)
    back = selector.inverse_transform(chosen)
    assert back.dtype == dtype
    assert_array_equal(back[:, [1, 4]], chosen)
    assert not back[:, [0, 2, 3, 5]].any()


def test_a_read_only_memmap_is_read_and_left_alone(tmp_path):
    X, y = numbers()
    np.save(tmp_path / "x.npy", X)
    mapped = np.load(tmp_path / "x.npy", mmap_mode="r")
    assert PearsonRanking(n_features_to_select=2).fit(mapped, y).indices_.tolist() == [4, 1]


@pytest.mark.parametrize("kind", ["csr_array", "csc_array", "csr_matrix", "csc_matrix"])
def test_sparse_in_sparse_out(kind):
    X, y = numbers()
    X[np.abs(X) < 0.5] = 0
    sparse = getattr(sp, kind)(X)
    selector = PearsonRanking(n_features_to_select=2).fit(sparse, y)
    chosen = selector.transform(sparse)
    assert sp.issparse(chosen)
    assert_array_equal(chosen.toarray(), X[:, selector.get_support()])
    back = selector.inverse_transform(chosen)
    assert sp.issparse(back)
    assert back.format == chosen.format
    assert_array_equal(back.toarray()[:, selector.get_support()], chosen.toarray())


@pytest.mark.parametrize("kind", ["coo", "lil", "dok", "bsr", "dia"])
def test_every_sparse_format_comes_back(kind):
    X, y = numbers()
    selector = PearsonRanking(n_features_to_select=2).fit(X, y)
    assert selector.transform(sp.csr_array(X).asformat(kind)).format == kind


def test_sparse_columns_of_pandas_are_numbers():
    X, y = numbers()
    by_column = np.asfortranarray(X)  # as sparse columns are read, so that the sums are the same
    frame = pd.DataFrame(by_column, columns=[f"c{j}" for j in range(X.shape[1])])
    expected = PearsonRanking().fit(frame, y).scores_
    thin = frame.astype(pd.SparseDtype("float64", 0.0))
    assert_array_equal(PearsonRanking().fit(thin, y).scores_, expected)


@pytest.mark.parametrize("library", FRAMES)
def test_frames_come_back_as_they_went_in(library):
    columns = mixed_columns()
    y = columns.pop("target")
    X = FRAMES[library](columns)
    selector = PearsonRanking(n_features_to_select=2).fit(X, y)
    chosen = selector.transform(X)
    assert type(chosen) is type(X)
    names = getattr(chosen, "column_names", None) or list(chosen.columns)
    assert list(names) == ["size", "colour"]
    assert chosen["colour"].to_pylist() if library == "pyarrow" else list(chosen["colour"])
    back = selector.inverse_transform(chosen)
    assert type(back) is type(X)
    assert list(getattr(back, "column_names", back.columns)) == list(columns)


def test_pandas_keeps_categories_and_index_and_lets_missing_cells_pass():
    frame = as_pandas(mixed_columns()).set_index(np.arange(100, 160))
    y = frame.pop("target")
    selector = PearsonRanking(n_features_to_select=2).fit(frame, y)
    holes = frame.copy()
    holes.loc[105, "size"] = np.nan
    chosen = selector.transform(holes)
    assert chosen["colour"].dtype == "category"
    assert chosen.index.tolist() == frame.index.tolist()
    assert np.isnan(chosen.loc[105, "size"])


def test_a_record_batch_comes_back_as_one():
    import pyarrow as pa

    columns = mixed_columns()
    y = np.asarray(columns.pop("target"))
    X = pa.RecordBatch.from_pydict(columns)
    selector = PearsonRanking(n_features_to_select=2).fit(X, y)
    chosen = selector.transform(X)
    back = selector.inverse_transform(chosen)
    assert type(back) is type(X)
    assert back.schema.names == list(columns)
    assert back.column("size").equals(X.column("size"))
    assert selector.inverse_transform(chosen.slice(0, 0)).num_rows == 0


def test_masked_cells_stay_masked():
    X, y = numbers()
    masked = np.ma.masked_array(X, X > 1.5)
    selector = MaxRel(n_features_to_select=2).fit(masked, y)
    chosen = selector.transform(masked)
    back = selector.inverse_transform(chosen)
    kept = selector.indices_
    assert_array_equal(np.ma.getmaskarray(back)[:, kept], masked.mask[:, kept])
    assert back.max() <= 1.5


@pytest.mark.parametrize("output", ["pandas", "polars"])
@pytest.mark.parametrize("source", ["array", "pandas", "polars", "pyarrow"])
def test_set_output_is_honoured_for_every_input(source, output):
    columns = mixed_columns()
    y = columns.pop("target")
    X = numbers(60)[0] if source == "array" else FRAMES[source](columns)
    selector = PearsonRanking(n_features_to_select=2).set_output(transform=output)
    chosen = selector.fit(X, y).transform(X)
    assert type(chosen).__module__.partition(".")[0] == output
    assert list(chosen.columns) == selector.get_feature_names_out().tolist()


@pytest.mark.parametrize("output", ["pandas", "polars"])
@pytest.mark.parametrize("source", ["record batch", "Dask array", "Dask frame"])
def test_set_output_computes_what_is_lazy_and_takes_batches(source, output):
    import dask.array as da
    import dask.dataframe as dd
    import pyarrow as pa

    columns = mixed_columns()
    y = np.asarray(columns.pop("target"))
    X, lazy_y = {
        "record batch": lambda: (pa.RecordBatch.from_pydict(columns), y),
        "Dask array": lambda: [da.from_array(a, chunks=20) for a in (numbers(60)[0], y)],
        "Dask frame": lambda: [
            dd.from_pandas(a, npartitions=3) for a in (as_pandas(columns), pd.Series(y, name="y"))
        ],
    }[source]()
    selector = PearsonRanking(n_features_to_select=2).set_output(transform=output)
    chosen = selector.fit(X, lazy_y).transform(X)
    assert type(chosen).__module__.partition(".")[0] == output
    assert chosen.shape == (60, 2)
    assert list(chosen.columns) == selector.get_feature_names_out().tolist()


def test_dask_collections_stay_lazy():
    import dask.array as da
    import dask.dataframe as dd

    X, y = numbers()
    lazy = da.from_array(X, chunks=(30, 2))
    selector = PearsonRanking(n_features_to_select=2).fit(lazy, y)
    chosen = selector.transform(lazy)
    assert isinstance(chosen, da.Array)
    assert_array_equal(chosen.compute(), X[:, [1, 4]])
    assert_array_equal(selector.inverse_transform(chosen).compute()[:, [1, 4]], X[:, [1, 4]])
    frame = as_pandas(mixed_columns())
    lazy_frame = dd.from_pandas(frame, npartitions=3)
    selector.fit(lazy_frame.drop(columns="target"), lazy_frame["target"])
    chosen = selector.transform(lazy_frame.drop(columns="target"))
    assert list(chosen.columns) == ["size", "colour"]
    assert isinstance(chosen, dd.DataFrame)


def test_clone_and_pickle():
    X, y = numbers()
    selector = FeatureSelector(CrossValScore(Ridge(), cv=3), Forward(), n_features_to_select=2)
    copy = clone(selector)
    assert copy.get_params()["measure__estimator__alpha"] == 1.0
    fitted = pickle.loads(pickle.dumps(copy.fit(X, y)))
    assert_array_equal(fitted.transform(X), X[:, [1, 4]])


def test_grid_search_over_a_parameter_of_the_measure():
    X, y = numbers()
    measure = CrossValScore(Ridge(), cv=3)
    pipeline = make_pipeline(
        StandardScaler(), FeatureSelector(measure, Forward(), n_features_to_select=1), Ridge()
    )
    grid = GridSearchCV(
        pipeline,
        {
            "featureselector__measure__estimator__alpha": [0.1, 10.0],
            "featureselector__n_features_to_select": [1, 2],
        },
        cv=3,
    ).fit(X, y)
    assert grid.best_params_["featureselector__n_features_to_select"] == 2
    assert measure.estimator.alpha == 1.0


def test_inside_a_column_transformer():
    frame = as_pandas(mixed_columns())
    y = frame.pop("target")
    selector = PearsonRanking(n_features_to_select=1)
    out = ColumnTransformer([("best", selector, ["noise", "size"])]).fit_transform(frame, y)
    assert_allclose(np.ravel(out), frame["size"])


def test_feature_names_must_match_at_transform():
    frame = as_pandas(mixed_columns())
    y = frame.pop("target")
    selector = PearsonRanking().fit(frame, y)
    with pytest.raises(ValueError, match="feature names should match"):
        selector.transform(frame.rename(columns={"size": "length"}))


def test_groups_are_kept_or_dropped_together():
    X, y = numbers()
    for groups in ({"left": [0, 4]}, [[0, 4]]):
        selector = PearsonRanking(n_features_to_select=2, feature_groups=groups).fit(X, y)
        assert selector.support_.tolist() == [True, True, False, False, True, False]
        assert selector.indices_.tolist() == [0, 4, 1]


def test_counts_as_fraction_none_and_more_than_there_are():
    X, y = numbers()
    assert PearsonRanking().fit(X, y).support_.sum() == 3
    assert PearsonRanking(n_features_to_select=0.34).fit(X, y).support_.sum() == 2
    with pytest.warns(UserWarning, match="more than the 6 features"):
        assert PearsonRanking(n_features_to_select=9).fit(X, y).support_.all()


def test_sample_weight_is_refused_in_one_sentence_where_it_has_no_meaning():
    X, y = numbers()
    with pytest.raises(InputError, match="does not take sample_weight"):
        FeatureSelector().fit(X, y, sample_weight=np.ones(len(y)))
    with pytest.raises(TypeError, match="unexpected keyword argument 'wieght'"):
        FeatureSelector().fit(X, y, wieght=1)


# --- searches -----------------------------------------------------------------------------------


@pytest.mark.parametrize("search", [Forward(), Backward(), Backward(step=0.3), Exhaustive()])
def test_searches_find_the_best_pair_of_a_linear_model(search):
    X, y = numbers()
    selector = FeatureSelector(
        CrossValScore(LinearRegression(), cv=4), search, n_features_to_select=2
    ).fit(X, y)
    assert sorted(selector.indices_.tolist()) == [1, 4]
    assert selector.result_.objective > 0.99


def test_forward_and_backward_put_the_best_first():
    X, y = numbers()
    for search in (Forward(), Backward()):
        measure = CrossValScore(LinearRegression(), cv=4)
        selector = FeatureSelector(measure, search, n_features_to_select=2).fit(X, y)
        assert selector.indices_.tolist() == [4, 1]


def test_exhaustive_refuses_too_many_sets():
    X, y = numbers()
    search = Exhaustive(max_subsets=10)
    with pytest.raises(InputError, match="there are 20 sets of 3 out of 6, but max_subsets is 10"):
        FeatureSelector(CrossValScore(Ridge()), search, n_features_to_select=3).fit(X, y)


def test_a_pair_that_does_not_fit_is_refused_by_name():
    X, y = numbers()
    with pytest.raises(
        IncompatibleError, match=r"Pearson cannot be searched by Forward: it lacks a"
    ):
        FeatureSelector(Pearson(), Forward()).fit(X, y)


def test_the_default_pair_is_pearson_ranking():
    X, y = numbers()
    default = FeatureSelector(n_features_to_select=2).fit(X, y)
    named = FeatureSelector(Pearson(), Ranking(), n_features_to_select=2).fit(X, y)
    assert default.indices_.tolist() == named.indices_.tolist()


# --- the wrapper --------------------------------------------------------------------------------


def test_wrapper_hands_groups_to_its_splitter():
    X, y = numbers()
    groups = np.arange(len(y)) % 5
    selector = WrapperSelector(Ridge(), n_features_to_select=2, cv=GroupKFold(5))
    assert sorted(selector.fit(X, y, groups=groups).indices_.tolist()) == [1, 4]
    with pytest.raises(ValueError, match="groups"):
        clone(selector).fit(X, y)


def test_wrapper_routes_metadata_when_asked_to():
    import sklearn

    X, y = numbers()
    weight = np.ones(len(y))
    with sklearn.config_context(enable_metadata_routing=True):
        model = Ridge().set_fit_request(sample_weight=True).set_score_request(sample_weight=True)
        cv = GroupKFold(4)
        selector = WrapperSelector(model, n_features_to_select=2, cv=cv)
        selector.fit(X, y, groups=np.arange(len(y)) % 4, sample_weight=weight)
        assert sorted(selector.indices_.tolist()) == [1, 4]


def test_wrapper_gives_its_model_the_users_own_columns():
    from sklearn.preprocessing import OneHotEncoder

    frame = as_pandas(mixed_columns(120))
    y = frame.pop("target")
    encode = ColumnTransformer(
        [("states", OneHotEncoder(), lambda f: f.select_dtypes("category").columns)],
        remainder="passthrough",
    )
    selector = WrapperSelector(make_pipeline(encode, Ridge()), n_features_to_select=2).fit(frame, y)
    assert sorted(selector.get_feature_names_out()) == ["colour", "size"]


def test_polars_frames_reach_the_wrapped_model():
    columns = mixed_columns(60)
    y = columns.pop("target")
    frame = as_polars(columns).drop("colour")
    selector = WrapperSelector(Ridge(), n_features_to_select=1).fit(frame, y)
    assert selector.get_feature_names_out().tolist() == ["size"]


@pytest.mark.parametrize(
    ("selector", "name"),
    [
        (PearsonRanking(n_features_to_select=0), "n_features_to_select"),
        (MRMR(n_bins=1), "n_bins"),
        (MRMR(scheme="sum"), "scheme"),
        (BAHSIC(step=0), "step"),
        (BAHSIC(estimator="best"), "estimator"),
        (L1LSMI(n_basis=0), "n_basis"),
        (L1LSMI(lambdas=[0.0]), "lambdas"),
        (L1LSMI(n_init=0), "n_init"),
        (GlobalCMI(rank=0), "rank"),
        (ReliefF(max_samples=0), "max_samples"),
        (SPEC(power=0), "power"),
        (FeatureSelector(HSIC(criterion="best"), Ranking()), "criterion"),
        (FeatureSelector(HSIC(), L1Ball(tol=-1.0)), "tol"),
    ],
)
def test_parameters_are_refused_before_anything_is_read(selector, name, tmp_path):
    with pytest.raises(InputError, match=f"{name}=.* is not allowed"):
        selector.fit(tmp_path / "there_is_no_such_file.parquet", "y")


def test_callback_hears_of_the_cuts():
    X, y = numbers()
    reports = []
    MRMR(n_features_to_select=1, callback=reports.append).fit(X, y)
    cuts = [report for report in reports if report.message == "cutting columns"]
    assert (cuts[-1].done, cuts[-1].total) == (6, 6)
