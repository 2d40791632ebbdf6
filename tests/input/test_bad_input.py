"""Bad input gets one sentence: what was given, what is allowed, what to do."""

from __future__ import annotations

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import scipy.sparse as sp

from featsieve import (
    MRMR,
    QPFS,
    FeatureSelector,
    LassoSelector,
    LSMIRanking,
    PearsonRanking,
    open_parquet,
)
from featsieve.discretize import SigmaCuts
from featsieve.errors import InputError
from featsieve.evaluation import f_measure, l2_distance_score
from featsieve.inference import permutation_test
from featsieve.measures import Pearson, hsic, lsmi
from featsieve.quadratic import solve

RNG = np.random.default_rng(0)
X = RNG.normal(size=(20, 4))
Y = RNG.normal(size=20)
FRAME = pd.DataFrame(X, columns=list("abcd"))


def with_hole(value):
    holed = X.copy()
    holed[3, 2] = value
    return holed


BAD_TABLES = {
    "no rows": (np.empty((0, 3)), [], "n_samples = 0"),
    "one row": (X[:1], Y[:1], "1 sample"),
    "one row of a frame": (FRAME[:1], Y[:1], "n_samples = 1"),
    "no columns": (np.empty((20, 0)), Y, r"0 feature\(s\)"),
    "no columns in a frame": (FRAME[[]], Y, "no columns"),
    "one dimension": (X[:, 0], Y, "Expected 2D array"),
    "not a number": (with_hole(np.nan), Y, r"column 'x2' has 1 missing \(NaN\) or infinite cells"),
    "infinite": (with_hole(np.inf), Y, r"column 'x2' has 1 missing"),
    "missing in a frame": (
        FRAME.assign(b=np.where(X[:, 0] > 0, np.nan, 1.5)),
        Y,
        r"column 'b' has \d+ missing .* impute or drop",
    ),
    "missing in sparse": (sp.csr_array(with_hole(np.nan)), Y, "column 'x2' has 1 missing"),
    "duplicate names": (
        FRAME.set_axis(["a", "b", "b", "d"], axis=1),
        Y,
        "two columns named 'b'; give every column a different name",
    ),
    "mixed types": (
        FRAME.assign(b=pd.Series([1, "x", 2.5, None] * 5, dtype=object)),
        Y,
        "column 'b' has values of type float, int, str",
    ),
    "dates": (
        FRAME.assign(when=pd.date_range("2020-01-01", periods=20)),
        Y,
        "column 'when' has dtype datetime64.*dates are not numbers",
    ),
    "lists": (pl.DataFrame({"a": [[1], [2]], "b": [1, 2]}), [1.5, 2.5], "column 'a' has dtype"),
    "empty category": (
        FRAME.assign(b=pd.Categorical([None] * 20)),
        Y,
        "column 'b' has no value at all; drop it",
    ),
    "an identifier": (
        pd.DataFrame({"id": [f"row {i}" for i in range(5000)], "x": np.arange(5000.0)}),
        np.arange(5000) / 7,
        "'id' has 5000 states, at most 4096",
    ),
    "words in an array": (
        np.array([["a", "b"]] * 4),
        [1.5, 2, 3, 4],
        "X is an array of text .* in which columns of text are categories",
    ),
    "complex": (X + 1j, Y, "Complex data not supported"),
}

BAD_TARGETS = {
    "none": (None, "requires y to be passed, but the target y is None"),
    "too short": (Y[:-1], "X has 20 rows and y has 19: inconsistent numbers of samples"),
    "one class": (["a"] * 20, "the target has only one class in 20 rows"),
    "constant": (np.full(20, 1.5), "the target has only one value in 20 rows"),
    "missing": (np.r_[Y[:-1], np.nan], r"the target has 1 missing \(NaN\) or infinite"),
    "missing label": (["a", "b", None] + ["a"] * 17, "the target has 1 missing"),
    "infinite": (np.r_[Y[:-1], np.inf], "the target has 1 missing"),
    "three dimensions": (np.zeros((20, 2, 2)), "the target has 3 dimensions"),
    "a scalar": (3.0, "the target y is 3.0; it must be a column"),
    "complex": (Y + 1j, "Complex data not supported"),
}

