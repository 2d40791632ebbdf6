"""Every format in and out, and what readers say about files they cannot take."""

from __future__ import annotations

import gzip
import zipfile
from decimal import Decimal
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.feather as feather
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from featsieve.errors import InputError, MissingExtraError
from featsieve.io import read_table, write_table
from featsieve.io.model import ArrowTable, FileTable, MatrixTable, ReadOptions
from featsieve.io.notice import _perhaps_copies, _tells_all, notices
from featsieve.io.reader import FORMATS
from featsieve.io.row_sample import rows_of_parts
from featsieve.io.values import days_per_unit
from featsieve.io.writer import SHEET_ROWS, check_size

NUMBERS = pa.table({"a": [1.5, 2.0, -3.0], "b": [1, 0, 7], "y": [0.0, 1.0, 1.0]})
MIXED = pa.table(
    {
        "a": pa.array([1.5, None, -3.0]),
        "sex": pa.array(["f", "m", None]).dictionary_encode(),
        "odd, 'name'": pa.array([True, False, True]),
        "y": pa.array(["yes", "no", "yes"]),
    }
)
ALL = sorted(FORMATS)
WITH_TEXT = ["arff", "arrow", "csv", "parquet", "tsv"]


def write(table, folder, kind, target="y"):
    path = folder / f"table{FORMATS[kind][0]}"
    write_table([table], path, target=target)
    return path


def columns(split):
    """Values of X a column, states as text, whatever the container."""
    if hasattr(split.X, "column_names"):
        return {name: split.X.column(name).to_pylist() for name in split.names}
    dense = split.X if isinstance(split.X, np.ndarray) else split.X.toarray()
    return {name: dense[:, j].tolist() for j, name in enumerate(split.names)}


@pytest.mark.parametrize("kind", ALL)
def test_numbers_survive_every_format(tmp_path, kind):
    table = read_table(write(NUMBERS, tmp_path, kind))
    target = "target" if kind in {"libsvm", "npz"} else "y"
    split = table.split(target)
    names = ("X1", "X2") if kind == "libsvm" else ("a", "b")
    assert split.names == names
    assert list(columns(split).values()) == [[1.5, 2.0, -3.0], [1, 0, 7]]
    assert np.asarray(split.y).tolist() == [0, 1, 1]
    assert table.n_rows == 3


@pytest.mark.parametrize("kind", WITH_TEXT)
def test_text_missing_cells_and_odd_names_survive(tmp_path, kind):
    table = read_table(write(MIXED, tmp_path, kind))
    assert table.names == tuple(MIXED.column_names)
    (back,) = table.parts(table.names)
    assert back.column("sex").to_pylist() == ["f", "m", None]
    assert [None if v is None or v != v else v for v in back.column("a").to_pylist()] == [
        1.5,
        None,
        -3.0,
    ]
    assert back.column("odd, 'name'").to_pylist() == [True, False, True]
    split = table.split("y")
    assert split.y.tolist() == ["yes", "no", "yes"]
    if kind == "arff":
        assert split.categorical == [1]
    else:
        assert split.categorical == "from_dtype"


@pytest.mark.parametrize("kind", ["libsvm", "npz"])
def test_formats_of_numbers_refuse_text(tmp_path, kind):
    with pytest.raises(InputError, match="the column 'sex' holds text, which this format cannot"):
        write(MIXED, tmp_path, kind)
    assert list(tmp_path.iterdir()) == []


def test_libsvm_refuses_a_text_target_and_npz_keeps_it(tmp_path):
    table = MIXED.select(["a", "y"])
    with pytest.raises(InputError, match="the column 'y' holds text"):
        write(table, tmp_path, "libsvm")
    assert read_table(write(table, tmp_path, "npz")).split("target").y.tolist() == [
        "yes",
        "no",
        "yes",
    ]


@pytest.mark.parametrize("kind", ["csv", "tsv", "parquet", "arrow", "arff"])
def test_many_parts_make_one_file(tmp_path, kind):
    path = tmp_path / f"t{FORMATS[kind][0]}"
    write_table((MIXED.slice(j, 1) for j in range(3)), path, target="y")
    (back,) = read_table(path).parts(["sex", "y"])
    assert back.column("y").to_pylist() == ["yes", "no", "yes"]
    assert back.column("sex").to_pylist() == ["f", "m", None]


