"""Copies, their filter, and what follows for the selector."""

from __future__ import annotations

import warnings
from functools import partial

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.linear_model import Ridge
from sklearn.pipeline import make_pipeline

from featsieve import (
    BAHSIC,
    MRMR,
    SVMRFE,
    FeatureSelector,
    KnockoffSelector,
    LassoSelector,
    MaxRel,
    PearsonRanking,
    open_parquet,
)
from featsieve.engines.with_copies import Augment, EngineWithCopies
from featsieve.errors import InputError
from featsieve.inference.knockoffs.copies import fit_copy_model
from featsieve.inference.knockoffs.covariance import (
    BARRIERS,
    reconstructability,
    spread_steps,
)
from featsieve.inference.knockoffs.diagnostic import exchangeability_pvalue
from featsieve.inference.knockoffs.filter import e_bh, e_values, knockoff_threshold
from featsieve.input.boundary import Settings, open_engine
from featsieve.measures import MutualInformation, Pearson
from featsieve.procedures.knockoffs import (
    comparable_scores,
    first_differences,
    hidden_places,
    later_level,
    lead,
)
from featsieve.result import SelectionResult
from featsieve.runtime.ordering import best_first
from featsieve.searches import Forward, Ranking
from tests import reference

RNG = np.random.default_rng(0)
N, P = 300, 30
MIX = np.linalg.cholesky(0.5 ** np.abs(np.subtract.outer(np.arange(P), np.arange(P)))).T


LOADINGS = np.linspace(0.2, 0.95, 25)
LOADED = np.outer(LOADINGS, LOADINGS) + np.diag(1 - LOADINGS**2)


def table(seed=0, n=N, signals=15, size=1.0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, P)) @ MIX
    return X, size * X[:, :signals].sum(axis=1) + rng.normal(size=n)


@pytest.fixture(scope="module")
def model():
    X, y = table()
    engine = open_engine(X, y, Settings())
    return X, fit_copy_model(engine, "mvr", 0)


@given(
    W=st.lists(st.integers(-6, 6), min_size=1, max_size=30),
    fdr=st.sampled_from([0.05, 0.1, 0.3, 0.5, 1.0]),
)
def test_threshold_against_its_definition(W, fdr):
    W = np.array(W, dtype=float)
    threshold = knockoff_threshold(W, fdr)
    assert threshold == reference.knockoff_threshold(W, fdr)
    # With one copy the e-values select what the threshold selects.
    passed = set(np.flatnonzero(threshold <= W).tolist())
    assert set(e_bh(e_values(W, fdr), fdr).tolist()) == passed


def test_reconstructability_is_minimal_and_below_that_of_equal_distances():
    correlation = MIX.T @ MIX
    *_, s = spread_steps(correlation, "mvr")
    *_, equal = spread_steps(correlation, "equicorrelated")
    value = reconstructability(correlation, s)
    assert value < reconstructability(correlation, equal)
    for j in range(0, P, 7):
        for step in (-1e-3, 1e-3):
            other = s.copy()
            other[j] += step
            assert reconstructability(correlation, other) >= value - 1e-9
    assert np.linalg.eigvalsh(2 * correlation - np.diag(s))[0] > 0


@pytest.mark.parametrize("correlation", [MIX.T @ MIX, 0.7 * np.eye(20) + 0.3, LOADED])
def test_copies_as_far_as_possible_have_no_room_left(correlation):
    *_, s = spread_steps(correlation, "sdp")
    for other in ("mvr", "equicorrelated"):
        *_, nearer = spread_steps(correlation, other)
        assert s.sum() > nearer.sum() - 1e-4
    inverse = np.linalg.inv(2 * correlation - np.diag(s))
    assert np.linalg.eigvalsh(inverse)[0] > 0
    room = 1 / np.diag(inverse)  # how far one copy alone could still go
    assert (np.minimum(room, 1 - s) < 2 * BARRIERS[-1]).all()


@pytest.mark.parametrize("seed", range(4))
def test_copies_as_far_as_possible_of_neighbours(seed):
    """One column after the other used up the room of all, until no copies were left."""
    rng = np.random.default_rng(seed)
    places = np.arange(100)
    mix = np.linalg.cholesky(0.5 ** np.abs(np.subtract.outer(places, places)))
    structured = np.corrcoef(rng.normal(size=(3000, 100)) @ mix.T, rowvar=False)
    *_, s = spread_steps(structured, "sdp")
    *_, nearer = spread_steps(structured, "mvr")
    assert s.sum() > nearer.sum()
    assert np.linalg.eigvalsh(2 * structured - np.diag(s))[0] > 1e-4