BAD_PARAMETERS = {
    "zero": (
        {"n_features_to_select": 0},
        "n_features_to_select=0 is not allowed; give an integer >= 1, a fr",
    ),
    "negative": ({"n_features_to_select": -2}, "n_features_to_select=-2 is not allowed"),
    "fraction": ({"n_features_to_select": 1.5}, "n_features_to_select=1.5 is not allowed"),
    "true": ({"n_features_to_select": True}, "n_features_to_select=True is not allowed"),
    "word": ({"n_features_to_select": "most"}, "n_features_to_select='most' is not allowed"),
    "task": ({"task": "clustering"}, "task='clustering' is not allowed; give 'auto', 'cl"),
    "memory": ({"memory_limit": "a lot"}, "memory_limit='a lot' is not allowed; give a number"),
    "time": ({"max_time": 0}, "max_time=0 is not allowed; give a number of seconds > 0"),
    "groups": ({"feature_groups": 3}, "feature_groups=3 is not allowed; give a mapping"),
    "overlap": (
        {"feature_groups": {"u": [0, 1], "v": [1, 2]}},
        "puts column 'x1' into both 'u' and 'v'",
    ),
    "empty group": ({"feature_groups": {"u": []}}, "holds an empty group"),
    "categorical": (
        {"categorical_features": ["colr"]},
        "categorical_features names 'colr', but there is no such column among 4",
    ),
    "categorical word": ({"categorical_features": "all"}, "categorical_features='all'"),
    "mask": ({"categorical_features": [True, False]}, "is a mask of 2, but there are 4 columns"),
}


@pytest.mark.parametrize("case", BAD_TABLES)
def test_bad_tables(case):
    table, target, sentence = BAD_TABLES[case]
    with pytest.raises((ValueError, TypeError), match=sentence) as caught:
        PearsonRanking().fit(table, target)
    if isinstance(caught.value, InputError):
        assert "\n" not in str(caught.value)


@pytest.mark.parametrize("case", BAD_TARGETS)
def test_bad_targets(case):
    target, sentence = BAD_TARGETS[case]
    with pytest.raises(ValueError, match=sentence):
        PearsonRanking().fit(X, target)


@pytest.mark.parametrize("case", BAD_PARAMETERS)
def test_bad_parameters(case):
    parameters, sentence = BAD_PARAMETERS[case]
    with pytest.raises(ValueError, match=sentence):
        PearsonRanking(**parameters).fit(X, Y)


def test_a_column_that_nearly_bears_the_name_is_suggested():
    with pytest.raises(ValueError, match=r"names 'colr'.*did you mean 'colour'"):
        PearsonRanking(categorical_features=["colr"]).fit(FRAME.rename(columns={"a": "colour"}), Y)


def test_regression_of_words_is_refused():
    with pytest.raises(ValueError, match="task='regression' was given a target that is not"):
        PearsonRanking(task="regression").fit(X, ["a", "b"] * 10)


@pytest.mark.parametrize(
    ("weight", "sentence"),
    [
        ("price", "sample_weight is 'price', not numbers; give one number per row"),
        (["1"] * 20, "sample_weight is .'1', '1', .*, not numbers"),
        ([None, "a"] * 10, "sample_weight is .None, 'a', .*, not numbers"),
        (-1.0, "negative or infinite number"),
        (float("nan"), "negative or infinite number"),
        (np.ones(3), r"sample_weight.shape == \(3,\), expected \(20,\)"),
        (-np.ones(20), "negative or infinite number"),
        (np.zeros(20), "only zeros"),
        (np.ones((20, 2)), "must be 1D"),
    ],
)
def test_bad_weights(weight, sentence):
    with pytest.raises(ValueError, match=sentence):
        PearsonRanking().fit(X, Y, sample_weight=weight)


