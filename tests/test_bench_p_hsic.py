"""The benches of P-HSIC, at a small size."""

from __future__ import annotations

import pytest

from featsieve.errors import InputError
from featsieve.evaluation.benches import p_hsic_fig1


def test_figure_1_holds_for_bahsic_and_writes_its_report(tmp_path, monkeypatch):
    monkeypatch.setattr(p_hsic_fig1, "QUICK_SIZES", (40, 200))
    out = tmp_path / "figure.md"
    text = p_hsic_fig1.run(None, trials=1, methods=["bahsic", "pc"], quick=True, out=out)
    assert "binary XOR: BAHSIC finds both: holds (1.5)" in text
    assert "binary XOR: PearsonRanking does not find both: holds" in text
    assert "regression: BAHSIC finds both: holds" in text
    assert text in out.read_text()


def test_figure_1_refuses_an_unknown_method():
    with pytest.raises(InputError, match="there is no method 'nosuch'"):
        p_hsic_fig1.run(None, methods=["nosuch"])
