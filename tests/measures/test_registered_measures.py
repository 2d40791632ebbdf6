"""Every registered measure: the same answer on all engines, groups as units, missing values.

A new measure is covered by its line in ``MEASURES``, and by nothing else.
"""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from docs.tables import example_measure, example_table

from featsieve import open_parquet
from featsieve.engines.standardized import StandardizedEngine
from featsieve.input.boundary import Settings, open_engine
from featsieve.measures import MEASURES
from featsieve.protocols import HasPairMatrix, HasScores, HasValue

X, Y = example_table()
NAMES = [f"x{j}" for j in range(X.shape[1])]
GROUPS = [[0, 2]]


def file_engine(folder, settings):
    path = folder / "table.parquet"
    pd.DataFrame(X, columns=NAMES).assign(y=Y).to_parquet(path, row_group_size=17)
    return open_engine(open_parquet(path), "y", settings)


def dask_engine(folder, settings):
    da = pytest.importorskip("dask.array")
    return open_engine(da.from_array(X, chunks=(17, X.shape[1])), Y, settings)


ENGINES = {
    "blocks": lambda folder, settings: open_engine(X, Y, settings),
    "file": file_engine,
    "dask": dask_engine,
}


def quick_measure(name):
    measure = example_measure(name)
    if "random_state" in measure.get_params():
        measure.set_params(random_state=0)
    return measure


def settings_for(measure, **given):
    return Settings(takes_missing=measure.takes_missing, **given)


def answers(measure, engine):
    """All numbers that the bound measure offers."""
    if measure.scale_ddof is not None:
        engine = StandardizedEngine(engine, measure.scale_ddof)
    bound = measure.bind(engine)
    numbers = [bound.n_units]
    if isinstance(bound, HasScores):
        numbers += np.asarray(bound.scores()).ravel().tolist()
    if isinstance(bound, HasValue):
        numbers += [bound.value([0, bound.n_units - 1])]
    if isinstance(bound, HasPairMatrix):
        numbers += np.asarray(bound.pair_matrix()).ravel().tolist()
    return numbers


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("name", MEASURES)
def test_engines_agree(name, engine, tmp_path):
    measure = quick_measure(name)
    expected = answers(measure, open_engine(X, Y, settings_for(measure)))
    rows = settings_for(measure, rows_per_block=13, n_jobs=2)
    found = answers(measure, ENGINES[engine](tmp_path, rows))
    assert len(found) > 1
    assert found == pytest.approx(expected, rel=1e-9, abs=1e-12)


@pytest.mark.parametrize("name", MEASURES)
def test_a_group_is_one_unit(name):
    measure = example_measure(name)
    engine = open_engine(X, Y, settings_for(measure, feature_groups=GROUPS))
    n_units, *numbers = answers(measure, engine)
    assert n_units == 3
    assert np.isfinite(numbers).all()


@pytest.mark.parametrize("name", MEASURES)
def test_missing_values_are_understood_or_refused_by_column(name):
    measure = example_measure(name)
    holed = X.copy()
    holed[3, 2] = np.nan
    engine = open_engine(holed, Y, settings_for(measure))
    if measure.takes_missing:
        assert np.isfinite(answers(measure, engine)).all()
    else:
        # A user's model has its own words for it.
        words = "NaN" if name == "CrossValScore" else "column 'x2' has 1 missing"
        with pytest.raises(ValueError, match=words):
            answers(measure, engine)