def test_copies_have_the_joint_covariance_that_they_should():
    rng = np.random.default_rng(1)
    n = 60_000
    X = (rng.normal(size=(n, P)) @ MIX) * 3.0 + 5.0
    engine = open_engine(X, X[:, 0], Settings())
    model = fit_copy_model(engine, "mvr", 0)
    copies = model.copies(X, np.arange(n), 3)
    joint = np.corrcoef(np.concatenate([X, copies], axis=1).T)
    own = joint[:P, :P]
    assert np.abs(joint[P:, P:] - own).max() < 0.03
    off_diagonal = ~np.eye(P, dtype=bool)
    assert np.abs((joint[:P, P:] - own)[off_diagonal]).max() < 0.03
    assert (np.diag(joint[:P, P:]) < 0.75).all()
    assert copies.mean(axis=0) == pytest.approx(X.mean(axis=0), abs=0.1)


def test_a_copy_depends_on_the_row_and_not_on_its_block(model):
    X, copier = model
    together = copier.copies(X, np.arange(N), 5)
    rows = np.array([17, 3, 250])
    assert copier.copies(X[rows], rows, 5) == pytest.approx(together[rows], rel=1e-12)
    assert np.abs(copier.copies(X, np.arange(N), 6) - together).max() > 1


@pytest.mark.parametrize("method", [PearsonRanking(), MRMR(), BAHSIC(), LassoSelector()])
def test_exchanging_columns_and_copies_changes_signs_exactly(model, method):
    X, copier = model
    _, y = table()
    copies = copier.copies(X, np.arange(N), 5)
    swapped = np.random.default_rng(2).random(P) < 0.5
    first, second = np.where(swapped, copies, X), np.where(swapped, X, copies)
    W = [statistics_of(method, a, b, y) for a, b in ((X, copies), (first, second))]
    assert np.array_equal(W[1], np.where(swapped, -W[0], W[0]))


def statistics_of(method, X, copies, y):
    """W with given copies, as the procedure computes it."""
    engine = open_engine(X, y, Settings())
    hidden = hidden_places(first_differences(engine.schema, X, copies), seed=9)
    augmented = EngineWithCopies(engine, Augment(lambda rows_X, rows: copies[rows], hidden))
    *_, last = method._steps(augmented, method._count_for_statistics(2 * P))
    Z = comparable_scores(last, 2 * P, method._scores_by_step)
    own, copied = np.where(hidden, Z[P:], Z[:P]), np.where(hidden, Z[:P], Z[P:])
    return lead(own, copied, squared=isinstance(method, PearsonRanking))


def test_order_stands_for_scores_that_cannot_be_compared():
    result = SelectionResult(np.array([2, 0]), np.array([0.1, np.nan, 0.3, 0.2]))
    assert comparable_scores(result, 4, by_step=False).tolist() == [2, 0, 3, 0]
    scored = SelectionResult(np.array([2]), np.array([0.1, 0.0, 0.3, 0.2]))
    assert comparable_scores(scored, 4, by_step=False).tolist() == [0.1, 0.0, 0.3, 0.2]


@pytest.mark.parametrize(
    ("method", "squared"),
    [
        (PearsonRanking(), True),
        (FeatureSelector(), True),
        (FeatureSelector(Pearson(), Forward()), False),  # an order only
        (FeatureSelector(MutualInformation(), Ranking()), False),
        (MaxRel(), False),
        (LassoSelector(), False),
    ],
)
def test_squares_are_compared_where_scores_are_correlations(method, squared):
    assert KnockoffSelector(method)._procedure().of_correlations is squared


def test_a_lead_is_a_difference_of_scores_or_of_their_squares():
    own, copied = np.array([0.5, 0.1, 0.3]), np.array([0.4, 0.2, 0.3 + 1e-16])
    assert lead(own, copied, squared=False) == pytest.approx([0.1, -0.1, 0.0])
    assert lead(own, copied, squared=True) == pytest.approx([0.09, -0.03, 0.0])
    assert lead(own[:0], copied[:0], squared=True).shape == (0,)


