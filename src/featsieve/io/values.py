"""What cells written as text mean: numbers in many styles, dates in many formats."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

# Words for a gap that readers do not know as such.
GAP_WORDS = frozenset(
    {
        "",
        "-",
        "--",
        "–",
        "—",
        ".",
        "..",
        "...",
        "?",
        "??",
        "na",
        "n/a",
        "n.a.",
        "nan",
        "null",
        "nil",
    }
    | {"nil", "none", "missing", "unknown", "unbekannt", "not available", "not applicable"}
    | {"#n/a", "#na", "#div/0!", "#value!", "#ref!", "#num!", "#name?", "#null!", "#error!"}
    | {"1.#inf", "-1.#inf", "1.#ind", "-1.#ind", "1.#qnan", "-1.#qnan", "-nan", "<na>"}
)
MOSTLY = 0.9  # share of distinct texts from which a column is one of numbers with some mistakes
FEWEST_TO_JUDGE = 20
DIGITS_OF_A_NUMBER = 15

_SPACES = "  \u2009\u202f'’"
_GROUPED = r"[1-9]\d{{0,2}}([{mark}{spaces}]\d{{3}})+"
_INDIAN = r"[1-9]\d?(,\d{2})+,\d{3}"  # lakhs and crores
_POINT = re.compile(
    rf"[-+]?(\d+|{_INDIAN}|{_GROUPED.format(mark=',', spaces=_SPACES)})"
    r"(\.\d*)?([eE][-+]?\d+)?|[-+]?\.\d+"
)
_COMMA = re.compile(
    rf"[-+]?(\d+|{_GROUPED.format(mark='.', spaces=_SPACES)})(,\d*)?([eE][-+]?\d+)?|[-+]?,\d+"
)
_PARENTHESES = re.compile(r"\((.+)\)")  # accountants write (5) for -5
_CURRENCY = r"[$€£¥₹]|USD|EUR|GBP|CHF|JPY|CNY|INR|SEK|NOK|DKK|PLN|CZK|CAD|AUD"
_BEFORE = re.compile(rf"^([-+]?)\s*({_CURRENCY})\s*")
_AFTER = re.compile(rf"\s*({_CURRENCY}|%|‰|°\s?[CF]?|[A-Za-zµ][A-Za-z/²³]{{0,5}})$")
_NO_CENTS = re.compile(r"(?<=\d)[.,][-–—]{1,2}(?=\D*$)")  # 5.- and 5,-- are whole
_MINUS_AT_END = re.compile(r"(.*\d)\s?-")  # SAP writes 5.00- for -5.00
_ADDRESS = re.compile(r"((25[0-5]|2[0-4]\d|1?\d?\d)(\.(?!$)|$)){4}")  # of the internet
_CODE = re.compile(r"0\d+")


@dataclass(frozen=True)
class Reading:
    """One value per distinct text, None for gaps; ``unread`` are texts that are not a value."""

    values: list[float | None]
    unread: tuple[str, ...] = ()
    remark: str = ""


def looks_like_code(text: str) -> bool:
    """A leading zero is lost when such a text is read as a number: post codes, account numbers.

    >>> looks_like_code("01067"), looks_like_code("0.5"), looks_like_code("0")
    (True, False, False)
    """
    return bool(_CODE.fullmatch(text))


def is_number(text: str) -> bool:
    plain = text.strip()
    return bool(_POINT.fullmatch(plain) or _COMMA.fullmatch(plain))


def is_plain(text: str) -> bool:
    """Whether anyone reads the text as a number, and as the same one."""
    return bool(re.fullmatch(r"[-+]?\d+(\.\d*)?", text, re.ASCII)) or text.lower() in GAP_WORDS


def read_numbers(states: Sequence[str], *, comma_first: bool = False) -> Reading | None:
    """Distinct texts as numbers in one style, where nearly all of them are; else None.

    >>> read_numbers(["1.234,5", "12,0", "-"]).values
    [1234.5, 12.0, None]
    >>> read_numbers(["$5", "($1,200)"]).values
    [5.0, -1200.0]
    >>> read_numbers(["5.00-", "1.50"]).values
    [-5.0, 1.5]
    >>> read_numbers(["01067", "99999"]) is None
    True
    """
    bare = _without_marks(states)
    if bare is None:
        return None
    known = [text for text in bare if text is not None]
    if len(known) < 2 or any(looks_like_code(text) for text in known):
        return None
    if _are_addresses(known) or _would_lose_digits(known):
        return None
    styles = (_COMMA, _POINT) if comma_first else (_POINT, _COMMA)
    matches = [sum(bool(style.fullmatch(text)) for text in known) for style in styles]
    style = styles[0] if matches[0] >= matches[1] else styles[1]
    wrong = [text for text in known if not style.fullmatch(text)]
    if not are_mistakes(len(wrong), len(known)):
        return None
    values = [
        _number(text, style is _COMMA) if text is not None and style.fullmatch(text) else None
        for text in bare
    ]
    turned = next((state for state in states if _MINUS_AT_END.fullmatch(state.strip())), None)
    remark = f"{turned.strip()!r} as negative" if turned else ""
    return Reading(values, tuple(wrong), remark)


def are_mistakes(n_unread: int, n_known: int) -> bool:
    """Whether so few of the distinct texts cannot be read that they are not what is meant."""
    return not n_unread or (n_known >= FEWEST_TO_JUDGE and n_unread <= (1 - MOSTLY) * n_known)


def _would_lose_digits(texts: Sequence[str]) -> bool:
    """Whether different integers would become one number: those of accounts, say."""
    long = {text for text in texts if text.isdigit() and len(text) > DIGITS_OF_A_NUMBER}
    return len(set(map(float, long))) < len(long)


def _are_addresses(texts: Sequence[str]) -> bool:
    """192.168.170.101 could be thousands; many such texts are not."""
    return 2 * sum(bool(_ADDRESS.fullmatch(text)) for text in texts) > len(texts)


def mostly_numbers(states: Sequence[str]) -> bool:
    """Whether half of many distinct texts are numbers, though not enough to read them so."""
    known = [text for text in states if text.lower() not in GAP_WORDS]
    many = len(known) >= FEWEST_TO_JUDGE and not _are_addresses(known)
    return many and sum(is_number(_split_mark(text)[0]) for text in known) >= len(known) / 2


def units_of(states: Sequence[str]) -> dict[str, str]:
    """The currencies and units of numbers, each with a text that has it.

    >>> units_of(["5 kg", "7 kg", "30 lb", "12"])
    {'kg': '5 kg', 'lb': '30 lb'}
    """
    found: dict[str, str] = {}
    for state in states:
        number, mark = _split_mark(state)
        if mark and is_number(number):
            found.setdefault(mark, state)
    return found


def _without_marks(states: Sequence[str]) -> list[str | None] | None:
    """Texts without currency or unit, None for gaps; None if they are not all of one unit."""
    bare: list[str | None] = []
    marks: set[str] = set()
    n_marked = n_known = 0
    for state in states:
        text = state.strip().replace("−", "-")
        if text.lower() in GAP_WORDS:
            bare.append(None)
            continue
        number, mark = _split_mark(text)
        n_known += 1
        if mark:
            marks.add(mark)
            n_marked += 1
        bare.append(number)
    # "5 kg" beside "5 lb", or "5 %" beside "0.05", are not on one scale; "$5" beside "5" is.
    if len(marks) > 1 or (n_marked < n_known and marks - _CURRENCY_MARKS):
        return None if n_marked > (1 - MOSTLY) * n_known else list(_as_written(states))
    return bare


_CURRENCY_MARKS = {mark.strip("[]") for mark in _CURRENCY.split("|")[1:]} | set("$€£¥₹")


def _as_written(states: Sequence[str]) -> Sequence[str | None]:
    texts = (state.strip().replace("−", "-") for state in states)
    return [None if text.lower() in GAP_WORDS else text for text in texts]


def _split_mark(text: str) -> tuple[str, str]:
    """The number and its currency or unit.

    >>> _split_mark("-$5.20"), _split_mark("12 kg"), _split_mark("(7)"), _split_mark("1e5")
    (('-5.20', '$'), ('12', 'kg'), ('-7', ''), ('1e5', ''))
    >>> _split_mark("7.50-"), _split_mark("CHF 7.-")
    (('-7.50', ''), ('7', 'CHF'))
    """
    text = _NO_CENTS.sub("", text)
    inner = _PARENTHESES.fullmatch(text) or _MINUS_AT_END.fullmatch(text)
    sign, text = ("-", inner[1]) if inner else ("", text)
    before = _BEFORE.match(text)
    if before:
        return sign + before[1] + text[before.end() :], before[2]
    after = _AFTER.search(text)
    if after and is_number(text[: after.start()]):
        return sign + text[: after.start()], after[1]
    return sign + text, ""


def _number(text: str, comma: bool) -> float:
    kept = re.sub(f"[{_SPACES}]", "", text)
    kept = kept.replace(".", "").replace(",", ".") if comma else kept.replace(",", "")
    return float(kept)


# --- dates and times that are not text ------------------------------------------------------------


def days_per_unit(kind: Any) -> float | None:
    """None for what is not a date or time."""
    import pyarrow as pa

    per_day = {"s": 86400.0, "ms": 86400e3, "us": 86400e6, "ns": 86400e9}
    if pa.types.is_date(kind):
        return 1.0 if kind == pa.date32() else 1 / 86400e3
    if pa.types.is_temporal(kind) and hasattr(kind, "unit"):  # intervals of months have none
        return 1 / per_day[kind.unit]
    return None


def as_days(column: Any) -> Any:
    import pyarrow as pa
    import pyarrow.compute as pc

    factor = days_per_unit(column.type)
    width = pa.int32() if column.type.bit_width == 32 else pa.int64()
    # Nanoseconds since 1970 need more digits than a float has, which days do not.
    numbers = column.cast(width).cast(pa.float64(), safe=False)
    return pc.multiply(numbers, factor)
