"""Files of every format that is read, and damaged copies of them."""

from __future__ import annotations

import gzip
import io
import zipfile
from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet as pq
import scipy.sparse as sp

N_ROWS = 30

# What is put in place of a number or a word.
TOKENS = (
    *(b"", b"?", b"nan", b"-inf", b"1e999", b"-1e-999", b"1e308", b"0x10", b"1_000", b"1,5", b"-0"),
    *(b"99999999999999999999999", b"-9223372036854775809", b"4294967296", b"30000000", b"-1", b"0"),
    *(b"'", b'"', b"{", b"}", b"%", b"@data", b"#", b":", b"\\", b"\0", b"\n", b"\r", b"\xff\xfe"),
    *(
        b"\xef\xbb\xbf",
        b"\xc3",
        "\u2028".encode(),
        b"A" * 1000,
        b"9" * 400,
        b"(" * 300,
        b"\x1b[31m",
    ),
)


def _table() -> pa.Table:
    rng = np.random.default_rng(0)
    numbers = rng.normal(size=(N_ROWS, 2))
    return pa.table(
        {
            "a": numbers[:, 0],
            "count": rng.integers(50, size=N_ROWS),
            "word": np.array(["red", "green", "blue"])[rng.integers(3, size=N_ROWS)],
            "gaps": pa.array([None if i % 7 == 0 else float(i) for i in range(N_ROWS)]),
            "y": (numbers[:, 0] > 0).astype(int),
        }
    )


def _csv(separator: str = ",") -> bytes:
    options = pa.csv.WriteOptions(delimiter=separator, quoting_style="needed")
    out = io.BytesIO()
    pa.csv.write_csv(_table(), out, options)
    return out.getvalue()


def _arff() -> bytes:
    rows = [
        ",".join("?" if v is None else str(v) for v in row.values()) for row in _table().to_pylist()
    ]
    head = [
        *("% made by a test", "@relation 'a table'", "@attribute a numeric"),
        *("@attribute count integer", "@attribute word {red,'green',blue}"),
        *("@attribute gaps real", "@attribute y {0,1}", "@data"),
    ]
    return "\n".join([*head, *rows, ""]).encode()


def _sparse_arff() -> bytes:
    cells = ["{0 1.5, 2 b}", "{1 3, 3 1}", "{}", "{0 2, 3 1}"] * 5
    head = ["@relation s", "@attribute a numeric", "@attribute b numeric", "@attribute c {a,b}"]
    return "\n".join([*head, "@attribute y {0,1}", "@data", *cells, ""]).encode()


def _libsvm() -> bytes:
    rng = np.random.default_rng(1)
    rows = [
        f"{i % 2} " + " ".join(f"{j}:{v:.4g}" for j, v in enumerate(rng.normal(size=4), 1))
        for i in range(N_ROWS)
    ]
    return "\n".join(["# a comment", *rows, ""]).encode()


def _npz(**arrays: Any) -> bytes:
    out = io.BytesIO()
    np.savez_compressed(out, **arrays)
    return out.getvalue()


def _matrix_npz() -> bytes:
    X = np.random.default_rng(2).normal(size=(N_ROWS, 4))
    names = np.array(["a", "b", "c", "d"])
    return _npz(data=X, target=(X[:, 0] > 0).astype(int), feature_names=names)


def _columns_npz() -> bytes:
    X = np.random.default_rng(3).normal(size=(N_ROWS, 3)).astype(np.float32)
    return _npz(a=X[:, 0], b=X[:, 1], target=np.array(["no", "yes"])[(X[:, 2] > 0).astype(int)])


def _sparse_npz() -> bytes:
    out = io.BytesIO()
    sp.save_npz(out, sp.random(N_ROWS, 5, 0.4, random_state=0, format="csr"))
    return out.getvalue()


def _xlsx() -> bytes:
    import openpyxl

    book = openpyxl.Workbook()
    sheet = book.active
    sheet.append(_table().column_names)
    for row in _table().to_pylist():
        sheet.append(list(row.values()))
    out = io.BytesIO()
    book.save(out)
    return out.getvalue()


def _parquet() -> bytes:
    out = io.BytesIO()
    pq.write_table(_table(), out, row_group_size=12)
    return out.getvalue()


def _arrow(kind: Any = pa.ipc.new_file) -> bytes:
    out = io.BytesIO()
    table = _table()
    with kind(out, table.schema) as writer:
        writer.write_table(table, max_chunksize=12)
    return out.getvalue()


