"""Dates and times written as text: formats, the order of day and month, years, UTC offsets."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime
from typing import NamedTuple

from featsieve.io.values import FEWEST_TO_JUDGE, GAP_WORDS, Reading, are_mistakes

_TIME = re.compile(
    r"(?P<day>.*?\d)(?:[T ]\s*(?P<h>\d{1,2}):(?P<m>\d{2})(?::(?P<s>\d{2}(?:\.\d+)?))?"
    r"\s*(?P<half>[AaPp][Mm])?\s*(?P<zone>Z|UTC|GMT|[+-]\d{2}(?::?\d{2})?)?)?"
)
_ISO = ("%Y-%m-%d", "%Y/%m/%d", "%Y.%m.%d")
_DAY_FIRST = ("%d.%m.%Y", "%d.%m.%y", "%d/%m/%Y", "%d/%m/%y", "%d-%m-%Y", "%d-%m-%y")
_MONTH_FIRST = ("%m/%d/%Y", "%m/%d/%y", "%m-%d-%Y", "%m-%d-%y")
_NAMED = ("%d %b %Y", "%d %B %Y", "%b %d, %Y", "%B %d, %Y", "%b %d %Y", "%d-%b-%Y", "%d-%b-%y")
_FORMATS = (*_ISO, *_DAY_FIRST, *_MONTH_FIRST, *_NAMED)
MOST_TO_GIVE_UP = 200
_EPOCH = date(1970, 1, 1)
_FARTHEST_OFFSET = 14  # hours, of an island in the Pacific
_YEARS_AHEAD = 20  # of dates of expiry and the like

Orders = Mapping[str, tuple[str, str]]  # kind of shape → order of its parts, column that shows it


class _Moment(NamedTuple):
    """A date as it is written, the time of day as a share of a day, and whether UTC is known."""

    day: str
    time: float = 0.0
    has_clock: bool = False
    has_offset: bool = False


@dataclass(frozen=True)
class DateColumn:
    """Distinct texts that are dates but for some mistakes; for each shape of date the formats that
    read it."""

    texts: tuple[str, ...]
    moments: tuple[_Moment | None, ...]
    formats: dict[str, list[str]]

    @classmethod
    def of(cls, states: Sequence[str]) -> DateColumn | None:
        """None where too many texts are neither a date nor a gap."""
        texts = tuple(state.strip() for state in states)
        first = texts[:MOST_TO_GIVE_UP]
        if 2 * sum(_moment(t) is None and t.lower() not in GAP_WORDS for t in first) > len(first):
            return None  # without a look at millions of texts
        moments = tuple(map(_moment, texts))
        known = [text.lower() not in GAP_WORDS for text in texts]
        n_known = sum(known)
        n_unread = sum(k and m is None for k, m in zip(known, moments, strict=True))
        if not are_mistakes(n_unread, n_known):
            return None
        shapes: dict[str, list[str]] = {}
        for moment in filter(None, moments):
            shapes.setdefault(_shape(moment.day), []).append(moment.day)
        formats = {shape: _formats_for(days) for shape, days in shapes.items()}
        for shape, days in shapes.items():
            styles = formats[shape]
            n_unread += _n_unread(days, styles[0]) if styles else len(days)
        if not any(formats.values()) or not are_mistakes(n_unread, n_known):
            return None
        return cls(texts, moments, {shape: styles for shape, styles in formats.items() if styles})

    def certain_orders(self) -> dict[str, str]:
        """Which of day, month and year comes first, by kind of shape, where only one can be."""
        orders = {shape: set(map(_order, styles)) for shape, styles in self.formats.items()}
        return {_kind(shape): min(known) for shape, known in orders.items() if len(known) == 1}

    def read(self, orders: Orders) -> Reading:
        styles = {shape: _style(shape, found, orders) for shape, found in self.formats.items()}
        written = [styles.get(_shape(m.day), "") if m else "" for m in self.moments]
        dates = [m and _date(m.day, style) for m, style in zip(self.moments, written, strict=True)]
        years = [style.endswith("%y") for style in written]  # of two digits
        last_year = _last_year(dates, years)
        dates = [
            _in_century(day, last_year) if day and short else day
            for day, short in zip(dates, years, strict=True)
        ]
        values = [
            None if day is None or moment is None else (day - _EPOCH).days + moment.time
            for day, moment in zip(dates, self.moments, strict=True)
        ]
        remarks = [
            *self._of_orders(styles, orders),
            *self._of_years(dates, years),
            *self._of_offsets(),
        ]
        unread = (
            text
            for text, value in zip(self.texts, values, strict=True)
            if value is None and text.lower() not in GAP_WORDS
        )
        return Reading(values, tuple(unread), remark="; ".join(remarks))

    def _of_orders(self, styles: Mapping[str, str], orders: Orders) -> Iterator[str]:
        for shape, found in self.formats.items():
            if len({_order(style) for style in found}) > 1:
                example = next(m.day for m in self.moments if m and _shape(m.day) == shape)
                model = orders.get(_kind(shape))
                as_in = f", as in {model[1]!r}" if model else ""
                yield f"{example!r} as {_words(styles[shape])}{as_in}"
                return

    def _of_years(self, dates: Sequence[date | None], short: Sequence[bool]) -> Iterator[str]:
        years = [day.year for day, is_short in zip(dates, short, strict=True) if day and is_short]
        if years:
            example = self.texts[short.index(True)]
            span = f"{min(years)} to {max(years)}" if min(years) < max(years) else f"{years[0]}"
            yield f"{example!r} in {years[0]}: years of two digits are {span}"

    def _of_offsets(self) -> Iterator[str]:
        clocks = [m for m in self.moments if m and m.has_clock]
        n_with = sum(m.has_offset for m in clocks)
        if n_with:
            rest = "" if n_with == len(clocks) else "; those without an offset were taken as UTC"
            yield f"times became UTC{rest}"


def orders_of(columns: Mapping[str, DateColumn]) -> Orders:
    """The orders of day and month that columns of a file show, where they do not contradict."""
    seen: dict[str, dict[str, str]] = {}
    for name, column in columns.items():
        for kind, order in column.certain_orders().items():
            seen.setdefault(kind, {}).setdefault(order, name)
    return {kind: next(iter(found.items())) for kind, found in seen.items() if len(found) == 1}


def read_dates(states: Sequence[str]) -> Reading | None:
    """Distinct texts as days since 1970, where all of them are dates; else None.

    >>> read_dates(["02.01.1970", "3 Jan 1970 12:00"]).values
    [1.0, 2.5]
    >>> read_dates(["02.01.1970 12:00 +12:00"]).values
    [1.0]
    """
    column = DateColumn.of(states)
    return None if column is None else column.read(orders_of({"": column}))


# --- one cell -------------------------------------------------------------------------------------


def _moment(text: str) -> _Moment | None:
    if not 6 <= len(text) <= 40 or not any(mark in text for mark in "-/. "):
        return None
    parts = _TIME.fullmatch(text)
    if parts is None:
        return None
    if parts["h"] is None:
        return _Moment(parts["day"])
    time = _share_of_day(parts)
    offset = _offset(parts["zone"])
    if time is None or offset is None:
        return None
    return _Moment(parts["day"], time - offset, True, parts["zone"] is not None)


def _share_of_day(parts: re.Match[str]) -> float | None:
    """None for times that no clock shows."""
    hours, minutes, seconds = int(parts["h"]), int(parts["m"]), float(parts["s"] or 0.0)
    if parts["half"]:
        if not 1 <= hours <= 12:
            return None
        hours = hours % 12 + 12 * (parts["half"].lower() == "pm")
    is_midnight = (hours, minutes, seconds) == (24, 0, 0.0)
    if minutes > 59 or seconds >= 61 or not (hours < 24 or is_midnight):  # 60: a leap second
        return None
    return (hours + (minutes + seconds / 60) / 60) / 24


def _offset(zone: str | None) -> float | None:
    """Share of a day by which a clock is ahead of UTC; None where no clock is.

    >>> _offset("+12:00"), _offset("-0600"), _offset("Z"), _offset("+99:00")
    (0.5, -0.25, 0.0, None)
    """
    if zone is None or zone.isalpha():
        return 0.0
    digits = zone[1:].replace(":", "").ljust(4, "0")
    hours, minutes = int(digits[:2]), int(digits[2:])
    if minutes > 59 or hours + minutes / 60 > _FARTHEST_OFFSET:
        return None
    return (1 if zone[0] == "+" else -1) * (hours + minutes / 60) / 24


def _shape(day: str) -> str:
    """Dates of one shape are read by one format.

    >>> _shape("1.12.2020"), _shape("1 Jan 99")
    ('0.0.0000', '0 a 0')
    """
    short = re.sub(r"\d+", lambda digits: "0000" if len(digits[0]) == 4 else "0", day)
    return re.sub(r"[^\W\d_]+", "a", short)


def _kind(shape: str) -> str:
    """Shapes of one kind differ in the digits of the year only."""
    return re.sub(r"0000$", "0", shape)


def _formats_for(days: Sequence[str]) -> list[str]:
    """The formats that read every one of these dates, or else the most of them."""
    left = list(_FORMATS)
    for day in days:
        left = [style for style in left if _date(day, style) is not None]
        if not left:
            break
    return left or _formats_for_most(days)


def _formats_for_most(days: Sequence[str]) -> list[str]:
    first = days[:FEWEST_TO_JUDGE]
    worth = [style for style in _FORMATS if 2 * _n_unread(first, style) <= len(first)]
    unread = {style: _n_unread(days, style) for style in worth}
    fewest = min(unread.values(), default=len(days))
    return [style for style, count in unread.items() if count == fewest and count < len(days)]


def _n_unread(days: Sequence[str], style: str) -> int:
    return sum(_date(day, style) is None for day in days)


def _date(day: str, style: str) -> date | None:
    try:
        return datetime.strptime(day, style).date()
    except ValueError:
        return None


# --- what the cells leave open --------------------------------------------------------------------


def _style(shape: str, styles: Sequence[str], orders: Orders) -> str:
    """The first format that has the order of the file's other dates."""
    order = orders.get(_kind(shape), (_order(styles[0]), ""))[0]
    return next((style for style in styles if _order(style) == order), styles[0])


