"""A run that goes on where another one ended gives the answer of one that never ended."""

from __future__ import annotations

import sqlite3
from contextlib import closing

import numpy as np
import pytest

from featsieve import BAHSIC, BLSMI, FLSMI, FOHSIC, HSFS, L1HSIC, L1LSMI, FeatureSelector
from featsieve.datasets import make_and_or
from featsieve.errors import InputError
from featsieve.measures import HSIC
from featsieve.runtime.journal import recording
from featsieve.searches import Exhaustive

SELECTORS = {
    "backward": BAHSIC(n_features_to_select=3),
    "forward": FOHSIC(n_features_to_select=3),
    "forward of LSMI": FLSMI(n_features_to_select=2, random_state=0),
    "backward of LSMI": BLSMI(n_features_to_select=7, random_state=0),
    "restarts": L1LSMI(n_features_to_select=3, n_init=3, random_state=0),
    "restarts of HSIC": L1HSIC(n_features_to_select=3, n_init=2, random_state=0),
    "rows": HSFS(n_features_to_select=3, max_iter=10, random_state=0),
    "exhaustive": FeatureSelector(HSIC(), Exhaustive(), n_features_to_select=2),
}


class PowerCutError(Exception):
    """In its place."""


def stop_after(n_ticks):
    seen = []

    def callback(progress):
        seen.append(progress)
        if len(seen) > n_ticks:
            raise PowerCutError

    return callback


@pytest.mark.filterwarnings("ignore::UserWarning")
@pytest.mark.parametrize("name", SELECTORS)
def test_the_same_answer_after_an_end(tmp_path, name):
    data = make_and_or(60, random_state=0)
    selector = SELECTORS[name]
    whole = selector.fit(data.data, data.target).result_
    with pytest.raises(PowerCutError), recording(tmp_path / "steps") as first:
        selector.set_params(callback=stop_after(4)).fit(data.data, data.target)
    selector.set_params(callback=None)
    with recording(tmp_path / "steps") as second:
        resumed = selector.fit(data.data, data.target).result_
    assert resumed.indices.tolist() == whole.indices.tolist()
    np.testing.assert_array_equal(resumed.scores, whole.scores)
    assert resumed.objective == whole.objective
    assert second.n_recalled >= min(1, first.n_recorded)
    with recording(tmp_path / "steps") as third:  # everything is known by now
        again = selector.fit(data.data, data.target).result_
    assert third.n_recorded == 0
    np.testing.assert_array_equal(again.scores, whole.scores)


def test_steps_of_other_data_or_settings_are_never_used(tmp_path):
    data = make_and_or(60, random_state=0)
    with recording(tmp_path / "steps"):
        BAHSIC(n_features_to_select=3).fit(data.data, data.target)
    changed = data.data.copy()
    changed[7, 3] += 1e-9
    for X, selector in (
        (changed, BAHSIC(n_features_to_select=3)),
        (data.data, BAHSIC(n_features_to_select=3, bandwidth=2.0)),
    ):
        with recording(tmp_path / "steps") as journal:
            selector.fit(X, data.target)
        assert journal.n_recalled == 0
        assert journal.n_recorded > 0


def test_a_file_of_something_else_is_refused(tmp_path):
    (tmp_path / "steps").write_bytes(b"a,b\n1,2\n" * 200)
    with (
        pytest.raises(InputError, match="'steps' is not a file of --resume"),
        recording(tmp_path / "steps"),
    ):
        pass


def test_without_a_journal_nothing_is_kept(tmp_path):
    data = make_and_or(60, random_state=0)
    with recording(tmp_path / "steps"):
        pass
    BAHSIC(n_features_to_select=3).fit(data.data, data.target)
    with closing(sqlite3.connect(tmp_path / "steps")) as file:
        assert file.execute("SELECT COUNT(*) FROM answer").fetchone() == (0,)


def test_what_a_run_asks_twice_is_not_taken_from_an_earlier_one(tmp_path):
    for n_recalled in (0, 1):
        with recording(tmp_path / "steps") as journal:
            for _ in range(3):
                if journal.recall(b"key") is None:
                    journal.record(b"key", 1.0)
        assert journal.n_recalled == (3 if n_recalled else 0)
