"""The ARFF parser: both forms, quoting, missing cells, and what it says about damaged files."""

from __future__ import annotations

from io import StringIO

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from featsieve.errors import InputError
from featsieve.io.arff import parse_arff, split_cells, unquote

DENSE = r"""% a comment
@RELATION 'my data'
@attribute 'a b' numeric
@ATTRIBUTE c {x,'y z', "it's"}
@attribute	d string
@attribute e date "yyyy-MM-dd"
@attribute f INTEGER

@DATA
1.5,'y z',hello,"2020-01-01",3
?,?,'a, \'b',?,?
% in between
2,"it's",hello,?,-1e3
"""


def parse(text):
    return parse_arff(StringIO(text), "file.arff")


def test_dense_file_with_all_types():
    data = parse(DENSE)
    assert data.relation == "my data"
    assert data.names == ("a b", "c", "d", "e", "f")
    assert data.categories == {
        1: ("x", "y z", "it's"),
        2: ("hello", "a, 'b"),
        3: ("2020-01-01",),
    }
    nan = np.nan
    expected = [[1.5, 1, 0, 0, 3], [nan, nan, 1, nan, nan], [2, 2, 0, nan, -1000]]
    np.testing.assert_array_equal(data.matrix, expected)


def test_sparse_file_stays_sparse_and_absent_cells_are_the_first_state():
    data = parse(
        "@relation s\n@attribute a numeric\n@attribute b {u,v}\n@attribute c {'p, q',r}\n@data\n"
        "{0 3, 1 v}\n{}\n{2 r}\n{0 ?, 2 'p, q'}\n"
    )
    assert data.matrix.format == "csr"
    expected = [[3, 1, 0], [0, 0, 0], [0, 0, 1], [np.nan, 0, 0]]
    np.testing.assert_array_equal(data.matrix.toarray(), expected)


def test_instance_weights_and_empty_data_and_bom():
    assert parse("\ufeff@attribute a real\n@data\n1, {2.5}\n").matrix.tolist() == [[1.0]]
    assert parse("@attribute a real\n@attribute b real\n@data\n").matrix.shape == (0, 2)


HEAD = "@attribute a real\n@attribute b {u,v}\n"


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("", "file.arff has no @data line"),
        ("a,b\n1,2\n", "line 1 of file.arff is 'a,b'; an ARFF header has only"),
        ("@data\n1\n", "file.arff declares no @attribute before @data"),
        ("@attribute a\n@data\n", "line 1 of file.arff declares @attribute 'a'; write"),
        ("@attribute a relational\n@data\n", "gives column 'a' the type 'relational'; numeric"),
        (HEAD + "@data\n1\n", r"line 4 of file.arff cannot be read \(1 cells for 2 attributes\)"),
        (HEAD + "@data\n1,w\n", "'w' is not a state of 'b'"),
        (HEAD + "@data\nx,u\n", "could not convert string to float: 'x'"),
        (HEAD + "@data\n1,'u\n", "a quote that is not closed"),
        (HEAD + "@data\n{5 1}\n", "index 5 for 2 attributes"),
        (HEAD + "@data\n{0 1\n", "line 4 of file.arff cannot be read"),
        (HEAD + "@data\n1,u\n{0 1}\n", "line 5 of file.arff mixes sparse and dense rows"),
    ],
)
def test_damaged_files_get_one_sentence(text, sentence):
    with pytest.raises(InputError, match=sentence):
        parse(text)


TEXTS = st.text(st.characters(exclude_categories=("C",)), max_size=8)


@given(st.lists(TEXTS, min_size=1, max_size=5))
def test_quoted_cells_come_back_as_they_were(texts):
    cells = ["'" + text.replace("\\", "\\\\").replace("'", "\\'") + "'" for text in texts]
    assert [unquote(cell) for cell in split_cells(" , ".join(cells))] == texts


def test_a_state_that_is_declared_twice_is_one_state():
    data = parse("@attribute a real\n@attribute b {u, v, u}\n@data\n1,u\n2,v\n3,u\n")
    assert data.categories == {1: ("u", "v")}
    assert data.matrix[:, 1].tolist() == [0.0, 1.0, 0.0]


@pytest.mark.parametrize(
    ("pattern", "cell", "state"),
    [
        ("'MM/dd/yyyy'", "02/03/2020", "2020-02-03"),
        ('"dd/MM/yyyy"', "02/03/2020", "2020-03-02"),
        ("'dd.MM.yy HH:mm'", "02.03.20 10:30", "2020-03-02 10:30:00"),
        ("\"yyyy-MM-dd'T'HH:mm:ss\"", "2020-03-02T10:30:05", "2020-03-02 10:30:05"),
        ("'MM/dd/yyyy'", "31/31/2020", "31/31/2020"),
        ("'ww yyyy'", "07 2020", "07 2020"),
        ("", "02/03/2020", "02/03/2020"),
    ],
)
def test_dates_are_read_by_the_format_that_the_file_declares(pattern, cell, state):
    data = parse(f"@attribute a date {pattern}\n@attribute b numeric\n@data\n'{cell}',1\n")
    assert data.categories == {0: (state,)}


def test_numbers_may_be_quoted():
    data = parse("@attribute a numeric\n@data\n'1.5'\n\"-2\"\n?\n")
    assert data.matrix[:2, 0].tolist() == [1.5, -2]


@pytest.mark.parametrize("row", ["1,u,{2}", "{0 1, 1 v}, {2}"])
def test_weights_of_rows_are_seen(row):
    data = parse(HEAD + f"@data\n{row}\n")
    assert data.has_weights
    assert data.matrix.shape == (1, 2)