def test_a_difference_that_is_rounding_is_no_evidence():
    """With two rows every correlation is 1, but for the last bit."""
    for seed in range(10):
        X = np.random.default_rng(seed).normal(size=(2, 5))
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            selector = KnockoffSelector(Pearson(), Ranking(), fdr=1.0, allow_empty=True)
            selector.fit(X, np.array([0.3, 1.7]))
        np.testing.assert_array_equal(selector.statistics_, 0.0)
        assert not selector.support_.any()


# With 60 rows the covariance is rough, and sometimes the copies show it.
@pytest.mark.filterwarnings("ignore:the copies can be told:UserWarning")
def test_nulls_are_ahead_of_their_copies_half_of_the_time_also_when_scores_tie():
    signs = []
    for seed in range(30):
        rng = np.random.default_rng(seed)
        X, y = rng.normal(size=(60, 20)), rng.integers(0, 2, 60)
        selector = KnockoffSelector(MaxRel(n_bins=2), random_state=seed, allow_empty=True)
        W = selector.fit(X, y).statistics_
        signs.append(np.sign(W[W != 0]))
    share = np.mean(np.concatenate(signs) > 0)
    assert abs(share - 0.5) < 4 * 0.5 / np.sqrt(len(np.concatenate(signs)))


def test_the_false_discovery_rate_holds():
    shares, power = [], []
    for seed in range(30):
        X, y = table(seed)
        selector = KnockoffSelector(Pearson(), Ranking(), fdr=0.3, random_state=seed)
        chosen = selector.set_params(allow_empty=True).fit(X, y).indices_
        shares.append(np.mean(chosen >= 15) if len(chosen) else 0.0)
        power.append(np.sum(chosen < 15) / 15)
    assert np.mean(shares) <= 0.3 + 3 * np.std(shares) / np.sqrt(30)
    assert np.mean(power) > 0.5


def test_without_any_signal_something_is_selected_no_more_often_than_asked_for():
    """Under the global null every selection is false, so P(any) is the false discovery rate."""
    rng = np.random.default_rng(3)
    any_selected = []
    for seed in range(60):
        X, y = table(seed, n=120)[0], rng.normal(size=120)
        selector = KnockoffSelector(fdr=0.5, random_state=seed, allow_empty=True)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            any_selected.append(bool(selector.fit(X, y).support_.any()))
    share = np.mean(any_selected)
    assert 0 < share <= 0.5 + 3 * np.sqrt(0.25 / 60)


@pytest.mark.parametrize(
    "W",
    [
        [0.0, 0.0, 0.0],
        [-1.0, -2.0, 0.0],
        [2.0, -2.0, 2.0, -2.0],  # ties between columns and copies
        [3.0, 2.0, 1.0],  # three ahead are too few for 10 %
        [],
    ],
)
def test_no_threshold_no_column(W):
    W = np.array(W)
    assert knockoff_threshold(W, 0.1) == np.inf
    assert not e_values(W, 0.1).any()
    assert not len(e_bh(e_values(W, 0.1), 0.1))


def test_tied_statistics_pass_together():
    W = np.array([2.0, 2.0, 2.0, 2.0, -1.0, 1.0, 1.0])
    assert knockoff_threshold(W, 0.25) == 2.0
    assert e_bh(e_values(W, 0.25), 0.25).tolist() == [0, 1, 2, 3]


def test_no_evidence_is_an_explained_empty_answer():
    X, _ = table(n=80)
    y = np.random.default_rng(5).normal(size=80)
    selector = KnockoffSelector(random_state=0)
    with pytest.warns(UserWarning, match="Nothing passes at a false discovery rate of 10%"):
        selector.fit(X, y)
    assert not selector.support_.any()
    assert "rate of 10%, nor at 25%. At this level fewer than 10 true" in selector.explanation_
    assert "Nearest misses: x" in selector.explanation_
    with pytest.raises(InputError, match="allow_empty=True"):
        selector.transform(X)
    pipeline = make_pipeline(KnockoffSelector(random_state=0), Ridge())
    with (
        pytest.warns(UserWarning, match="Nothing passes"),
        pytest.raises(InputError, match="Nothing passes"),
    ):
        pipeline.fit(X, y)
    empty = KnockoffSelector(random_state=0, allow_empty=True).fit(X, y)
    assert empty.transform(X).shape == (80, 0)