def text(folder, content, name="t.csv"):
    path = folder / name
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return path


def test_csv_types_delimiters_and_missing_words(tmp_path):
    path = text(tmp_path, "a;b;c;d\n1;1.5;x;true\n2;NA;?;false\n;3;y;true\n")
    (data,) = read_table(path).parts("abcd")
    assert data.to_pydict() == {
        "a": [1, 2, None],
        "b": [1.5, None, 3.0],
        "c": ["x", None, "y"],
        "d": [True, False, True],
    }


def test_csv_types_are_found_in_the_last_row_too(tmp_path):
    path = text(tmp_path, "a,b\n" + "1,2\n" * 600_000 + "1.5,word\n")
    (data,) = read_table(path).parts("ab")
    assert [str(kind) for kind in data.schema.types] == ["double", "string"]


def test_csv_encoding_bom_header_and_gzip(tmp_path):
    latin = text(tmp_path, "größe,y\n1,ä\n2,b\n".encode("latin-1"))
    table = read_table(latin, ReadOptions(encoding="latin-1"))
    assert table.names == ("größe", "y")
    assert table.split("y").y.tolist() == ["ä", "b"]
    assert read_table(text(tmp_path, "\ufeffa,b\n1,2\n")).names == ("a", "b")
    bare = read_table(text(tmp_path, "1,2\n3,4\n"), ReadOptions(header=False))
    assert (bare.names, bare.n_rows) == (("X1", "X2"), 2)
    packed = text(tmp_path, gzip.compress(b"a,b\n1,2\n"), "t.csv.gz")
    assert read_table(packed).names == ("a", "b")
    arff = text(tmp_path, gzip.compress(b"@attribute a real\n@data\n1\n"), "t.arff.gz")
    assert read_table(arff).n_rows == 1


@pytest.mark.parametrize(
    ("content", "sentence"),
    [
        ("", r"t\.csv is empty; give a file"),
        (" \n \n", r"t\.csv is empty"),
        ("a,b\n1,2\n3\n", r"t\.csv is ragged: row 3 has 1 cell where the first row has 2"),
        ("a,b\n1,2\n3,4\n5,6,7\n", r"row 4 has 3 cells where the first row has 2; fix that row"),
        ("a,b\n1,ü\n".encode("latin-1"), "is not UTF-8 text; give its encoding"),
        ("ä,b\n1,2\n".encode("latin-1"), "is not UTF-8 text"),
        (b"a,b\n" + b"1,2\n" * 20_000 + b"1,\xfc\n", "is not UTF-8 text"),
        ("a,b\n1,2\n".encode("utf-16"), r"t\.csv is not UTF-8 text"),
        ("a,b,a\n1,2,3\n", "has two columns named 'a'; give every column a name of its own"),
    ],
)
def test_bad_csv_gets_one_sentence(tmp_path, content, sentence):
    with pytest.raises(InputError, match=sentence) as info:
        read_table(text(tmp_path, content), ReadOptions(no_fix=frozenset({"encoding", "names"})))
    assert "\n" not in str(info.value)


def test_unknown_encoding(tmp_path):
    with pytest.raises(InputError, match="the encoding 'klingon' is not known"):
        read_table(text(tmp_path, "a\n1\n"), ReadOptions(encoding="klingon"))


def test_truncated_and_foreign_binary_files(tmp_path):
    for kind in ("parquet", "arrow"):
        path = write(NUMBERS, tmp_path, kind)
        path.write_bytes(path.read_bytes()[:-30])
        with pytest.raises(InputError, match=r"is not a complete \w+ file, or it is damaged"):
            read_table(path)
        path.write_bytes(b"")
        with pytest.raises(InputError, match=r"is not a complete \w+ file, or it is damaged"):
            read_table(path)
    with pytest.raises(InputError, match=r"t\.npz cannot be read as NPZ"):
        read_table(text(tmp_path, b"PK\x03\x04 nonsense", "t.npz"))
    with pytest.raises(InputError, match="is not a LIBSVM file"):
        read_table(text(tmp_path, b"\x01\x02 nonsense", "t.libsvm"))
    with pytest.raises(InputError, match="is not a complete compressed file"):
        read_table(text(tmp_path, gzip.compress(b"@attribute a real\n" * 99)[:-9], "t.arff.gz"))
    with pytest.raises(InputError, match="is not UTF-8"):
        read_table(text(tmp_path, b"@attribute \xff real\n@data\n1\n", "t.arff"))