def _order(style: str) -> str:
    return "".join(letter for letter in style if letter.isalpha()).lower()


def _words(style: str) -> str:
    return "day/month/year" if style.startswith("%d") else "month/day/year"


def _last_year(dates: Iterable[date | None], short: Iterable[bool]) -> int:
    """The last of the hundred years in which years of two digits are.

    No date is in the future, unless other dates of the column are, or the dates belong together
    much better with some of them in the near future.
    """
    known = [(day, is_short) for day, is_short in zip(dates, short, strict=True) if day]
    written = [day.year for day, is_short in known if not is_short]
    shortened = [day.year for day, is_short in known if is_short]
    last = max([date.today().year, *written])
    if not shortened or written:
        return last
    spans = [_span(shortened, year) for year in (last, last + _YEARS_AHEAD)]
    return last + _YEARS_AHEAD if spans[1] < spans[0] / 2 else last


def _span(years: Iterable[int], last: int) -> int:
    placed = [_year(year, last) for year in years]
    return max(placed) - min(placed)


def _year(year: int, last: int) -> int:
    """The year of these two last digits that is at most ``last``.

    >>> _year(2068, 2025), _year(1925, 2025)
    (1968, 2025)
    """
    return last - (last - year) % 100


def _in_century(day: date, last: int) -> date:
    return day.replace(year=_year(day.year, last))