def test_an_empty_selection_keeps_the_rows_of_a_dataframe():
    X = pd.DataFrame(np.random.default_rng(0).normal(size=(50, 3)), index=np.arange(50) + 7)
    selector = KnockoffSelector(allow_empty=True, random_state=0).fit(X, np.arange(50.0))
    empty = selector.transform(X)
    assert empty.shape == (50, 0)
    assert empty.index.equals(X.index)


def test_what_would_pass_at_a_later_level_is_named():
    X, _ = table(n=400)
    y = X[:, [1, 8, 15, 22, 29]].sum(axis=1) + 0.1 * RNG.normal(size=400)
    with pytest.warns(UserWarning, match="at 2.% these 4 would|at 2.% these 5 would"):
        selector = KnockoffSelector(LassoSelector(), fdr=0.1, random_state=0).fit(X, y)
    later, units = selector.result_.extras["later"]
    assert later <= 0.25
    assert set(units.tolist()) <= {1, 8, 15, 22, 29}


def statistics_ahead(n_ahead, n_copies):
    """In each copy ``n_ahead`` units are ahead, and no unit is behind."""
    return np.tile(np.r_[np.ones(n_ahead), np.zeros(40 - n_ahead)], (n_copies, 1))


def test_the_later_level_is_above_the_one_at_which_nothing_passed():
    """15 columns ahead of 3 copies: too few for thresholds at 5 %, and more than 25 % needs."""
    level, units = later_level(statistics_ahead(15, 3), 0.1)
    assert level == 0.25
    assert sorted(units.tolist()) == list(range(15))


def explained(n_ahead, n_copies=1, fdr=0.1):
    statistics = statistics_ahead(n_ahead, n_copies)
    extras = {"later": later_level(statistics, fdr), "n_copies": n_copies}
    W = statistics.mean(axis=0)
    result = SelectionResult(np.empty(0, dtype=np.intp), W, order=best_first(W), extras=extras)
    schema = open_engine(np.eye(40), np.arange(40.0), Settings()).schema
    return KnockoffSelector(fdr=fdr)._explain_nothing(schema, result)


def test_what_is_said_of_levels_is_true_to_the_digit():
    assert "at 12.5% these 8 would" in explained(8)  # 1/8: at 12 % they would not
    assert "at 14.3% these 7 would" in explained(7)
    assert "rate of 12.5%, nor at 25%" in explained(3, fdr=0.125)
    assert "fewer than 10 true columns cannot be found. Nearest" in explained(8)
    assert "fewer than 20 true columns cannot be found with 3 copies" in explained(8, 3)
    assert explained(0).endswith("No column came near.")
    X, y = table()
    selector = KnockoffSelector(fdr=0.125, random_state=0, allow_empty=True).fit(X, y)
    assert selector.guarantee_.startswith("On average at most 12.5% of")


def test_several_copies_agree_with_each_other():
    X, y = table()
    selector = KnockoffSelector(LassoSelector(), fdr=0.3, n_copies=3, random_state=0).fit(X, y)
    assert selector.result_.extras["n_copies"] == 3
    assert set(selector.indices_.tolist()) >= set(range(12))
    assert "e-values of 3 copies" in selector.guarantee_


def test_constant_and_duplicate_columns():
    X, y = table()
    X = np.column_stack([X, np.ones(N), X[:, 0]])
    selector = KnockoffSelector(PearsonRanking(), fdr=0.3, random_state=0).fit(X, y)
    assert selector.statistics_[P] == 0.0
    assert np.isfinite(selector.statistics_).all()
    assert not selector.support_[P]


# Methods that only place columns in an order place equal ones in any.
@pytest.mark.parametrize("method", [BAHSIC(), MRMR(), SVMRFE()])
def test_a_column_that_equals_its_copy_is_neither_ahead_nor_behind(method):
    for seed in range(4):
        X = np.random.default_rng(seed).normal(size=(150, 8))
        X[:, 3] = 1.0
        frame = pd.DataFrame(X, columns=list("abcdefgh")).assign(
            kind=pd.Categorical(np.arange(150) % 3), level=np.arange(150) % 3 * 1.5
        )
        y = X[:, 4:].sum(axis=1) + frame["level"] > 1.5
        selector = KnockoffSelector(method, fdr=0.5, random_state=seed, allow_empty=True)
        statistics = dict(zip(frame, selector.fit(frame, y).statistics_, strict=True))
        assert statistics["d"] == 0  # constant
        assert statistics["level"] == 0  # what the category says, again
        assert any(statistics.values())


