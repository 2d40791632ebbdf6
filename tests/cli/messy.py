"""Messy files made by a script: for each the notes and the selection that are right."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np

N = 120


@dataclass(frozen=True)
class Messy:
    """A file, what must be noted, and what must be selected."""

    write: Callable[[], str | bytes]
    notes: tuple[str, ...]
    selected: tuple[str, ...]
    words: tuple[str, ...] = ()
    name: str = "t.csv"
    target: str = "y"

    def put(self, folder: Path) -> Path:
        content = self.write()
        path = folder / self.name
        path.write_bytes(content.encode() if isinstance(content, str) else content)
        return path


RNG = np.random.default_rng(0)
SIGNAL, NOISE = RNG.normal(size=N), RNG.normal(size=N)
Y = 2 * SIGNAL + 0.3 * RNG.normal(size=N)
CLASSES = np.where(Y > 0, "yes", "no")


def rows(delimiter=",", header=True, **columns):
    lines = [delimiter.join(columns)] if header else []
    lines += [delimiter.join(map(str, row)) for row in zip(*columns.values(), strict=True)]
    return "\n".join(lines) + "\n"


def table(**more):
    return rows(**({"a": SIGNAL, "b": NOISE} | more | {"y": more.get("y", Y)}))


def comma(values):
    return [f"{v:.4f}".replace(".", ",") for v in values]


def dotted(values):
    return [f'"{v:,.2f}"' for v in values]


def gaps(values, every=10):
    return ["" if j % every == 0 else v for j, v in enumerate(values)]


CASES = {
    "clean": Messy(lambda: table(), (), ("a",)),
    "decimal commas": Messy(
        lambda: rows(";", a=comma(SIGNAL), b=comma(NOISE), y=comma(Y)),
        ("'a', 'b', 'y': numbers written as text (such as '0,1257') were read",),
        ("a",),
    ),
    "decimal commas in tabs": Messy(
        lambda: rows("\t", a=comma(SIGNAL), b=comma(NOISE), y=comma(Y)),
        ("'a', 'b', 'y': numbers written as text",),
        ("a",),
        name="t.tsv",
    ),
    "thousands": Messy(
        lambda: rows(a=dotted(SIGNAL * 1e4), b=NOISE, y=Y),
        ("'a': numbers written as text",),
        ("a",),
    ),
    "euro thousands": Messy(
        lambda: rows(";", a=[f"{v:,.0f}".replace(",", ".") for v in SIGNAL * 1e7], b=NOISE, y=Y),
        ("'a': numbers written as text",),
        ("a",),
    ),
    "percent": Messy(
        lambda: rows(a=[f"{v:.2f}%" for v in SIGNAL], b=NOISE, y=Y),
        ("'a': numbers written as text",),
        ("a",),
    ),
    "currency": Messy(
        lambda: rows(a=[f"${v:.2f}" for v in SIGNAL + 9], b=NOISE, y=Y),
        ("'a': numbers written as text",),
        ("a",),
    ),
    "words for gaps": Messy(
        lambda: rows(
            a=["unknown" if j % 20 == 0 else v for j, v in enumerate(SIGNAL)], b=NOISE, y=Y
        ),
        ("unreadable cells", "missing or infinite cells were filled in"),
        ("a",),
    ),
    "row id": Messy(lambda: table(row_id=range(N)), ("'row_id': a different value",), ("a",)),
    "text id": Messy(
        lambda: table(code=[f"k{j}" for j in range(N)]), ("'code': a different value",), ("a",)
    ),
    "copy of the target": Messy(
        lambda: table(price=3 * Y), ("'price': tells the target exactly",), ("price",)
    ),
    "monotone copy": Messy(
        lambda: table(rank=np.exp(Y)),
        ("'rank': tells the target exactly",),
        ("rank",),
        ("--method", "maxrel", "--param", "target_discretizer=quantile"),
    ),
    "class leak": Messy(
        lambda: rows(a=SIGNAL, code=np.where(Y > 0, 7, 3), y=CLASSES),
        ("'code': tells the target exactly",),
        ("code",),
    ),
    "constant": Messy(lambda: table(c=[5] * N), ("'c': the same value",), ("a",)),
    "empty": Messy(lambda: table(c=[""] * N), ("'c': no value at all",), ("a",)),
    "duplicate": Messy(lambda: table(c=SIGNAL), ("'c' is a copy of 'a'",), ("a",)),
    "imbalance": Messy(
        lambda: rows(a=SIGNAL, b=NOISE, y=["x" if v > np.sort(Y)[-4] else "z" for v in Y]),
        ("the rarest of 2 classes has 3 of 120 rows",),
        ("a",),
    ),
    "iso dates": Messy(
        lambda: table(day=np.datetime64("2020-01-01") + RNG.integers(0, 900, N)),
        ("'day': dates were read as numbers of days",),
        ("a",),
    ),
    "date that matters": Messy(
        lambda: rows(
            day=np.datetime64("2020-01-01") + np.round(100 * (SIGNAL + 5)).astype(int), b=NOISE, y=Y
        ),
        ("'day': dates",),
        ("day",),
    ),
    "timestamps": Messy(
        lambda: table(at=[f"2020-01-{1 + j % 28:02d} 10:00:00" for j in range(N)]),
        ("'at': dates",),
        ("a",),
    ),
    "gap in the target": Messy(
        lambda: table(y=gaps(Y)), ("12 of 120 rows have no target",), ("a",)
    ),
    "gaps in columns": Messy(
        lambda: rows(a=gaps(SIGNAL), b=NOISE, y=Y),
        ("'a': missing or infinite cells were filled",),
        ("a",),
    ),
    "gaps dropped": Messy(
        lambda: rows(a=gaps(SIGNAL), b=NOISE, y=Y),
        ("12 rows with missing or infinite cells were left out",),
        ("a",),
        ("--missing", "drop"),
    ),
    "infinite cells": Messy(
        lambda: rows(a=["inf" if j == 3 else v for j, v in enumerate(SIGNAL)], b=NOISE, y=Y),
        ("'a': missing or infinite cells",),
        ("a",),
    ),
    "many states": Messy(
        lambda: rows(
            a=np.repeat(SIGNAL, 5), town=[f"t{j % 300}" for j in range(5 * N)], y=np.repeat(Y, 5)
        ),
        ("'town': up to 300 states; the 100 most frequent",),
        ("a",),
    ),
    "no header": Messy(
        lambda: rows(header=False, a=SIGNAL, b=NOISE, y=Y),
        (),
        ("X1",),
        ("--no-header",),
        target="X3",
    ),
    "header under --no-header": Messy(
        lambda: table(),
        ("looks like a header",),
        ("X1",),
        ("--no-header",),
        target="X3",
    ),
    "text classes": Messy(lambda: rows(a=SIGNAL, b=NOISE, y=CLASSES), (), ("a",)),
    "dropped before any check": Messy(
        lambda: rows(a=SIGNAL, mixed=["[1]"] * N, b=NOISE, y=Y), (), ("a",), ("--drop", "mixed")
    ),
    "latin-1 names": Messy(lambda: rows(größe=SIGNAL, b=NOISE, y=Y), (), ("größe",)),
    "pipes": Messy(lambda: rows("|", a=SIGNAL, b=NOISE, y=Y), (), ("a",), name="t.txt"),
    "byte order mark": Messy(lambda: table().encode("utf-8-sig"), (), ("a",)),
    "utf-16": Messy(lambda: table().encode("utf-16"), ("was read as UTF-16 text",), ("a",)),
    "utf-32": Messy(lambda: table().encode("utf-32"), ("was read as UTF-32 text",), ("a",)),
    "utf-16 without a mark": Messy(
        lambda: table().encode("utf-16-le"), ("was read as UTF-16 text",), ("a",)
    ),
    "windows text": Messy(
        lambda: rows(größe=SIGNAL, b=NOISE, y=Y).encode("cp1252"),
        ("is not UTF-8 text; it was read as Windows-1252",),
        ("größe",),
    ),
    "old line ends": Messy(lambda: table().replace("\n", "\r"), (), ("a",)),
    "mixed line ends": Messy(lambda: table().replace("\n", "\r\n", 60), (), ("a",)),
    "comments before": Messy(
        lambda: "# made by a program\n# on Monday, at noon\n" + table(),
        ("the first 2 lines (such as '# made by a program') are not part of the table",),
        ("a",),
    ),
    "comments between": Messy(
        lambda: table().replace("\n", "\n# a break\n", 40).replace("# a break\n", "", 1),
        ("39 rows begin with '#' and were left out as comments (such as '# a break')",),
        ("a",),
    ),
    "comments with commas between": Messy(
        lambda: (
            table()
            .replace("\n", "\n# a break, at noon\n", 2)
            .replace("# a break, at noon\n", "", 1)
        ),
        ("1 row begins with '#' and was left out as comments (such as '# a break, at noon')",),
        ("a",),
    ),
    "blanks before quotes": Messy(
        lambda: (
            "a, who, y\n"
            + "".join(
                f'{a}, "S, {j % 3}", {y}\n' for j, (a, y) in enumerate(zip(SIGNAL, Y, strict=True))
            )
        ),
        ("blanks between a delimiter and a quote were passed over",),
        ("a",),
    ),
    "points that may separate thousands": Messy(
        lambda: rows(
            ";",
            a=[f"{int(v * 400) + 1500:,}".replace(",", ".") for v in SIGNAL],
            b=["x", "z"] * (N // 2),
            y=[f"{v:.4f}" for v in Y],
        ),
        ("'a': the point in '1.550' was read as that of decimals, though it may separate",),
        ("a",),
    ),
    "points that do": Messy(
        lambda: rows(
            ";",
            a=[f"{int(v * 400) + 1500:,}".replace(",", ".") for v in SIGNAL],
            b=["x", "z"] * (N // 2),
            y=[f"{v:.4f}" for v in Y],
        ),
        ("'a': numbers written as text (such as '1.550') were read as numbers",),
        ("a",),
        ("--decimal", ","),
    ),
    "a class called None": Messy(
        lambda: rows(
            a=SIGNAL, b=NOISE, y=["None" if v < -1 else c for v, c in zip(Y, CLASSES, strict=True)]
        ),
        ("rows have no target and were left out (words that were read as missing: 'None' in ",),
        ("a",),
    ),
    "a class called None that is kept": Messy(
        lambda: rows(
            a=SIGNAL, b=NOISE, y=["None" if v < -1 else c for v, c in zip(Y, CLASSES, strict=True)]
        ),
        (),
        ("a",),
        ("--no-fix", "target"),
    ),
    "report before": Messy(
        lambda: "Sales report\n\nby region, 2020\n\n" + table(),
        ("the first 4 lines (such as 'Sales report') are not part of the table",),
        ("a",),
    ),
    "sep line": Messy(
        lambda: "sep=;\n" + rows(";", a=comma(SIGNAL), b=NOISE, y=comma(Y)),
        ("'a', 'y': numbers written as text",),
        ("a",),
    ),
    "trailing delimiter": Messy(
        lambda: table().replace("\n", ",\n"),
        ("without a name", "'column 4': no value at all"),
        ("a",),
    ),
    "trailing delimiter in rows only": Messy(
        lambda: table().replace("\n", ",\n").replace("y,\n", "y\n", 1), (), ("a",)
    ),
    "row names": Messy(
        lambda: "a b y\n" + rows(" ", header=False, n=range(N), a=SIGNAL, b=NOISE, y=Y),
        ("the first column was called 'row names'", "'row names': a different value in every row"),
        ("a",),
        ("--delimiter", " "),
    ),
    "index of pandas": Messy(
        lambda: rows(**{"": range(N), "a": SIGNAL, "b": NOISE, "y": Y}),
        ("columns without a name were called 'column 1'", "'column 1': a different value"),
        ("a",),
    ),
    "repeated names": Messy(
        lambda: table().replace("a,b,y", "a,a,y"),
        ("'a': the name of more than one column",),
        ("a",),
    ),
    "spaces around names": Messy(lambda: table().replace("a,b,y", " a , b , y "), (), ("a",)),
    "two headers": Messy(
        lambda: table().replace("a,b,y\n", "a,b,y\n(kg),(m),(s)\n"),
        ("the first row ('(kg)', '(m)', '(s)') looks like a second header",),
        ("a",),
    ),
    "files put together": Messy(
        lambda: table() + table(), ("1 rows repeat the header and were left out",), ("a",)
    ),
    "totals row": Messy(
        lambda: table(where=["x", "z"] * (N // 2)) + f"{1e6},{-1e6},Total,{1e6}\n",
        ("the last row is called 'Total' and was left out",),
        ("a",),
    ),
    "totals row below numbers": Messy(
        lambda: table(day=range(N)) + f"{1e6},{-1e6},Total,{1e6}\n",
        ("the last row is called 'Total'", "'day': a different value"),
        ("a",),
    ),
    "a slip among numbers": Messy(
        lambda: table().replace(f"{SIGNAL[7]}", "1..5", 1),
        ("1 unreadable cells (such as '1..5') as missing", "missing or infinite cells"),
        ("a",),
    ),
    "half numbers, half words": Messy(
        lambda: table(b=[f"w{j}" if j % 3 == 0 else j for j in range(N)]),
        ("'b' is read as text, though many of its cells are numbers", "'b': a different value"),
        ("a",),
    ),
    "codes that look like numbers": Messy(
        lambda: table(b=["" if j == 3 else f"0{j}" if j == 7 else j for j in range(N)]),
        ("'b': codes with leading zeros, kept as text", "missing or infinite cells"),
        ("a",),
    ),
    "a long slip among numbers": Messy(
        lambda: table().replace(f"{SIGNAL[7]}", "A" * 1000, 1),
        ("1 unreadable cells (such as 'AAAAAAAA", "missing or infinite cells"),
        ("a",),
    ),
    "accountants": Messy(
        lambda: rows(a=[f"({-v:.3f})" if v < 0 else f"{v:.3f}" for v in SIGNAL], b=NOISE, y=Y),
        ("'a': numbers written as text",),
        ("a",),
    ),
    "units": Messy(
        lambda: rows(a=[f"{v:.2f} kg" for v in SIGNAL], b=NOISE, y=Y),
        ("'a': numbers written as text",),
        ("a",),
    ),
    "errors of a spreadsheet": Messy(
        lambda: rows(
            a=["#DIV/0!" if j % 30 == 0 else v for j, v in enumerate(SIGNAL)], b=NOISE, y=Y
        ),
        ("4 unreadable cells", "'a': missing or infinite cells"),
        ("a",),
    ),
    "gap words in the target": Messy(
        lambda: table(y=["-" if j % 10 == 0 else v for j, v in enumerate(Y)]),
        ("'y': numbers written as text", "12 of 120 rows have no target"),
        ("a",),
    ),
    "thousands among decimal commas": Messy(
        lambda: rows(
            ";",
            a=[f"{int(v * 400) + 2000:,}".replace(",", ".") for v in SIGNAL],
            b=comma(NOISE),
            y=Y,
        ),
        ("'a', 'b': numbers written as text",),
        ("a",),
    ),
    "days before months": Messy(
        lambda: rows(
            day=[f"{1 + j % 28:02d}.{1 + j // 28:02d}.2020" for j in range(N)],
            b=NOISE,
            y=-np.arange(N) + 9 * NOISE,
        ),
        ("'day': dates were read as numbers of days",),
        ("day",),
    ),
    "days or months": Messy(
        lambda: table(day=[f"{1 + j % 12}/{1 + j // 12}/2020" for j in range(N)]),
        ("dates were read as numbers of days ('1/1/2020' as day/month/year)",),
        ("a",),
    ),
    "dates in words": Messy(
        lambda: table(day=[f"{1 + j % 28} {['Jan', 'Feb', 'Mar'][j % 3]} 2020" for j in range(N)]),
        ("'day': dates",),
        ("a",),
    ),
    "dates of several kinds": Messy(
        lambda: table(day=["2020-01-05", "5 Jan 2020", "05.01.2020 10:30"] * (N // 3)),
        ("'day': dates",),
        ("a",),
    ),
    "post codes": Messy(
        lambda: rows(a=SIGNAL, code=[f"{1000 * (j % 7):05d}" for j in range(N)], y=Y),
        ("'code': codes with leading zeros, kept as text",),
        ("a",),
    ),
    "post codes that matter": Messy(
        lambda: rows(
            b=NOISE,
            code=[f"0{j % 5}00" for j in range(N)],
            y=[(0, 5, -3, 2, 9)[j % 5] for j in range(N)],
        ),
        ("'code': codes with leading zeros", "'code': tells the target exactly"),
        ("code",),
    ),
    "classes of several spellings": Messy(
        lambda: rows(
            a=SIGNAL,
            b=NOISE,
            y=[("Yes", "yes ", "YES")[j % 3] if v > 0 else "No" for j, v in enumerate(Y)],
        ),
        ("were taken as one state",),
        ("a",),
    ),
    "cells of two lines": Messy(
        lambda: table(text=[f'"one {j % 3}\ntwo, ""three"""' for j in range(N)]), (), ("a",)
    ),
    "a code for gaps": Messy(
        lambda: table(b=[-999 if j % 12 == 0 else v for j, v in enumerate(NOISE)]),
        ("'b': -999 in 10 rows",),
        ("a",),
    ),
    "yes and no": Messy(
        lambda: rows(a=np.where(SIGNAL > 0, "yes", "no"), b=NOISE, y=Y), (), ("a",)
    ),
}
