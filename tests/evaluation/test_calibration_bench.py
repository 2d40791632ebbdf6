"""The calibration's trials are those of the selectors themselves, and a cut run has a table."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

from featsieve import KnockoffSelector
from featsieve.evaluation.benches import calibration
from featsieve.evaluation.benches._frame import Request, run_bench
from featsieve.registry import find_method

NAME = next(iter(calibration.QUICK_DESIGNS))


@pytest.mark.parametrize("method", ["PearsonRanking", "MRMR", "HSICRanking", "LassoSelector"])
def test_a_trial_is_what_the_selector_selects(method):
    X, y, signals = calibration.QUICK_DESIGNS[NAME].draw(3)
    selector = KnockoffSelector(
        find_method(method).load()(), fdr=calibration.FDR, random_state=3, allow_empty=True
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        chosen = selector.fit(X, y).indices_
    trial = calibration.knockoff_trial(NAME, method, 3)
    assert trial["n_selected"] == len(chosen)
    assert trial["power"] == pytest.approx(np.isin(chosen, signals).sum() / len(signals))
    null = np.delete(selector.statistics_, signals)
    assert trial["null_ahead"] == (null > 0).sum()


def test_every_cell_comes_once_and_the_dearest_come_last():
    cells = calibration.cells(Request())
    keys = [cell.key for cell in cells]
    assert len(set(keys)) == len(keys)
    knockoffs = [key for key in keys if key[0] == "knockoffs"]
    assert len(knockoffs) == 10 * 4 * calibration.TRIALS
    costs = [calibration._cost(key[1], key[2]) for key in knockoffs]
    assert costs[0] == 0
    assert costs[-1] == calibration.DEAREST
    # Everything has had a first round before anything has had its last one.
    last_of_first = max(i for i, key in enumerate(knockoffs) if int(key[3]) < 25)
    first_of_last = min(i for i, key in enumerate(knockoffs) if int(key[3]) >= 100)
    assert last_of_first < first_of_last


def test_claims_name_methods_with_too_few_trials():
    trial = {"fdp": 0.5, "power": 1.0, "n_selected": 2, "null_ahead": 1, "null_behind": 1}
    name = next(iter(calibration.DESIGNS))
    results = {("knockoffs", name, "MRMR", str(i)): trial for i in range(25)}
    results |= {("knockoffs", name, "JMI", "0"): trial}
    claim = calibration._false_share_claim(Request(), results, name)
    assert not claim.holds
    assert "MRMR 0.500" in claim.measured
    assert "JMI (1)" in claim.measured


def test_columns_without_an_effect_that_are_ahead_too_often_are_named():
    name = next(iter(calibration.DESIGNS))
    trial = {"fdp": 0.0, "power": 1.0, "n_selected": 2, "null_behind": 50}
    results = {
        ("knockoffs", name, method, str(i)): {**trial, "null_ahead": ahead + i % 3}
        for method, ahead in (("MRMR", 49), ("JMI", 70))
        for i in range(24)
    }
    claim = calibration._null_claim(Request(), results)
    assert not claim.holds
    assert claim.measured.startswith("2 cells; JMI on ")


def test_the_quick_version_runs():
    text = run_bench(calibration.BENCH, Request(quick=True, methods=["PearsonRanking"]))
    assert f"| {NAME} | PearsonRanking | 2 |" in text
    assert "Stability selection" in text


def test_a_report_is_continued_although_its_words_hold_null(tmp_path):
    """``null_ahead`` is a word of the answers; JSON's null is a value that was not finite."""
    request = Request(quick=True, methods=["PearsonRanking"], out=tmp_path / "c.md")
    run_bench(calibration.BENCH, request)
    more = Request(quick=True, methods=["PearsonRanking"], out=tmp_path / "c.md", trials=3)
    text = run_bench(calibration.BENCH, more)
    n_before = len(calibration.cells(request))
    assert f"{n_before} of {len(calibration.cells(more))} cells were done in an earlier run" in text
