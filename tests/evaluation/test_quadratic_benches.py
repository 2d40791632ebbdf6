"""The benches of P-CMI's Figures 2 and 3 and Table I."""

from __future__ import annotations

import pytest

from featsieve.errors import InputError
from featsieve.evaluation.benches import _quadratic, p_cmi_fig2, p_cmi_fig3, p_cmi_table1
from featsieve.evaluation.benches._frame import Request, run_bench


@pytest.mark.parametrize("bench", [p_cmi_fig2, p_cmi_fig3, p_cmi_table1])
def test_a_bench_returns_its_table_and_writes_it_with_its_surroundings(
    bench, tmp_path, monkeypatch
):
    monkeypatch.setattr(_quadratic, "QUICK_EXPERIMENTS", ((20, 4), (30, 5)))
    monkeypatch.setattr(p_cmi_table1, "QUICK_SIZES", (25, 50))
    out = tmp_path / "results" / "bench.md"
    request = Request(trials=1, methods=["tpower", "auto"], quick=True, out=out)
    text = run_bench(bench.BENCH, request)
    assert text.startswith("# Venkateswara et al. (2015)")
    assert "| TPower |" in text
    assert "binary" not in text
    assert out.read_text().startswith(text)
    assert "## Where and when" in out.read_text()


def test_the_gain_is_measured_against_linear_on_the_same_matrices():
    results = {
        ("30", "6", method, str(seed)): _quadratic.trial(30, 6, method, seed)
        for seed in range(2)
        for method in ("Linear", "ours (auto)")
    }
    assert _quadratic.gains(results, 30, 6, "Linear") == [0.0, 0.0]
    assert min(_quadratic.gains(results, 30, 6, "ours (auto)")) > 0.0
    assert min(_quadratic.values(results, 30, 6, "Linear", "seconds")) > 0.0


def test_figure_3_shows_both_forms_of_the_relaxation():
    results = {
        ("50", "10", method, "0"): _quadratic.trial(50, 10, method, 0)
        for method in ("Linear", "SDP", "SDP, plain")
    }
    forms = [_quadratic.gains(results, 50, 10, form)[0] for form in ("SDP", "SDP, plain")]
    assert forms[0] > forms[1] >= 0.0


def test_an_unknown_method_is_named():
    with pytest.raises(InputError, match="there is no method 'simplex'"):
        _quadratic.chosen_methods(["simplex"])
