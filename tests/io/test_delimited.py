"""Text tables that are laid out in odd ways: nothing is lost without a word."""

from __future__ import annotations

import gzip
import os

import pytest

from featsieve.errors import InputError
from featsieve.io import read_table
from featsieve.io.model import ReadOptions, find_column

NO_LAYOUT = ReadOptions(no_fix=frozenset({"layout"}))


@pytest.fixture
def read(tmp_path):
    def go(content, options=ReadOptions(), name="t.csv"):  # noqa: B008
        (tmp_path / name).write_bytes(content if isinstance(content, bytes) else content.encode())
        table = read_table(tmp_path / name, options)
        return table.data.to_pydict(), [str(note) for note in table.notes]

    return go


# --- long lines -----------------------------------------------------------------------------------


@pytest.mark.parametrize("length", [10, 100])  # of names: the header is longer than 1 MiB
def test_lines_longer_than_the_first_sample(read, length):
    names = [f"{j:0{length}}x" for j in range(12_001)]
    row = ",".join(["1.5"] * 12_001)
    data, notes = read(",".join(names) + "\n" + f"{row}\n" * 3)
    assert list(data) == names
    assert (data[names[7]], notes) == ([1.5] * 3, [])


def test_titles_before_a_long_header(read):
    row = ",".join(["1.5"] * 20_000)
    data, notes = read(
        "made in 2024\n" + ",".join(f"gene_{j}" for j in range(20_000)) + f"\n{row}" * 3
    )
    assert len(data) == 20_000
    assert "the first line (such as 'made in 2024')" in notes[0]


# --- comments -------------------------------------------------------------------------------------


def test_rows_that_begin_with_a_number_sign_and_have_cells_are_not_comments(read):
    content = "ticket,x,y\n" + "A1,0.5,1\n" * 5 + "#1, late,0.5,1\n" * 3
    with pytest.raises(InputError, match="ragged: row 7 has 4 cells where the first row has 3"):
        read(content)


def test_comments_with_cells_are_rows_where_other_rows_begin_so_too(read):
    content = "ticket,x,y\n#1,a,b\n#2,b,a\n#3, late,a,c\n#4,a,b\n"
    with pytest.raises(InputError, match="ragged: row 4 has 4 cells"):
        read(content)


def test_many_comments_with_cells_are_rows(read):
    with pytest.raises(InputError, match="ragged: row 12 has 4 cells"):
        read("ticket,x,y\n" + "A1,u,v\n" * 10 + "#1, late,u,v\n" * 3)


def test_comments_are_counted_and_can_be_refused(read):
    content = "a,b,y\n1,2,3\n# a break\n4,5,6\n# lunch, long\n7,8,9\n"
    data, (note,) = read(content)
    assert data["a"] == [1, 4, 7]
    assert note == (
        "2 rows begin with '#' and were left out as comments (such as '# a break') "
        "(--no-fix layout leaves it)"
    )
    with pytest.raises(InputError, match="ragged: row 3 has 1 cell "):
        read(content, NO_LAYOUT)


# --- blanks before a quote ------------------------------------------------------------------------

BLANKS = 'a, b, y\n1, "Smith, J", 3\n4, "Miller, K", 6\n'


def test_blanks_before_a_quote(read):
    data, (note,) = read(BLANKS)
    assert data == {"a": [1, 4], "b": ["Smith, J", "Miller, K"], "y": [3, 6]}
    assert note.startswith("blanks between a delimiter and a quote were passed over")
    with pytest.raises(InputError, match="ragged"):
        read(BLANKS, NO_LAYOUT)


@pytest.mark.parametrize("last", ['1, "Smith, J", 3\n', '1, "Smith", 3\n'])
@pytest.mark.parametrize("name", ["t.csv", "t.csv.gz"])
def test_blanks_before_a_quote_in_the_last_row(read, last, name):
    content = ("a, b, y\n" + '1,"Miller, K",2\n' * 20_000 + last).encode()
    data, notes = read(gzip.compress(content) if name.endswith("gz") else content, name=name)
    assert data["b"][-1] in {"Smith, J", "Smith"}
    assert len(notes) == 1


def test_blanks_before_quotes_take_memory(read):
    content = "a, b, y\n" + '1, "Smith, J", 3\n' * 20_000
    with pytest.raises(MemoryError, match="needs at least"):
        read(content, ReadOptions(memory_limit="1200KiB"))


@pytest.mark.parametrize("n_before", [0, 20_000])
def test_inches_are_not_quotes(read, n_before):
    content = "a,b,y\n" + "1,2,3\n" * n_before + '1, "x,3\n' + "1,2,3\n" * 5 + '1, "z,3\n1,2,3\n'
    data, notes = read(content)
    assert len(data["y"]) == n_before + 8
    assert (set(data["y"]), notes) == ({3}, [])


def test_quotes_after_blanks_inside_a_cell_stay(read):
    content = 'a,b,y\n1,"he said, ""no""",3\n4,"x",6\n'
    data, notes = read(content)
    assert (data["b"], notes) == (['he said, "no"', "x"], [])


