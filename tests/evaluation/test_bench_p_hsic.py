"""The benches of P-HSIC, at a small size."""

from __future__ import annotations

import json

import numpy as np
import pandas as pd
import pytest

from featsieve import BAHSIC, FeatureSelector
from featsieve.datasets import make_motor_imagery
from featsieve.errors import InputError
from featsieve.evaluation.bands import band_map
from featsieve.evaluation.benches import p_hsic_bands, p_hsic_fig1, p_hsic_table1
from featsieve.evaluation.benches._frame import Request, run_bench
from featsieve.evaluation.benches._tables import balanced_rows
from featsieve.evaluation.common_spatial_patterns import CSP, band_covariances, with_delay
from featsieve.input.boundary import Settings, open_engine
from featsieve.measures import HSIC
from featsieve.searches import Ranking


def test_figure_1_holds_for_bahsic_and_writes_its_report(tmp_path, monkeypatch):
    monkeypatch.setattr(p_hsic_fig1, "QUICK_SIZES", (40, 200))
    out = tmp_path / "figure.md"
    request = Request(trials=1, methods=["bahsic", "pc"], quick=True, out=out)
    text = run_bench(p_hsic_fig1.BENCH, request)
    assert "binary XOR: BAHSIC finds both, large sample: holds (median rank 1.5)" in text
    assert "binary XOR: PearsonRanking does not find both, large sample: holds" in text
    assert "regression: BAHSIC finds both, large sample: holds" in text
    # Claims that fail stand next to those that hold.
    assert "multiclass: PearsonRanking does not find both, small sample: **does not hold**" in text
    assert out.read_text().startswith(text)


def test_figure_1_refuses_an_unknown_method():
    with pytest.raises(InputError, match="there is no method 'nosuch'"):
        run_bench(p_hsic_fig1.BENCH, Request(methods=["nosuch"]))


# --- bands ----------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def trials():
    return make_motor_imagery(120, subject="al", n_channels=8, return_signals=True, random_state=0)


def test_band_map_peaks_at_the_mu_rhythm():
    trials = make_motor_imagery(200, subject="al", n_channels=24, random_state=0)
    found = band_map(trials.data, trials.target, trials.frequencies, edges=range(4, 36, 4))
    low, high = found.best()
    assert 8 <= low < high <= 16
    mu, beta, other = (found.values[i, i + 1] for i in (2, 4, 6))  # 12–16, 20–24, 28–32 Hz
    assert mu > beta > 10 * abs(other)
    assert np.isnan(found.values[2, 1])
    one = HSIC(bandwidth="dimension")
    scaled = (trials.data - trials.data.mean(axis=0)) / trials.data.std(axis=0)
    inside = np.flatnonzero((trials.frequencies >= 8) & (trials.frequencies < 12))
    expected = one.bind(open_engine(scaled, trials.target, Settings())).value(inside.tolist())
    assert found.values[1, 2] == pytest.approx(expected, rel=1e-9)
    with pytest.raises(InputError, match="each above the last"):
        band_map(trials.data, trials.target, trials.frequencies, edges=[8, 4])


def test_band_covariances_are_those_of_the_filtered_signals(trials):
    signals = trials.signals[:3].astype(float)
    coefficients = np.fft.rfft(signals, axis=2)[:, :, 1:]
    kept = np.array([30, 31, 40])
    spectrum = np.zeros((3, 8, 176), dtype=complex)
    spectrum[:, :, kept + 1] = coefficients[:, :, kept]
    filtered = np.fft.irfft(spectrum, n=350, axis=2)
    expected = filtered @ filtered.swapaxes(1, 2)
    expected /= np.trace(expected, axis1=1, axis2=2)[:, None, None]
    np.testing.assert_allclose(band_covariances(coefficients, kept), expected, atol=1e-10)


def test_a_delay_is_a_shift_in_time(trials):
    signals = trials.signals[:2].astype(float)
    frequencies = np.fft.rfftfreq(350, 0.01)[1:]
    both = with_delay(np.fft.rfft(signals, axis=2)[:, :, 1:], frequencies, 0.05)
    shifted = np.fft.rfft(np.roll(signals, 5, axis=2), axis=2)[:, :, 1:]
    np.testing.assert_allclose(both[:, 8:], shifted, atol=1e-6 * np.abs(shifted).max())


def test_csp_separates_what_differs_in_one_channel():
    rng = np.random.default_rng(0)
    y = np.arange(40) % 2
    signals = rng.normal(size=(40, 4, 200)) * np.where(y[:, None] == 1, [3, 1, 1, 1], 1)[:, :, None]
    covariances = signals @ signals.swapaxes(1, 2) / 200
    features = CSP.fit(covariances, y, n_filters=2).features(covariances)
    assert features[y == 1, 1].min() > features[y == 0, 1].max()