def test_all_constant_columns_give_zero_scores_and_the_first_columns():
    ranking = PearsonRanking(n_features_to_select=2).fit(np.ones((20, 3)), Y)
    assert ranking.scores_.tolist() == [0, 0, 0]
    assert ranking.indices_.tolist() == [0, 1]


def test_a_column_named_script_is_a_column():
    frame = FRAME.rename(columns={"a": "<script>alert(1)</script>"})
    names = PearsonRanking(n_features_to_select=4).fit(frame, Y).get_feature_names_out()
    assert "<script>alert(1)</script>" in names


# --- files --------------------------------------------------------------------------------------


@pytest.fixture
def parquet(tmp_path):
    path = tmp_path / "table.parquet"
    FRAME.assign(y=Y).to_parquet(path)
    return path


def test_unknown_target_of_a_file(parquet):
    with pytest.raises(ValueError, match=r"no column 'z' in table\.parquet; it has 'a', 'b'"):
        PearsonRanking().fit(open_parquet(parquet), "z")


def test_a_file_without_a_target(parquet):
    with pytest.raises(ValueError, match="target y is None"):
        PearsonRanking().fit(open_parquet(parquet))


def test_an_array_as_the_target_of_a_file(parquet):
    with pytest.raises(ValueError, match="y is a ndarray, but with a Parquet table"):
        PearsonRanking().fit(open_parquet(parquet), Y)


def test_a_truncated_file(parquet):
    parquet.write_bytes(parquet.read_bytes()[:-20])
    with pytest.raises(ValueError, match=r"table\.parquet is not a complete Parquet file"):
        PearsonRanking().fit(open_parquet(parquet), "y")


def test_a_missing_file(tmp_path):
    with pytest.raises(FileNotFoundError):
        open_parquet(tmp_path / "nothing.parquet", target="y")


def test_a_folder_without_parquet(tmp_path):
    with pytest.raises(ValueError, match=r"no \*\.parquet file is in the folder"):
        open_parquet(tmp_path, target="y")


def test_the_selected_columns_of_a_file_match_those_of_the_frame(parquet):
    from_file = PearsonRanking(n_features_to_select=2).fit(open_parquet(parquet), "y")
    from_frame = PearsonRanking(n_features_to_select=2).fit(FRAME, Y)
    assert from_file.get_feature_names_out().tolist() == from_frame.get_feature_names_out().tolist()


@pytest.mark.parametrize(
    ("selector", "sentence"),
    [
        (PearsonRanking(callback=3), "callback=3 is not allowed; give a function"),
        (PearsonRanking(n_jobs=0), "n_jobs=0 is not allowed; give an integer from 1 to 4096, -1"),
        (PearsonRanking(n_jobs="2"), "n_jobs='2' is not allowed"),
        (LSMIRanking(standardize="x"), "standardize='x' is not allowed; give True or False"),
        (FeatureSelector("lsmi"), r"measure='lsmi' is not a measure; give an object, such as feat"),
        (FeatureSelector(Pearson), r"measure=<class .*> is not a measure; give an object"),
        (FeatureSelector(Pearson(), "ranking"), "search='ranking' is not a search; give an object"),
        (QPFS(alpha=None), "alpha=None is not allowed; give a number >= 0 and <= 1 or 'auto'"),
        (QPFS(alpha="x"), "alpha='x' is not allowed"),
        (QPFS(n_columns=2.5), "n_columns=2.5 is not allowed; give an integer >= 1 or None"),
        (QPFS(n_columns=0), "n_columns=0 is not allowed"),
        (
            MRMR(discretizer=SigmaCuts([])),
            r"multiples=\[\] is not allowed; give",
        ),
        (MRMR(discretizer=SigmaCuts(["a"])), r"multiples=\['a'\] is not allowed"),
    ],
)
def test_bad_parameters_of_other_selectors(selector, sentence):
    with pytest.raises(InputError, match=sentence):
        selector.fit(X, Y)