@pytest.mark.filterwarnings("ignore:the copies can be told:UserWarning")
def test_columns_that_are_sums_of_others():
    """Of such columns a graph may have a singular covariance between neighbours."""
    rng = np.random.default_rng(1000)
    X = rng.normal(size=(100, 20))
    X[:, 1], X[:, 2], X[:, 3], X[:, 4] = X[:, 0], 1.0, rng.integers(0, 2, 100), np.round(X[:, 4])
    X[:, 5] = X[:, 6] + X[:, 7]
    selector = KnockoffSelector(fdr=0.5, random_state=0, allow_empty=True)
    assert np.isfinite(selector.fit(X, rng.normal(size=100)).statistics_).all()


def test_more_columns_than_rows():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 150))
    y = X[:, :20].sum(axis=1)
    selector = KnockoffSelector(random_state=0, fdr=0.5, allow_empty=True).fit(X, y)
    assert selector.result_.extras["structure"].shrinkage > 0.5
    assert np.isfinite(selector.statistics_).all()


def test_categories_and_groups_are_units():
    import pandas as pd

    rng = np.random.default_rng(0)
    X, y = table(n=400, signals=12)
    frame = pd.DataFrame(X, columns=[f"c{j}" for j in range(P)])
    frame["kind"] = pd.Categorical(rng.choice(["a", "b", "c"], 400))
    y = y + 6.0 * (frame["kind"] == "b")
    groups = {"pair": ["c5", "c6"], "kind": ["kind"]}
    selector = KnockoffSelector(fdr=0.3, feature_groups=groups, random_state=0).fit(frame, y)
    assert {"kind", "c5", "c6"} <= set(selector.get_feature_names_out())
    copies = fit_copy_model(open_engine(frame, y, Settings()), "mvr", 0)
    drawn = copies.copies(copies.sample.X, copies.sample.rows, 1)
    assert set(np.unique(drawn[:, P])) == {0.0, 1.0, 2.0}
    assert np.mean(drawn[:, P] == copies.sample.X[:, P]) < 0.6


@pytest.mark.parametrize("method", [PearsonRanking(), MRMR()])
def test_memory_file_and_dask_agree(tmp_path, method):
    import dask.array as da
    import pyarrow as pa
    import pyarrow.parquet as pq

    X, y = table(n=500)
    columns = {f"x{j}": X[:, j] for j in range(P)} | {"y": y}
    pq.write_table(pa.table(columns), tmp_path / "t.parquet", row_group_size=120)
    make = partial(KnockoffSelector, method, fdr=0.3, random_state=0, allow_empty=True)
    expected = make().fit(X, y)
    tight = 8 * 6 * P * P + 8 * 500 * P  # copies do not fit beside the columns
    others = [
        make(memory_limit=tight).fit(open_parquet(tmp_path / "t.parquet"), "y"),
        make().fit(da.from_array(X, chunks=(120, P)), y),
        make(n_jobs=2).fit(X, y),
    ]
    for other in others:
        assert other.statistics_ == pytest.approx(expected.statistics_, abs=1e-9)
        assert other.indices_.tolist() == expected.indices_.tolist()


@pytest.mark.parametrize("seed", range(3))
def test_copies_beside_categories_do_not_depend_on_the_blocks(seed):
    """The covariance of indicators is singular; what rounding leaves there must not be inverted."""
    rng = np.random.default_rng(seed)
    kind, other = rng.integers(0, 3, size=(2, 900))
    frame = pd.DataFrame(rng.normal(size=(900, 3)) + kind[:, None], columns=list("abc")).assign(
        kind=pd.Categorical(kind), other=pd.Categorical(other), both=pd.Categorical(kind + other)
    )
    y = frame["a"] + rng.normal(size=900)
    models = [
        fit_copy_model(open_engine(frame, y, Settings(rows_per_block=rows)), "mvr", 0)
        for rows in (900, 128, 16)
    ]
    X, rows = models[0].sample.X, models[0].sample.rows
    copies = models[0].copies(X, rows, 5)
    for model in models[1:]:
        assert model.gaussian.residual == pytest.approx(models[0].gaussian.residual, abs=1e-9)
        assert model.copies(X, rows, 5) == pytest.approx(copies, abs=1e-9)