PLAIN: dict[str, Callable[[], bytes]] = {
    "csv": _csv,
    "tsv": lambda: _csv("\t"),
    "arff": _arff,
    "sparse.arff": _sparse_arff,
    "libsvm": _libsvm,
    "npz": _matrix_npz,
    "columns.npz": _columns_npz,
    "sparse.npz": _sparse_npz,
    "xlsx": _xlsx,
    "parquet": _parquet,
    "arrow": _arrow,
    "stream.arrow": lambda: _arrow(pa.ipc.new_stream),
}


def _gzip(content: bytes) -> bytes:
    return gzip.compress(content, mtime=0)


def _zstd(content: bytes) -> bytes:
    return bytes(pa.compress(content, codec="zstd", asbytes=True))


PACKED: dict[str, tuple[str, Callable[[bytes], bytes]]] = {
    "csv.gz": ("csv", _gzip),
    "arff.gz": ("arff", _gzip),
    "csv.zst": ("csv", _zstd),
}

FORMATS = (*PLAIN, *PACKED)


@cache
def sound(name: str) -> bytes:
    """A file that can be read."""
    if name in PLAIN:
        return PLAIN[name]()
    inner, pack = PACKED[name]
    return pack(PLAIN[inner]())


# --- damage --------------------------------------------------------------------------------------


def damaged(name: str, rng: Any) -> bytes:
    """A copy with some bytes changed: inside what is packed, or as it is on the disk."""
    if name in PACKED and rng.random() < 0.5:
        inner, pack = PACKED[name]
        return pack(_hit(PLAIN[inner](), rng))
    if name.endswith(("npz", "xlsx")) and rng.random() < 0.7:
        return _hit_member(sound(name), rng)
    return _hit(sound(name), rng)


def _hit_member(archive: bytes, rng: Any) -> bytes:
    """One member of a zip archive damaged, its checksum right again."""
    out = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(archive)) as old, zipfile.ZipFile(out, "w") as new:
        unlucky = rng.integers(len(old.namelist()))
        for position, member in enumerate(old.namelist()):
            content = old.read(member)
            new.writestr(member, _hit(content, rng) if position == unlucky else content)
    return out.getvalue()


def _hit(content: bytes, rng: Any) -> bytes:
    for _ in range(int(rng.integers(1, 5))):
        content = HITS[rng.integers(len(HITS))](content, rng)
    return content


def _span(content: bytes, rng: Any, longest: int = 64) -> tuple[int, int]:
    start = int(rng.integers(len(content) + 1))
    # Heads tell sizes and types: they are hit more often than their share.
    if rng.random() < 0.4:
        start = min(start, int(rng.integers(1, 200)))
    return start, min(len(content), start + int(rng.integers(1, longest)))


def _flip_bit(content: bytes, rng: Any) -> bytes:
    start, _ = _span(content, rng)
    changed = bytearray(content)
    if start < len(changed):
        changed[start] ^= 1 << int(rng.integers(8))
    return bytes(changed)


def _overwrite(content: bytes, rng: Any) -> bytes:
    start, stop = _span(content, rng, 9)
    noise = rng.bytes(stop - start) if rng.random() < 0.5 else b"\xff" * (stop - start)
    return content[:start] + noise + content[stop:]


def _remove(content: bytes, rng: Any) -> bytes:
    start, stop = _span(content, rng)
    return content[:start] + content[stop:]


def _repeat(content: bytes, rng: Any) -> bytes:
    start, stop = _span(content, rng)
    return content[:stop] + content[start:stop] * int(rng.integers(1, 20)) + content[stop:]


def _cut_off(content: bytes, rng: Any) -> bytes:
    return content[: int(rng.integers(len(content) + 1))]


def _insert_token(content: bytes, rng: Any) -> bytes:
    start, _ = _span(content, rng)
    return content[:start] + TOKENS[rng.integers(len(TOKENS))] + content[start:]


def _replace_token(content: bytes, rng: Any) -> bytes:
    """A number or word by another one."""
    start, stop = _span(content, rng)
    while start > 0 and content[start - 1 : start].isalnum():
        start -= 1
    stop = start
    while (
        stop < len(content)
        and content[stop : stop + 1] in b"0123456789.-+eE"
        and stop < len(content)
    ):
        stop += 1
    return content[:start] + TOKENS[rng.integers(len(TOKENS))] + content[max(stop, start) :]


def _swap(content: bytes, rng: Any) -> bytes:
    start, stop = _span(content, rng)
    other, end = _span(content, rng)
    return content[:start] + content[other:end] + content[stop:]


HITS = (
    *(_flip_bit, _overwrite, _remove, _repeat, _insert_token, _replace_token, _replace_token),
    *(_swap, _flip_bit, _cut_off),
)