# --- codes ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("pack", [bytes, gzip.compress])
@pytest.mark.parametrize("code_at", [0, 15_000, 29_999])
@pytest.mark.parametrize("encoding", ["utf-8", "utf-16"])
def test_codes_anywhere_in_the_file(read, pack, code_at, encoding):
    codes = ["12345"] * 30_000
    codes[code_at] = "01234"
    lines = [f"{j},{code},{0.5 + j}" for j, code in enumerate(codes)]
    content = pack("\n".join(["x,zip,y", *lines]).encode(encoding))
    data, notes = read(content, name="t.csv" if pack is bytes else "t.csv.gz")
    assert data["zip"] == codes
    assert data["x"][:2] == [0, 1]
    assert any("'zip': codes with leading zeros, kept as text" in note for note in notes)


@pytest.mark.parametrize("cell", ["01234", '"01234"', " 01234 ", "01"])
@pytest.mark.parametrize("line_end", ["\n", "\r\n"])
def test_codes_however_they_are_written(read, cell, line_end):
    data, notes = read(line_end.join(["y,zip", *["1,12345"] * 9_000, f"2,{cell}"]))
    assert data["zip"][-1].strip() == cell.strip(' "')
    assert len(notes) == 1


def test_codes_across_the_pieces_in_which_the_file_is_looked_at(read, monkeypatch):
    monkeypatch.setattr("featsieve.io.lost_text.CHUNK", 7)
    for shift in range(8):
        data, _ = read("y,zip\n" + "1,12345\n" * 3 + f"{'1' * (shift + 1)},01234\n")
        assert data["zip"][-1] == "01234"


def test_numbers_with_zeros_before_them_are_numbers(read):
    data, notes = read("a,b,y\n0.5,00.5,01.02.2024\n-3,007,02.02.2024\n")
    assert (data["a"], data["b"], notes) == ([0.5, -3], [0.5, 7], [])
    data, _ = read("a,y\n01234,1\n2,3\n", ReadOptions(no_fix=frozenset({"codes"})))
    assert data["a"] == [1234, 2]


# --- thousands ------------------------------------------------------------------------------------


def test_thousands_of_a_file_with_decimal_commas_anywhere(read):
    data, _ = read("a;b\n" + "2.885;1\n" * 30_000 + "999;1,5\n")
    assert data["a"][0] == "2.885"


def test_points_that_may_separate_thousands_are_noted(read):
    content = "a;y\n2.885;1\n999;2\n12.345;3\n"
    data, (note,) = read(content)
    assert data["a"] == [2.885, 999, 12.345]
    assert "'a': the point in '2.885' was read as that of decimals" in note
    assert "--decimal , reads thousands" in note
    data, notes = read(content, ReadOptions(decimal=","))
    assert (data["a"], notes) == (["2.885", "999", "12.345"], [])
    data, notes = read(content, ReadOptions(decimal="."))
    assert (data["a"], notes) == ([2.885, 999, 12.345], [])


@pytest.mark.parametrize("cell", ["0.885", "2.88", "1234", "12.3456", "1.5"])
def test_points_that_cannot_separate_thousands(read, cell):
    _, notes = read(f"a;y\n2.885;1\n999;2\n{cell};3\n")
    assert notes == []


# --- words for gaps in the target -----------------------------------------------------------------

CLASSES = "a,y\n1,None\n2,yes\n3,None\n4,NA\n5,\n6,yes\n"


def test_words_for_gaps_in_the_target_are_counted(tmp_path):
    (tmp_path / "t.csv").write_text(CLASSES)
    table = read_table(tmp_path / "t.csv", ReadOptions(target="y"))
    assert table.gap_words == {"None": 2, "NA": 1}
    assert table.data.column("y").null_count == 4
    table = read_table(tmp_path / "t.csv", ReadOptions(target="y", no_fix=frozenset({"target"})))
    assert table.data.column("y").to_pylist() == ["None", "yes", "None", "NA", None, "yes"]


def test_words_for_gaps_in_the_target_of_a_sheet(tmp_path):
    book = pytest.importorskip("openpyxl").Workbook()
    for row in [("a", "y"), (1, "None"), (2, "yes"), (3, "None"), (4, None), (5, "no")]:
        book.active.append(row)
    book.save(tmp_path / "t.xlsx")
    table = read_table(tmp_path / "t.xlsx", ReadOptions(target="y"))
    assert table.gap_words == {"None": 2}
    assert table.data.column("y").to_pylist() == [None, "yes", None, None, "no"]
    table = read_table(tmp_path / "t.xlsx", ReadOptions(target="y", no_fix=frozenset({"target"})))
    assert table.data.column("y").to_pylist() == ["None", "yes", "None", None, "no"]


# --- blanks between columns -----------------------------------------------------------------------


def test_a_table_with_blanks_between_its_columns_hints_at_the_delimiter():
    with pytest.raises(InputError, match=r"its only column is 't x y'; say with --delimiter"):
        find_column("y", ["t x y"], "t.csv")
    with pytest.raises(InputError, match="did you mean"):
        find_column("yy", ["y1"], "t.csv")