@pytest.mark.parametrize(("name", "flagged"), [("gaussian", False), ("t", True), ("counts", True)])
def test_the_diagnostic_tells_gaussian_columns_from_others(name, flagged):
    draw = {
        "gaussian": lambda rng: rng.normal(size=(600, 30)),
        "t": lambda rng: rng.standard_t(3, size=(600, 30)),
        "counts": lambda rng: rng.poisson(3.0, size=(600, 30)).astype(float),
    }[name]
    flags = []
    for seed in range(5):
        X = draw(np.random.default_rng(seed))
        fitted = fit_copy_model(open_engine(X, X[:, 0] + 0.5, Settings()), "mvr", seed)
        copies = fitted.copies(X, np.arange(600), seed)
        scaled = fitted.scaling.apply(X), fitted.scaling.apply(copies)
        flags.append(exchangeability_pvalue(*scaled, np.random.default_rng(seed)) < 0.01)
    assert sum(flags) == (5 if flagged else 0)


def test_the_diagnostic_keeps_its_level_where_no_direction_stands_out():
    """Directions that the columns choose alone show how much they happen to vary in them."""
    pvalues = []
    for seed in range(40):
        rng = np.random.default_rng(seed)
        pvalues.append(exchangeability_pvalue(*rng.normal(size=(2, 1000, 60)), rng))
    assert sum(pvalue < 0.05 for pvalue in pvalues) <= 4  # 2 are expected


def test_a_misfit_is_a_warning():
    X = np.random.default_rng(0).standard_t(2, size=(500, 20))
    with pytest.warns(UserWarning, match="copies can be told from the columns"):
        KnockoffSelector(random_state=0, allow_empty=True).fit(X, X[:, 0])


def test_the_warning_names_the_columns_that_are_unlike_their_copies():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(500, 12))
    X[:, 7] = rng.exponential(size=500) ** 2
    X[:, 3] = rng.integers(0, 2, 500)
    with pytest.warns(UserWarning, match=r"most of all: x[37], x[37]\)"):
        KnockoffSelector(random_state=0, allow_empty=True).fit(X, X[:, 0])


@pytest.mark.parametrize(
    ("selector", "words"),
    [
        (KnockoffSelector(MRMR(), Ranking()), "a search of its own"),
        (KnockoffSelector(Pearson(), selector=MRMR()), "not both"),
        (KnockoffSelector(selector="mrmr"), "not a selector"),
        (KnockoffSelector(KnockoffSelector()), "not a selector that can be run inside"),
        (KnockoffSelector(fdr=0), "fdr"),
        (KnockoffSelector(fdr=1.5), "fdr"),
        (KnockoffSelector(n_copies=0), "n_copies"),
        (KnockoffSelector(spread="far"), "spread"),
    ],
)
def test_bad_parameters(selector, words):
    X, y = table(n=50)
    with pytest.raises(InputError, match=words):
        selector.fit(X, y)


@settings(deadline=None, max_examples=10)
@given(seed=st.integers(0, 1000))
def test_the_later_level_is_valid_for_its_e_values(seed):
    W = np.random.default_rng(seed).normal(size=(1, 30)) + 0.5
    level, units = later_level(W, 0.1)
    if len(units):
        assert set(units.tolist()) == set(e_bh(e_values(W[0], 0.25), level * (1 + 1e-9)).tolist())


def test_the_check_of_a_wide_table_keeps_to_the_memory_limit():
    """It looks at fewer rows; statistics and selection are the same."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 40))
    y = X[:, :4].sum(axis=1) + rng.normal(size=300)
    make = {"fdr": 0.5, "random_state": 0, "allow_empty": True}
    ample, scarce = (
        KnockoffSelector(PearsonRanking(), memory_limit=limit, **make).fit(X, y)
        for limit in ("1GiB", "1.5MiB")
    )
    assert ample.result_.extras["exchangeability_rows"] == 300
    assert 40 < scarce.result_.extras["exchangeability_rows"] < 300
    np.testing.assert_allclose(scarce.statistics_, ample.statistics_, rtol=1e-9)
    assert scarce.indices_.tolist() == ample.indices_.tolist()