def test_nested_and_duplicate_columns_of_parquet(tmp_path):
    pq.write_table(pa.table({"a": [[1], [2]], "y": [0, 1]}), tmp_path / "n.parquet")
    with pytest.raises(InputError, match=r"the column 'a' of n\.parquet holds nested values"):
        read_table(tmp_path / "n.parquet").split("y")
    assert read_table(tmp_path / "n.parquet").without(["a"]).split("y").names == ()
    twice = pa.table([[1, 2], [3, 4]], names=["a", "a"])
    pq.write_table(twice, tmp_path / "d.parquet")
    with pytest.raises(InputError, match=r"d\.parquet has two columns named 'a'"):
        read_table(tmp_path / "d.parquet")


def test_feather_and_arrow_streams(tmp_path):
    feather.write_feather(NUMBERS, tmp_path / "t.feather")
    assert read_table(tmp_path / "t.feather").names == ("a", "b", "y")
    with (
        pa.OSFile(str(tmp_path / "s.arrow"), "wb") as out,
        pa.ipc.new_stream(out, NUMBERS.schema) as s,
    ):
        s.write_table(NUMBERS)
    assert read_table(tmp_path / "s.arrow").n_rows == 3


def test_parquet_beyond_the_limit_stays_on_the_disk(tmp_path):
    path = tmp_path / "big.parquet"
    pq.write_table(pa.table({"a": np.arange(9000.0), "y": np.arange(9000.0)}), path)
    assert isinstance(read_table(path), ArrowTable)
    table = read_table(path, ReadOptions(memory_limit="200KB"))
    assert isinstance(table, FileTable)
    assert (table.names, table.n_rows, table.split("y").names) == (("a", "y"), 9000, ("a",))
    assert sum(part.num_rows for part in table.parts(["a"])) == 9000
    assert table.without(["a"]).names == ("y",)


def test_other_formats_beyond_the_limit_are_refused(tmp_path):
    with pytest.raises(
        InputError, match="the memory limit is 10 B; raise --memory-limit, or convert"
    ):
        read_table(text(tmp_path, "a,b\n1,2\n3,4\n"), ReadOptions(memory_limit=10))


@pytest.mark.parametrize(
    ("arrays", "sentence"),
    [
        ({"data": np.eye(3), "y": [1, 2]}, r"'y' of t\.npz has 2 rows where others have 3"),
        ({"X": np.eye(3), "feature_names": ["a"]}, "names 1 columns in feature_names, but its"),
        ({"a": np.eye(3), "b": [1]}, "holds a, b; give a two-dimensional array"),
        ({}, "holds nothing; give"),
        ({"a": [1.0, 2.0], "b": [1j, 2j]}, "'b' of t.npz holds complex128; save real numbers"),
        ({"data": np.array([{}, {}])}, "cannot be read as NPZ"),
    ],
)
def test_bad_npz(tmp_path, arrays, sentence):
    np.savez(tmp_path / "t.npz", **arrays)
    with pytest.raises(InputError, match=sentence):
        read_table(tmp_path / "t.npz")


@pytest.mark.parametrize("order", "<>")
def test_npz_of_another_machine_s_byte_order(tmp_path, order):
    rng = np.random.default_rng(0)
    arrays = {
        "data": rng.normal(size=(6, 2)).astype(f"{order}f8"),
        "target": np.array(["u", "v", "w"] * 2).astype(f"{order}U1"),
    }
    np.savez(tmp_path / "t.npz", **arrays)
    table = read_table(tmp_path / "t.npz")
    parts = list(table.parts(["X2", "target"]))
    assert parts[0]["X2"].to_pylist() == arrays["data"][:, 1].tolist()
    assert table.split("target").y.tolist() == arrays["target"].tolist()