def test_one_more_column_is_no_plural():
    holed = with_hole(np.nan)
    holed[2, 1] = np.nan
    with pytest.raises(InputError, match=r"\(and 1 more column\) has"):
        PearsonRanking().fit(holed, Y)


@pytest.mark.parametrize("act", ["fit", "transform"])
def test_a_lazy_frame_must_be_collected(act):
    frame = pl.DataFrame(X, schema=list("abcd"))
    selector = PearsonRanking(n_features_to_select=2).fit(frame, Y)
    with pytest.raises(InputError, match=r"LazyFrame, .* call \.collect\(\) first"):
        getattr(selector, act)(frame.lazy(), *([Y] if act == "fit" else []))


DATES = np.datetime64("2020-01-01") + np.arange(20)


@pytest.mark.parametrize(
    "y",
    [
        DATES,
        DATES - DATES[0],
        DATES.tolist(),
        pd.Series(DATES),
        pl.Series(DATES),
        pd.Series(DATES - DATES[0]),
    ],
)
def test_dates_are_no_target(y):
    with pytest.raises(InputError, match=r"the target holds dates or times, .* convert it"):
        PearsonRanking().fit(X, y)


@pytest.mark.parametrize(
    "table",
    [
        np.tile(DATES[:, None], 2),
        np.tile((DATES - DATES[0])[:, None], 2),
        np.tile(DATES[:, None], 2).astype(object),
        np.column_stack([np.array([*DATES], dtype=object), Y.astype(object)]),
        np.tile(DATES[:, None], 2).tolist(),
    ],
    ids=["dates", "durations", "date objects", "mixed objects", "list"],
)
def test_dates_are_not_numbers(table):
    with pytest.raises(InputError, match=r"the table holds dates or times, .* convert them"):
        PearsonRanking().fit(table, Y)


def test_dates_on_dask_are_not_numbers():
    da = pytest.importorskip("dask.array")
    with pytest.raises(InputError, match="the table holds dates or times"):
        PearsonRanking().fit(da.from_array(np.tile(DATES[:, None], 2), chunks=(10, 2)), Y)


@pytest.mark.parametrize("container", [np.asarray, pd.DataFrame, lambda codes: codes])
def test_categories_of_half_precision(container):
    codes = RNG.integers(0, 3, size=(20, 2))
    half = container(codes.astype(np.float16))
    expected = PearsonRanking(categorical_features=[0]).fit(codes, Y).scores_
    assert PearsonRanking(categorical_features=[0]).fit(half, Y).scores_ == pytest.approx(expected)


@pytest.mark.parametrize(
    ("parameters", "sentence"),
    [
        ({"categorical_features": 5}, "categorical_features=5 is not allowed; give a list of colu"),
        ({"feature_groups": {"a": 0}}, "feature_groups holds the group 0; give each group as a li"),
        ({"feature_groups": [0, 1]}, "feature_groups holds the group 0; give each group as a list"),
        ({"feature_groups": {"a": "x0"}}, "feature_groups holds the group 'x0'; give each group a"),
    ],
)
def test_columns_come_in_lists(parameters, sentence):
    with pytest.raises(InputError, match=sentence):
        PearsonRanking(**parameters).fit(X, Y)


@pytest.mark.parametrize("selector", [PearsonRanking(), MRMR()])
def test_a_column_of_the_type_null_has_no_value(selector):
    """pyarrow gives a column of gaps alone a type that has no counterpart elsewhere."""
    table = pa.table({"a": np.arange(20.0), "e": pa.nulls(20)})
    with pytest.raises(InputError, match="column 'e' has dtype null; it has no value at all"):
        selector.fit(table, np.arange(20.0))


