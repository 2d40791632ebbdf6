"""Dates written as text: offsets, impossible times, years of two digits, day or month first."""

from __future__ import annotations

from datetime import date

import pytest

from featsieve.io import date as dates
from featsieve.io.date import DateColumn, orders_of, read_dates


@pytest.fixture(autouse=True)
def in_2025(monkeypatch):
    class Date(date):
        @classmethod
        def today(cls):
            return cls(2025, 6, 1)

    monkeypatch.setattr(dates, "date", Date)


def day(year, month, number):
    return float((date(year, month, number) - date(1970, 1, 1)).days)


def test_offsets_from_utc_count():
    reading = read_dates(["01.02.2024 10:00 +12:00", "01.02.2024 10:00 -12:00"])
    assert reading.values[1] - reading.values[0] == 1
    assert reading.values[1] == pytest.approx(day(2024, 2, 1) + 22 / 24)
    assert reading.remark.endswith("times became UTC")


@pytest.mark.parametrize("zone", ["+02:00", " +0200", " +02"])
def test_every_spelling_of_an_offset(zone):
    (value,) = read_dates([f"2024-01-01 10:00:00{zone}"]).values
    assert value == pytest.approx(day(2024, 1, 1) + 8 / 24)


def test_times_without_an_offset_are_taken_as_utc_and_the_note_says_so():
    reading = read_dates(["2024-01-01 10:00 +02:00", "2024-01-01 08:00", "2024-01-01 08:00Z"])
    assert len(set(reading.values)) == 1
    assert "those without an offset were taken as UTC" in reading.remark
    assert "UTC" not in read_dates(["2024-01-01 08:00", "02.01.2024"]).remark


@pytest.mark.parametrize(
    "time", ["43:75", "25:00", "12:60", "10:00:75", "13:00 PM", "24:01", "10:00 +99:00"]
)
def test_impossible_times_are_not_times(time):
    assert read_dates([f"2024-01-01 {time}", "2024-01-02 10:00"]) is None


def test_midnight_and_leap_seconds_are_times():
    values = read_dates(["2016-12-31 24:00", "2016-12-31 23:59:60", "2017-01-01"]).values
    assert values == pytest.approx([day(2017, 1, 1)] * 3)


@pytest.mark.parametrize(
    ("states", "years"),
    [
        (["11/23/68", "1/1/24"], [1968, 2024]),
        (["11/23/68", "1/1/25", "1/1/26"], [1968, 2025, 1926]),
        (["11/23/24", "1/1/25", "1/1/29"], [2024, 2025, 2029]),
        (["11/23/29", "1/1/2031"], [2029, 2031]),
        (["11/23/29", "1/1/2011"], [1929, 2011]),
    ],
)
def test_years_of_two_digits(states, years):
    reading = read_dates(states)
    assert [date.fromordinal(719163 + int(value)).year for value in reading.values] == years
    assert f"'11/23/{states[0][-2:]}' in {years[0]}" in reading.remark


def test_the_note_says_which_years():
    assert "years of two digits are 1968 to 2024" in read_dates(["11/23/68", "1/1/24"]).remark


def columns(**states):
    return {name: DateColumn.of(texts) for name, texts in states.items()}


def test_day_or_month_first_as_in_another_column():
    found = columns(sent=["1/2/2024", "3/4/2024"], paid=["1/25/2024", "2/3/2024"])
    reading = found["sent"].read(orders_of(found))
    assert reading.values == [day(2024, 1, 2), day(2024, 3, 4)]
    assert reading.remark == "'1/2/2024' as month/day/year, as in 'paid'"
    assert found["paid"].read(orders_of(found)).remark == ""


def test_years_of_other_lengths_have_the_same_order():
    assert read_dates(["1/2/2024", "1/25/24"]).values[0] == day(2024, 1, 2)


def test_other_delimiters_and_contradictions_do_not_decide():
    found = columns(sent=["1/2/2024"], paid=["1-25-2024"])
    assert found["sent"].read(orders_of(found)).values == [day(2024, 2, 1)]
    found = columns(sent=["1/2/2024"], paid=["1/25/2024"], due=["25/1/2024"])
    assert found["sent"].read(orders_of(found)).values == [day(2024, 2, 1)]


@pytest.mark.parametrize("mistake", ["0000-00-00", "TBD", "2020-02-31", "99.99.99"])
def test_a_mistake_among_many_dates_is_missing(mistake):
    states = [f"2020-01-{j:02d}" for j in range(1, 31)]
    reading = read_dates([*states, mistake])
    assert reading.values == [*(day(2020, 1, j) for j in range(1, 31)), None]
    assert reading.unread == (mistake,)


def test_a_mistake_does_not_turn_day_and_month():
    states = [f"{1 + j % 12:02d}/{1 + j % 28:02d}/2020" for j in range(60)]
    reading = read_dates([*states, "99/99/2020"])
    assert reading.values[12] == day(2020, 1, 13)


@pytest.mark.parametrize("n_dates", [8, 100])
def test_many_mistakes_are_words(n_dates):
    dates_ = [f"2020-{1 + j % 12:02d}-{1 + j // 12:02d}" for j in range(n_dates)]
    words = [f"word {j}" for j in range(1 + n_dates // 5)]
    assert read_dates([*dates_, *words]) is None
    assert read_dates([*words, *dates_]) is None