def test_bands_bench_finds_the_better_subject(monkeypatch):
    monkeypatch.setattr(p_hsic_bands, "QUICK_CHANNELS", 8)
    text = run_bench(p_hsic_bands.BENCH, Request(methods=["csp", "bahsic"], quick=True))
    lines = [[cell.strip() for cell in line.split("|")] for line in text.splitlines()]
    rows = [cells for cells in lines if len(cells) == 5 and cells[1] in ("CSP", "BAHSIC")]
    assert len(rows) == 4  # two methods, two scenes
    for cells in rows:
        al, av = (float(cell.split(" ")[0]) for cell in cells[2:4])
        assert al < av
    with pytest.raises(InputError, match="there is no method 'rfe'"):
        run_bench(p_hsic_bands.BENCH, Request(methods=["rfe"]))


def test_idle_rhythms_do_not_answer():
    still = make_motor_imagery(200, subject="al", n_channels=16, random_state=0)
    busy = make_motor_imagery(200, subject="al", n_channels=16, idle_rhythms=2.0, random_state=0)
    near = np.abs(busy.frequencies - 9.0) < 0.5
    assert busy.data[:, near].mean() > 1.5 * still.data[:, near].mean()
    power = np.log(busy.data[:, near].mean(axis=1))
    gap = power[busy.target == 0].mean() - power[busy.target == 1].mean()
    assert abs(gap) < 4 * power.std() / np.sqrt(50)
    with pytest.raises(InputError, match="idle_rhythms"):
        make_motor_imagery(4, idle_rhythms=-1.0)


def test_band_display_draws_its_map(trials):
    pytest.importorskip("matplotlib").use("Agg")
    from featsieve.plots import BandDisplay

    for estimator in (BAHSIC(), FeatureSelector(HSIC(bandwidth="dimension"), Ranking())):
        display = BandDisplay.from_estimator(
            estimator,
            trials.data,
            trials.target,
            frequencies=trials.frequencies,
            edges=range(4, 36, 8),
        )
        assert display.ax_.get_xlabel() == "lower cut-off (Hz)"
        assert display.mesh_.get_array().shape == (4, 4)
        display.figure_.clear()


# --- Table 1 --------------------------------------------------------------------------------------


def test_table_1_reads_a_folder_and_finds_the_relevant_columns(tmp_path):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(120, 8))
    frame = pd.DataFrame(X, columns=list("abcdefgh")).assign(text=rng.choice(["u", "v"], 120))
    frame.loc[3, "b"] = np.nan
    frame.assign(target=np.where(X[:, 0] + X[:, 1] > 0, "yes", "no")).to_parquet(
        tmp_path / "classes.parquet"
    )
    frame.assign(target=X[:, 0] + X[:, 1]).to_parquet(tmp_path / "numbers.parquet")
    request = Request(tmp_path, methods=["bahsic", "PC", "RFE"], trials=3, out=tmp_path / "t.md")
    text = run_bench(p_hsic_table1.BENCH, request)
    cells = {
        line.split("|")[1].strip(): line.split("|") for line in text.splitlines() if "|" in line
    }
    assert float(cells["classes"][2].strip(" *").split("±")[0]) < 20
    assert float(cells["numbers"][2].strip(" *").split("±")[0]) < 20
    assert cells["numbers"][4].strip() == "–"  # RFE needs classes
    assert min(float(cell) for cell in cells["l2 (binary sets)"][2:5]) == 0.0
    assert json.loads((tmp_path / "t.json").read_text())["bold"]["classes"]


def test_table_1_makes_two_classes_where_the_paper_has_two(tmp_path):
    target = np.arange(90) % 3 + 1
    frame = pd.DataFrame({"x": target + 0.0, "y": 1.0 * np.arange(90)})
    names = ("covertype", "cleveland", "vehicle", "wine")
    for name in names:
        frame.assign(target=target - (name == "cleveland")).to_parquet(tmp_path / f"{name}.parquet")
    frame.loc[:9, "y"] = np.nan
    frame.assign(target=target % 2).to_parquet(tmp_path / "hepatitis.parquet")
    assert p_hsic_table1.prepared(tmp_path / "hepatitis.parquet").n_rows == 80
    shapes = {}
    for name in names:
        shapes[name] = np.bincount(p_hsic_table1.prepared(tmp_path / f"{name}.parquet").y).tolist()
    assert shapes.pop("vehicle") == [30, 30, 30]
    assert shapes == {"covertype": [60, 30], "cleveland": [30, 60], "wine": [30, 30]}


def test_table_1_balances_a_long_table():
    y = np.repeat([0, 1, 2], [900, 80, 20])
    rows = balanced_rows(y, classes=True, most=120)
    assert np.bincount(y[rows]).tolist() == [50, 50, 20]
    assert len(balanced_rows(np.arange(500.0), classes=False, most=100)) == 100


def test_every_line_of_table_1_has_a_pair_of_numbers_per_column():
    for name, line in p_hsic_table1.PAPER.items():
        assert len(line.split()) == 2 * len(p_hsic_table1.COLUMNS), name


def test_table_1_says_what_it_needs(tmp_path):
    with pytest.raises(InputError, match="give their folder"):
        run_bench(p_hsic_table1.BENCH, Request())
    with pytest.raises(InputError, match=r"no NAME\.parquet"):
        run_bench(p_hsic_table1.BENCH, Request(tmp_path))
    with pytest.raises(InputError, match="'lasso' in this table"):
        run_bench(p_hsic_table1.BENCH, Request(tmp_path, methods=["lasso"]))