def test_masked_cells_are_missing_cells():
    masked = np.ma.masked_array(X, mask=X > 1.5)
    with pytest.raises(InputError, match=r"missing \(NaN\) or infinite cells"):
        PearsonRanking().fit(masked, Y)
    holed = np.where(X > 1.5, np.nan, X)
    fits = [MRMR(n_features_to_select=3).fit(table, Y) for table in (masked, holed)]
    np.testing.assert_array_equal(fits[0].scores_, fits[1].scores_)
    with pytest.raises(InputError, match="the target has 1 missing"):
        PearsonRanking().fit(X, np.ma.masked_array(Y, mask=np.arange(20) == 3))
    with pytest.raises(InputError, match="missing"):
        hsic(masked, Y)


def test_a_mask_that_hides_nothing_changes_nothing():
    plain = np.ma.masked_array(X, mask=False)
    assert PearsonRanking().fit(plain, Y).indices_.tolist() == (
        PearsonRanking().fit(X, Y).indices_.tolist()
    )


def test_masked_words_are_missing_classes():
    y = np.ma.masked_array(np.array(["a", "b"] * 10), mask=np.arange(20) == 0)
    with pytest.raises(InputError, match="the target has 1 missing"):
        PearsonRanking().fit(X, y)


def test_an_index_in_another_order_is_warned_of():
    y = pd.Series(Y, index=FRAME.index[::-1])
    with pytest.warns(UserWarning, match=r"same index in different orders.*y\.loc\[X\.index\]"):
        PearsonRanking().fit(FRAME, y)


def test_so_are_weights_whose_index_has_another_order():
    weight = pd.Series(np.arange(1.0, 21.0), index=FRAME.index[::-1])
    with pytest.warns(UserWarning, match=r"X and sample_weight have the same.*weight\.loc\[X\.ind"):
        PearsonRanking().fit(FRAME, Y, sample_weight=weight)


@pytest.mark.parametrize(
    "container",
    [pd.Categorical, pd.Index, lambda labels: pd.Series(labels).values, pd.array],
    ids=["categorical", "index", "values", "array"],
)
def test_a_target_in_an_array_of_pandas_has_no_labels(container):
    labels = ["a", "b"] * 10
    expected = PearsonRanking().fit(FRAME, labels).scores_
    np.testing.assert_array_equal(PearsonRanking().fit(FRAME, container(labels)).scores_, expected)


PAIRS = pd.MultiIndex.from_product([range(4), range(5)])


@pytest.mark.parametrize("index", [range(20), range(100, 120), list("ab") * 10, PAIRS])
def test_other_labels_are_taken_by_position_in_silence(index):
    assert PearsonRanking().fit(FRAME, pd.Series(Y, index=index)).n_features_in_ == 4


RAGGED = [[1, 2], [3]]


@pytest.mark.parametrize(
    ("ask", "words"),
    [
        (lambda: solve(RAGGED, 1), "Q=.* give a square matrix"),
        (lambda: lsmi(X, Y, centers=RAGGED), "centers=.* give a list of row numbers"),
        (lambda: f_measure(RAGGED, [1]), "selected holds lists"),
        (lambda: LassoSelector(cv=[[RAGGED, [1]]]).fit(X, Y), "cv=.* give lists of row numbers"),
        (
            lambda: permutation_test(X, Y, Pearson(), n_permutations=5, groups=RAGGED),
            "groups=.* give one group per row",
        ),
        (
            lambda: PearsonRanking().partial_fit(X, Y > 0, classes=RAGGED),
            "classes=.* give a list of all classes",
        ),
        (lambda: l2_distance_score(RAGGED), "errors=.* give a mapping"),
    ],
)
def test_lists_of_different_lengths_are_no_array(ask, words):
    with pytest.raises(InputError, match=words):
        ask()