def test_long_numbers_that_would_become_equal_stay_text(read):
    accounts = [f"1234567890123456{j:04d}" for j in range(30)]
    data, notes = read("x,account,y\n" + "".join(f"{j},{a},1\n" for j, a in enumerate(accounts)))
    assert data["account"] == accounts
    assert "'account': numbers of more digits than can be kept, kept as text" in notes[0]


def test_large_numbers_that_stay_different_are_numbers(read):
    data, notes = read("x,y\n" + "".join(f"{j + 1}{'0' * 20},{j}\n" for j in range(9)))
    assert (data["x"][1], notes) == (2e20, [])


# --- lines, quotes and delimiters -----------------------------------------------------------------


def with_open_quotes(at, column):
    rows = [[f"w{j % 3}", str(j), f"v{j % 4}", str(2 * j)] for j in range(60)]
    for number in at:
        rows[number][column] = '"' + rows[number][column]
    return "t,a,u,y\n" + "".join(",".join(row) + "\n" for row in rows)


@pytest.mark.parametrize("column", range(4))
@pytest.mark.parametrize(
    ("at", "words"), [((5, 50), "the next 45 lines, which seem"), ((5, 6), "the next line, which")]
)
def test_a_quote_that_is_not_closed_swallows_no_rows(read, at, words, column):
    content = with_open_quotes(at, column)
    with pytest.raises(InputError, match=f"t.csv has a quote that is not closed: .*{words}"):
        read(content)
    data, _ = read(content, NO_LAYOUT)
    assert len(data["t"]) == 60 - at[1] + at[0]


def test_text_of_several_lines_is_not_rows(read):
    content = "y,t\n" + "".join(f'{j},"Main St {j}\nTown, ST\nUSA"\n' for j in range(9))
    data, notes = read(content)
    assert (data["t"][0], notes) == ("Main St 0\nTown, ST\nUSA", [])


@pytest.mark.parametrize("options", [ReadOptions(), ReadOptions(header=False)])
def test_commas_of_decimals_are_no_delimiters(read, options):
    header = "a;y\n" if options.header else ""
    data, _ = read(header + "".join(f"{j},5;{j},25\n" for j in range(30)), options)
    assert next(iter(data.values()))[:2] == ["0,5", "1,5"]
    assert len(data) == 2


@pytest.mark.parametrize("letter", ["\x0b", "\x0c", "\x1c", "\x85", "\u2028"])
def test_only_line_ends_end_lines(read, letter):
    data, notes = read(f"a{letter}b,y\n1,2\n3,4\n")
    assert (data, notes) == ({f"a{letter}b": [1, 3], "y": [2, 4]}, [])


def test_titles_of_several_lines_in_quotes(read):
    data, notes = read('"A report\nof 2024\n(draft)"\na,y\n1,2\n3,4\n5,6\n')
    assert data == {"a": [1, 3, 5], "y": [2, 4, 6]}
    assert "the first 3 lines" in notes[0]


@pytest.mark.parametrize("blank", ["   ", "\t", "\x1a"])
def test_blank_lines_may_have_blanks(read, blank):
    data, notes = read(f"a,y\n1,2\n{blank}\n3,4\n{blank}")
    assert (data, notes) == ({"a": [1, 3], "y": [2, 4]}, [])


# --- names and endings ----------------------------------------------------------------------------


def test_endings_in_capitals(read):
    data, _ = read(gzip.compress(b"a,y\n1,2\n3,4\n"), name="T.CSV.GZ")
    assert data == {"a": [1, 3], "y": [2, 4]}


def test_a_name_that_is_not_utf_8(tmp_path):
    path = os.fsencode(tmp_path) + b"/b\xff.csv"
    try:
        with open(path, "wb") as stream:
            stream.write(b"a,y\n1,2\n3,4\n")
    except OSError:
        pytest.skip("this file system has names in UTF-8 only")
    assert read_table(os.fsdecode(path)).n_rows == 2


@pytest.mark.parametrize(
    ("name", "start", "words"),
    [
        ("t.csv", b"\n<!DOCTYPE html>", "t.csv is not a table, but a web page"),
        ("t.csv", b'[{"a": 1}]', "t.csv is not a table, but JSON"),
        ("t.csv", b"\xd0\xcf\x11\xe0\xa1", "a document of an old Office"),
        ("t.csv", b"BZh91AY&SY", "a file compressed by bzip2"),
        ("t.csv.xz", b"", "'t.csv.xz' is compressed by xz, which is not read here"),
    ],
)
def test_what_is_not_a_table_is_named(read, name, start, words):
    with pytest.raises(InputError, match=words):
        read(start, name=name)


def test_a_pipe_is_refused_before_it_makes_the_command_wait(tmp_path):
    os.mkfifo(tmp_path / "t.csv")
    with pytest.raises(InputError, match=r"is a pipe or a device, .* give - as the file"):
        read_table(tmp_path / "t.csv")
