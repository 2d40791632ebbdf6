"""The benches of P-LSMI's tables: what they count, and that they run."""

from __future__ import annotations

import pytest

from featsieve.errors import InputError
from featsieve.evaluation.benches import p_lsmi_table4 as table4
from featsieve.evaluation.benches import p_lsmi_table5 as table5
from featsieve.evaluation.benches._and_or import exact_forward_path, exact_smi


def test_every_column_of_table_4_has_the_papers_figures():
    assert set(table4.COLUMNS) == set(table4.PAPER)
    assert all(set(cells) == set(table4.TOYS) for cells in table4.PAPER.values())


def test_verdicts():
    def cell(*scores):
        return table4.Cell("B-LSMI", "and-or", scores, 0.0)

    assert cell(0.9, 0.8, 0.85).verdict() == "as good or better"
    assert cell(*[0.75, 1.0] * 5, *[0.5] * 2).verdict() == "within 3 errors"
    assert cell(*[0.25] * 50).verdict() == "**below**"


def test_a_column_may_be_named_by_the_paper_or_by_the_class():
    assert table4._chosen(["f-lsmi"]) == table4._chosen(["FLSMI"]) == ["F-LSMI"]
    assert "l1-LSMI" in table4._chosen(None)
    with pytest.raises(InputError, match="Table 4"):
        table4._chosen(["nothing"])


def test_table_4_runs_and_writes(tmp_path):
    text = table4.run(None, trials=1, methods=["PC"], out=tmp_path / "t.md")
    assert text.count("| PC |") == 3
    assert "Command" in (tmp_path / "t.md").read_text()


def test_table_5_puts_the_true_set_first():
    values = table5.all_values(0)
    assert len(values) == 35
    ranked = sorted(values, key=lambda subset: -values[subset])
    assert ranked[0] == (0, 1, 2, 3)
    assert values[ranked[0]] - values[ranked[1]] > 0.08  # the paper: 0.496 against 0.392


def test_exact_smi_explains_forward_selection():
    assert exact_smi((7, 8)) > exact_smi((7, 0))
    assert exact_forward_path(4)[:3] == [7, 8, 9]
    assert "F = 0.25" in table4._forward_note()