def test_npz_of_columns(tmp_path):
    np.savez(tmp_path / "t.npz", a=[1, 2], b=[0.5, 1], kind=["u", "v"])
    split = read_table(tmp_path / "t.npz").split("kind")
    assert split.names == ("a", "b")
    assert split.y.tolist() == ["u", "v"]


def test_paths_that_are_no_readable_file(tmp_path, monkeypatch):
    text(tmp_path, "a\n1\n", "wine.csv")
    with pytest.raises(InputError, match=r"there is no file .*; did you mean 'wine.csv'\?"):
        read_table(tmp_path / "wime.csv")
    with pytest.raises(InputError, match="check the path"):
        read_table(tmp_path / "nowhere" / "x.csv")
    with pytest.raises(InputError, match=r"no \*\.parquet file is in the folder"):
        read_table(tmp_path)
    with pytest.raises(InputError, match=r"'t.docx' has no ending that tells its format; name it"):
        read_table(text(tmp_path, "", "t.docx"))

    def denied(self, *_):
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(Path, "open", denied)
    with pytest.raises(InputError, match=r"may not be read \(permission denied\)"):
        read_table(tmp_path / "wine.csv")


def test_missing_pyarrow_is_named_with_its_command(tmp_path, monkeypatch):
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    with pytest.raises(MissingExtraError, match=r"pip install .featsieve\[cli\]"):
        read_table(text(tmp_path, "a\n1\n"))


@pytest.mark.parametrize(
    ("name", "hint"),
    [
        ("Alcohl", "did you mean 'alcohol'?"),
        ("zzz", "it has 'alcohol', 'ash', 'hue'."),
    ],
)
def test_unknown_column_gets_the_nearest(name, hint):
    table = ArrowTable(pa.table({"alcohol": [1], "ash": [2], "hue": [3]}), "wine.csv")
    with pytest.raises(InputError) as info:
        table.split(name)
    assert str(info.value) == f"wine.csv has no column {name!r}; {hint}"


def test_dropping_columns_keeps_states_in_place():
    matrix = np.array([[1.0, 0.0, 5.0], [np.nan, 1.0, 6.0]])
    table = MatrixTable(matrix, ("a", "b", "c"), "t.arff", {1: ("u", "v")}, {"t": np.arange(2)})
    less = table.without(["a", "t"])
    assert (less.names, less.categories) == (("b", "c"), {0: ("u", "v")})
    assert less.split("c").categorical == [0]
    assert less.split("b").y.tolist() == ["u", "v"]
    assert table.split("t").names == ("a", "b", "c")


