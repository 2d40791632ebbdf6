"""What is put right in text columns, and what is left alone."""

from __future__ import annotations

import pyarrow as pa
import pytest

from featsieve.errors import InputError
from featsieve.io.tidied import Tidied
from featsieve.io.tidy import tidy


def tidied(**columns):
    n_rows = len(next(iter(columns.values())))
    table = tidy(Tidied(pa.table({"y": list(range(n_rows)), **columns}), "y"))
    return table.data, [note.text for note in table.notes]


def test_a_minus_at_the_end_as_in_sap():
    data, (note,) = tidied(a=["5.00-", "1.50", "3.25", "12.00-"])
    assert data.column("a").to_pylist() == [-5, 1.5, 3.25, -12]
    assert note.endswith("were read as numbers, '5.00-' as negative")


def test_few_negative_numbers_among_many():
    data, notes = tidied(a=[f"{j}.50" for j in range(40)] + ["7.25-"])
    assert data.column("a").to_pylist()[-1] == -7.25
    assert "unreadable" not in notes[0]
    assert "'7.25-' as negative" in notes[0]


def test_addresses_are_not_thousands():
    addresses = [f"192.168.{100 + j}.101" for j in range(30)]
    data, notes = tidied(a=addresses)
    assert data.column("a").to_pylist() == addresses
    assert notes == []
    data, _ = tidied(a=["1.234.567", "192.168.170", "12.345"])
    assert data.column("a").to_pylist() == [1234567, 192168170, 12345]


@pytest.mark.parametrize(("states", "n_left"), [(["60 m", "60 M"], 2), (["Yes", "yes "], 1)])
def test_units_whose_case_matters_are_two_states(states, n_left):
    data, _ = tidied(a=[*states, *states])
    assert len(set(data.column("a").to_pylist())) == n_left


@pytest.mark.parametrize("first", [("unknown", "Rome", "yes"), ("n.d.", "Rome", "yes")])
def test_a_first_row_of_words_that_come_again_is_data(first):
    number, town, answer = first
    data, notes = tidied(
        a=[number, *map(str, range(29))],
        town=[town, *["Rome", "Oslo"] * 14, "Rome"],
        answer=[answer, *["yes", "no"] * 14, "no"],
    )
    assert data.num_rows == 30
    assert not any("looks like" in note for note in notes)


@pytest.mark.parametrize("first", ["unknown", "-", "n.d."])
def test_a_word_above_numbers_beside_names_of_rows_is_data(first):
    data, _ = tidied(a=[first, *map(str, range(29))], name=[f"n{j}" for j in range(30)])
    assert data.num_rows == 30


def test_units_below_the_names_are_a_header():
    table = Tidied(
        pa.table(
            {
                "a": ["(kg)", *map(str, range(29))],
                "b": ["-", *map(str, range(29))],
                "kind": ["(none)", *["x", "z"] * 14, "x"],
            }
        ),
        "a",
    )
    assert tidy(table, only={"header"}).data.num_rows == 29
    assert "looks like a second header" in table.notes[0].text


def test_dates_follow_the_other_dates_of_the_file():
    data, (note,) = tidied(sent=["1/2/2024", "3/4/2024"], paid=["1/25/2024", "2/3/2024"])
    assert data.column("sent").to_pylist() == [19724, 19786]
    assert "'1/2/2024' as month/day/year, as in 'paid'" in note


@pytest.mark.parametrize(
    ("states", "values"),
    [
        (["1,00,000", "12,34,567", "5"], [100000, 1234567, 5]),
        (["CHF 1'200.-", "CHF 7.-"], [1200, 7]),
        (["5,-", "7,50"], [5, 7.5]),
        (["4.–", "7.50"], [4, 7.5]),
    ],
)
def test_lakhs_and_whole_prices(states, values):
    data, (note,) = tidied(a=states)
    assert data.column("a").to_pylist() == values
    assert "numbers written as text (such as" in note


def test_numbers_of_several_units_stay_text_and_a_note_says_so():
    states = [f"{j} kg" for j in range(1, 30)] + ["4000 g"]
    data, (note,) = tidied(a=states)
    assert data.column("a").to_pylist() == states
    assert note == (
        "'a' is read as text, though its numbers have different units (such as '1 kg', '4000 g')"
    )


def test_the_example_is_not_a_plain_number():
    _, (note,) = tidied(a=["5", "$7", "3.5"])
    assert "(such as '$7')" in note


def test_dates_with_a_mistake_are_dates_and_a_note_counts_it():
    states = [f"{j:02d}.03.2020" for j in range(1, 32)] + ["31.02.2020"]
    data, notes = tidied(a=states)
    assert data.column("a").null_count == 1
    assert "not dates count as missing (1 in all, such as '31.02.2020')" in notes[0]


def test_a_table_without_any_value_is_refused():
    with pytest.raises(InputError, match="no column besides the target 'y' has a value"):
        tidied(a=pa.array([None, None], pa.float64()), b=pa.array([None, None], pa.string()))