def test_a_column_without_any_value_is_one_of_missing_numbers(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("a,b\n1,\n2,\n")
    assert np.isnan(read_table(path).split("a").X.column("b").to_numpy()).all()


# --- memory: what is compressed or declared is counted before it is taken -------------------------


def limited(megabytes):
    return ReadOptions(memory_limit=megabytes * 10**6)


def test_a_small_archive_of_large_arrays_is_refused(tmp_path):
    np.savez_compressed(tmp_path / "t.npz", data=np.zeros((10_000, 500)), target=np.zeros(10_000))
    assert (tmp_path / "t.npz").stat().st_size < 100_000
    with pytest.raises(MemoryError, match=r"t\.npz needs at least 38\.\d MiB"):
        read_table(tmp_path / "t.npz", limited(20))


@pytest.mark.parametrize("name", ["t.csv.gz", "t.arff.gz"])
def test_a_small_compressed_text_is_refused(tmp_path, name):
    head = "@attribute a real\n@attribute b real\n@data\n" if "arff" in name else "a,b\n"
    with gzip.open(tmp_path / name, "wt") as stream:
        stream.write(head + "1,2\n" * 10**6)
    with pytest.raises(MemoryError, match="raise --memory-limit"):
        read_table(tmp_path / name, limited(1))


@pytest.mark.parametrize("form", ["file", "stream"])
def test_a_small_compressed_arrow_file_is_refused(tmp_path, form):
    zeros = pa.table({"a": np.zeros(10**6), "y": np.zeros(10**6)})
    open_writer = pa.ipc.new_file if form == "file" else pa.ipc.new_stream
    options = pa.ipc.IpcWriteOptions(compression="zstd")
    with (
        pa.OSFile(str(tmp_path / "t.arrow"), "wb") as out,
        open_writer(out, zeros.schema, options=options) as writer,
    ):
        writer.write_table(zeros, max_chunksize=1000)
    assert (tmp_path / "t.arrow").stat().st_size < 10**6
    with pytest.raises(MemoryError, match=r"t\.arrow needs at least .* raise --memory-limit"):
        read_table(tmp_path / "t.arrow", limited(2))
    assert read_table(tmp_path / "t.arrow", limited(20)).n_rows == 10**6


def test_parquet_is_budgeted_by_its_cells_not_by_its_encoding(tmp_path):
    zeros = pa.table({"a": np.zeros(10**6), "y": ["a long text " * 5] * 10**6})
    pq.write_table(zeros, tmp_path / "t.parquet")
    assert (tmp_path / "t.parquet").stat().st_size < 100_000
    assert isinstance(read_table(tmp_path / "t.parquet", limited(20)), FileTable)


def test_a_small_workbook_of_many_texts_is_refused(tmp_path):
    pytest.importorskip("openpyxl").Workbook().save(tmp_path / "t.xlsx")
    with zipfile.ZipFile(tmp_path / "t.xlsx", "a", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("xl/more.xml", b" " * 10**7)
    with pytest.raises(MemoryError, match=r"t\.xlsx needs at least 9\.\d MiB"):
        read_table(tmp_path / "t.xlsx", limited(5))


def test_dense_text_is_budgeted_by_its_cells(tmp_path):
    (tmp_path / "t.arff").write_text("@attribute a real\n@data\n" + "1\n" * 400_000)
    with pytest.raises(MemoryError):
        read_table(tmp_path / "t.arff", limited(4))
    assert read_table(tmp_path / "t.arff", limited(10)).n_rows == 400_000


@pytest.mark.parametrize("index", [30_000_000, 10**12, 2**63])
def test_a_huge_index_of_libsvm_is_one_sentence(tmp_path, index):
    (tmp_path / "t.svm").write_text(f"1 {index}:2\n0 1:1\n")
    with pytest.raises(InputError, match=r"t\.svm (has an index of|is not a LIBSVM file)"):
        read_table(tmp_path / "t.svm")


@pytest.mark.parametrize("kind", ["csr", "csc", "coo"])
def test_a_sparse_archive_of_scipy(tmp_path, kind):
    import scipy.sparse as sp

    cells = np.random.default_rng(0).normal(size=(20, 4))
    X = sp.coo_array(np.where(cells > 0.3, cells, 0.0)).asformat(kind)
    sp.save_npz(tmp_path / "t.npz", X)
    table = read_table(tmp_path / "t.npz")
    assert table.names == ("X1", "X2", "X3", "X4")
    np.testing.assert_array_equal(table.matrix.toarray(), X.toarray())


def test_zstd_and_txt(tmp_path):
    content = b"a;b\n1;2\n3;4\n"
    with pa.output_stream(str(tmp_path / "t.csv.zst"), compression="zstd") as stream:
        stream.write(content)
    (tmp_path / "t.txt").write_bytes(content)
    assert read_table(tmp_path / "t.csv.zst").data == read_table(tmp_path / "t.txt").data


def test_formulas_are_neutral_in_csv_and_kept_on_demand(tmp_path):
    data = pa.table({"=cmd()": ["+1+1", "-3", "plain"], "y": [1, 2, 3]})
    for neutralize, first, cell in ((True, "'=cmd()", "'+1+1"), (False, "=cmd()", "+1+1")):
        write_table([data], tmp_path / "t.csv", target="y", neutralize=neutralize)
        table = read_table(tmp_path / "t.csv").data
        assert table.column_names[0] == first
        assert table.column(0).to_pylist() == [cell, "-3", "plain"]


def test_a_sparse_archive_that_lies_is_one_sentence(tmp_path):
    path = tmp_path / "t.npz"
    parts = {"format": "csr", "data": np.ones(2), "indices": [0, 10**6], "indptr": [0, 1, 2]}
    np.savez(path, shape=[2, 3], **parts)  # an index outside of the matrix
    with pytest.raises(InputError, match=r"t\.npz is not a whole sparse matrix \(.*\); write it"):
        read_table(path)
    np.savez(path, shape=[2, 3], **parts | {"indices": [0, 1], "indptr": [0, 10**8, 0]})
    with pytest.raises(InputError, match=r"\(its indices do not fit its shape\)"):
        read_table(path)  # it says that it stores nothing, and then names cells far away
    np.savez(path, shape=[2, 10**9], **parts)
    with pytest.raises(InputError, match=r"t\.npz has an index of 1,000,000,000"):
        read_table(path)
    rows = {"format": "coo", "data": np.ones(1), "row": [0], "col": [0], "shape": [10**9, 3]}
    np.savez(path, **rows)
    with pytest.raises(InputError, match=r"t\.npz needs at least .* in memory"):
        read_table(path)


def test_text_that_is_not_unicode_is_one_sentence(tmp_path):
    path = tmp_path / "t.npz"
    broken = np.array([0x110000, 0xD800], dtype="u4").view("U1")
    np.savez(path, a=np.ones(2), target=broken)
    with pytest.raises(InputError, match=r"cannot be read as NPZ .*not Unicode"):
        read_table(path)


@pytest.mark.parametrize(
    ("start", "name", "what"),
    [
        (b"\x1f\x8b\x08\x00 nonsense", "t.csv", r"compressed by gzip \(\.csv\.gz\)"),
        (b"PK\x03\x04 nonsense", "t.tsv", r"a zip archive, as Excel's tables"),
        (b"PAR1 nonsense", "t.csv", r"Parquet \(\.parquet\)"),
        (b"ARROW1 nonsense", "t.libsvm", r"Arrow \(\.arrow\)"),
    ],
)
def test_the_first_bytes_tell_the_format_of_a_wrong_ending(tmp_path, start, name, what):
    with pytest.raises(InputError, match=f"{name} is not text, but {what}.*; give it that ending"):
        read_table(text(tmp_path, start, name))


@pytest.mark.parametrize("kind", ["feather", "parquet", "on the disk"])
def test_what_polars_writes_is_read(tmp_path, kind):
    """Views of text, and states with unsigned codes."""
    pl = pytest.importorskip("polars")
    words, letters = ["u", "v", None, "u"] * 10, ["b", "a"] * 20
    frame = pl.DataFrame(
        {"s": words, "c": pl.Series(letters, dtype=pl.Categorical), "y": range(40)}
    )
    path = tmp_path / ("t.arrow" if kind == "feather" else "t.parquet")
    frame.write_ipc(path) if kind == "feather" else frame.write_parquet(path)
    table = read_table(path, ReadOptions(memory_limit=60 if kind == "on the disk" else "1GiB"))
    assert isinstance(table, FileTable if kind == "on the disk" else ArrowTable)
    part = pa.concat_tables(table.parts(["s", "c"]))
    assert part.to_pydict() == {"s": words, "c": letters}
    assert rows_of_parts([part], np.array([0, 2])).column("s").to_pylist() == ["u", None]


def test_decimals_and_dictionaries_of_numbers_are_numbers(tmp_path):
    prices = pa.array([Decimal("1.5"), None, Decimal("-3")])
    table = pa.table(
        {"a": [1, 2, 3], "y": prices, "z": pa.array([0.5, 2.5, 0.5]).dictionary_encode()}
    )
    pq.write_table(table, tmp_path / "t.parquet")
    read = read_table(tmp_path / "t.parquet")
    np.testing.assert_array_equal(read.split("y").y, [1.5, np.nan, -3.0])
    np.testing.assert_array_equal(read.split("z").y, [0.5, 2.5, 0.5])


def test_arrays_of_npz_that_cannot_be(tmp_path):
    X = np.arange(12.0).reshape(6, 2)
    path = tmp_path / "t.npz"
    np.savez(path, data=X, target=X[:, [0]])
    assert read_table(path).split("target").y.tolist() == X[:, 0].tolist()
    for arrays, sentence in (
        ({"data": X, "target": X}, r"'target' of t\.npz has the shape \(6, 2\)"),
        ({"data": X + 1j, "target": X[:, 0]}, "holds complex128, not real numbers"),
        (
            {"data": X, "target": X[:, 0], "feature_names": ["a", "target"]},
            "has two columns named 'target'",
        ),
    ):
        np.savez(path, **arrays)
        with pytest.raises(InputError, match=sentence):
            read_table(path)


def excel(folder, rows):
    openpyxl = pytest.importorskip("openpyxl")
    book = openpyxl.Workbook()
    for row in rows:
        book.active.append(row)
    book.save(folder / "t.xlsx")
    return folder / "t.xlsx"


def test_headers_of_excel_are_put_right_as_those_of_csv_are(tmp_path):
    rows = [["A title", None, None, None], [" y ", "a", None, "a"], [1, 2, 3, 4], [5, 6, 7, 8]]
    table = read_table(excel(tmp_path, rows))
    assert table.names == ("y", "a", "column 3", "a_2")
    assert [note.fix for note in table.notes] == ["layout", "names", "names"]
    assert table.n_rows == 2
    plain = ReadOptions(no_fix=frozenset({"names"}))
    with pytest.raises(InputError, match="two columns named 'a'"):
        read_table(tmp_path / "t.xlsx", plain)


def test_text_stays_text_in_excel(tmp_path):
    openpyxl = pytest.importorskip("openpyxl")
    texts = pa.table({"=1+1": ["=1+0", "-x", "plain"], "y": [1.0, None, 2.0]})
    write_table([texts], tmp_path / "t.xlsx", target="y")
    sheet = openpyxl.load_workbook(tmp_path / "t.xlsx").active
    assert [cell.data_type for row in sheet["A1:A4"] for cell in row] == ["s"] * 4
    assert read_table(tmp_path / "t.xlsx").split("y").names == ("=1+1",)
    with pytest.raises(InputError, match="'c' holds a control character, which"):
        write_table([pa.table({"c": ["\x01"], "y": [1]})], tmp_path / "u.xlsx", target="y")
    assert not (tmp_path / "u.xlsx").exists()


def test_a_sheet_has_an_end(tmp_path):
    check_size(tmp_path / "t.csv", SHEET_ROWS)
    check_size(tmp_path / "t.xlsx", SHEET_ROWS - 1)
    with pytest.raises(InputError, match=r"has 1,048,576 rows at most.*would need 1,048,577"):
        check_size(tmp_path / "t.xlsx", SHEET_ROWS)


def noted(table, target="y", task="auto"):
    return " ".join(map(str, notices(table, target, task)))


def test_large_integers_are_told_apart_in_notes():
    large = 2**60 + np.arange(40) % 10
    table = pa.table({"a": large, "b": large + 1, "c": large, "y": np.arange(40.0) ** 2})
    words = noted(table)
    assert "the same value in every row" not in words
    assert "'b' is a copy" not in words
    assert "'c' is a copy of 'a'" in words


def test_text_is_no_copy_of_numbers_in_whose_order_it_stands():
    table = pa.table({"name": [f"n{i * 7 % 40}" for i in range(40)], "y": np.arange(40.0) / 3})
    assert "tells the target exactly" not in noted(table)
    assert "tells the target exactly" in noted(
        pa.table({"name": ["a", "b"] * 20, "y": ["u", "v"] * 20})
    )


def test_intervals_are_no_dates():
    months = pa.array([pa.MonthDayNano([1, 0, 0])])
    assert days_per_unit(months.type) is None


@given(seed=st.integers(0, 2**32 - 1), n=st.integers(12, 60))
@settings(deadline=None, max_examples=60)
def test_a_quick_look_misses_no_copy(seed, n):
    """Columns that do not follow the target in a few rows are left out before the full look."""
    rng = np.random.default_rng(seed)
    y = rng.choice([rng.normal(size=n), rng.lognormal(sigma=3, size=n), rng.integers(0, 9, n)])
    near = -3 * y + 1e-6 * np.std(y) * rng.normal(size=n)
    features = {
        "copy": 2 * y + 1,
        "near": near,
        "rank": np.argsort(np.argsort(y)) ** 3.0,
        "gaps": np.where(np.arange(n) % 5 == 0, np.nan, y),
        "constant": np.ones(n),
        **{f"noise{j}": rng.normal(size=n) for j in range(5)},
    }
    suspects = _perhaps_copies(features, y)
    assert {name for name, x in features.items() if _tells_all(x, y, False)} <= set(suspects)
