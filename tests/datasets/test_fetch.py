"""Loading real data: what ships, and downloads against a stand-in for OpenML on loopback."""

from __future__ import annotations

import hashlib
import json
import threading
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import numpy as np
import pytest

from featsieve.datasets import dataset_names, fetch
from featsieve.datasets.catalog import ALIASES, BY_NAME, ENTRIES
from featsieve.datasets.openml import DownloadError, default_cache
from featsieve.errors import InputError

GLASS = "\n".join(
    [
        "@relation glass",
        "@attribute id numeric",
        "@attribute RI real",
        "@attribute maker {acme,'b, co'}",
        "@attribute Type {'build wind',headlamps}",
        "@data",
        "1,1.5,'b, co',headlamps",
        "2,?,acme,'build wind'",
        "3,1.7,?,headlamps",
    ]
).encode()


class Stand:
    """What the stand-in server answers, and what it was asked."""

    def __init__(self, body=GLASS, **changes):
        self.body = body
        self.requests: list[str] = []
        self.about = {
            "id": "41",
            "file_id": "99",
            "md5_checksum": hashlib.md5(body).hexdigest(),
            "default_target_attribute": "Type",
            "row_id_attribute": "id",
            "description": "pieces of glass",
        } | changes
        self.status = 200
        self.listing = {"data": {"dataset": [{"did": 41}]}}

    def answer(self, path):
        self.requests.append(path)
        if path.startswith("/data/v1/download/99"):
            return self.body
        if "/data/list/" in path:
            return json.dumps(self.listing).encode()
        return json.dumps({"data_set_description": self.about}).encode()


@contextmanager
def serving(stand):
    class Handler(BaseHTTPRequestHandler):
        def do_GET(self):
            body = stand.answer(self.path)
            self.send_response(stand.status)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_):
            """Quiet."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_address[1]}"
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


def get(url, home):
    return fetch("Glass", data_home=home, base_url=url, timeout=5)


def test_download_is_parsed_cached_and_not_asked_for_again(tmp_path):
    stand = Stand()
    with serving(stand) as url:
        glass = get(url, tmp_path)
        assert [path.split("/")[1:5] for path in stand.requests] == [
            ["api", "v1", "json", "data"],
            ["api", "v1", "json", "data"],
            ["data", "v1", "download", "99"],
        ]
        assert "/data_name/glass/limit/2/data_version/1" in stand.requests[0]
        again = get(url, tmp_path)
        assert len(stand.requests) == 3
    offline = get(url, tmp_path)  # the server is gone
    for answer in (glass, again, offline):
        nan = np.nan
        np.testing.assert_array_equal(answer.data, [[1.5, 1], [nan, 0], [1.7, nan]])
        assert answer.target.tolist() == ["headlamps", "build wind", "headlamps"]
        assert answer.feature_names == ["RI", "maker"]
        assert answer.categorical_features == [1]
        assert answer.categories == {1: ("acme", "b, co")}
        assert not answer.matches_paper
        assert answer.DESCR == "pieces of glass"


def test_a_harmed_cache_is_downloaded_again(tmp_path):
    stand = Stand()
    with serving(stand) as url:
        get(url, tmp_path)
        (kept,) = tmp_path.rglob("*.arff")
        kept.write_bytes(kept.read_bytes()[:-5])
        assert get(url, tmp_path).data.shape == (3, 2)
        assert len(stand.requests) == 4


def test_a_damaged_download_is_refused_and_not_kept(tmp_path):
    stand = Stand(md5_checksum="0" * 32)
    with serving(stand) as url, pytest.raises(DownloadError, match="damaged on the way: try again"):
        get(url, tmp_path)
    assert not list(tmp_path.rglob("*.arff*"))


@pytest.mark.parametrize(
    ("status", "words"), [(412, "has no such data set"), (500, "answered with error 500")]
)
def test_errors_of_the_server(tmp_path, status, words):
    stand = Stand()
    stand.status = status
    with serving(stand) as url, pytest.raises(DownloadError, match=words):
        get(url, tmp_path)
    assert not list(tmp_path.rglob("*.json"))


@pytest.mark.parametrize("listing", [{"data": {"dataset": []}}, ["?"], {}])
def test_an_answer_that_makes_no_sense(tmp_path, listing):
    stand = Stand()
    stand.listing = listing
    with (
        serving(stand) as url,
        pytest.raises(DownloadError, match="sent no description of 'glass'"),
    ):
        get(url, tmp_path)


@pytest.mark.parametrize(
    ("stand", "words"),
    [
        (Stand(default_target_attribute="nope"), "names the target 'nope', which its file does"),
        (Stand(GLASS.replace(b"glass", b"gl\xff")), "is not UTF-8"),
        (Stand(GLASS.replace(b",headlamps\n2", b",?\n2")), "the target 'Type' has missing cells"),
    ],
)
def test_files_that_do_not_fit_their_description(tmp_path, stand, words):
    with serving(stand) as url, pytest.raises(DownloadError, match=words):
        get(url, tmp_path)


def test_numeric_target_and_sparse_file(tmp_path):
    body = b"@attribute a real\n@attribute y real\n@data\n{0 2,1 5}\n{1 6.5}\n"
    stand = Stand(body, default_target_attribute="y", row_id_attribute=None)
    with serving(stand) as url:
        answer = fetch("housing", data_home=tmp_path, base_url=url)
    assert answer.target.tolist() == [5.0, 6.5]
    assert answer.data.toarray().tolist() == [[2.0], [0.0]]
    assert answer.task == "regression"


def test_offline_is_one_sentence(tmp_path):
    with pytest.raises(
        DownloadError, match=r"cannot be reached .*; go online and try again"
    ) as info:
        fetch("sonar", data_home=tmp_path, base_url="http://127.0.0.1:9", timeout=1)
    assert "\n" not in str(info.value)


@pytest.mark.parametrize("name", dataset_names(offline=True))
def test_shipped_sets_have_the_announced_size(name):
    answer = fetch(name)
    assert answer.matches_paper
    assert answer.target.shape == (BY_NAME[name].n_samples,)
    assert len(answer.feature_names) == answer.data.shape[1]


def test_names():
    assert set(ALIASES.values()) <= set(BY_NAME)
    assert len(BY_NAME) == len(ENTRIES) == len(dataset_names())
    assert fetch(" WINE ").data.shape == (178, 13)
    with pytest.raises(
        InputError, match=r"'sonor' is not a data set of the papers; did you mean sonar"
    ):
        fetch("sonor")
    with pytest.raises(InputError, match=r"dataset_names\(\) lists them all"):
        fetch("####")
    with pytest.raises(InputError, match=r"'speech' .in-house.* has no known public address"):
        fetch("speech")


def test_place_of_the_cache(monkeypatch, tmp_path):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.delenv("FEATSIEVE_DATA", raising=False)
    assert default_cache() == tmp_path / "featsieve"
    monkeypatch.setenv("FEATSIEVE_DATA", str(tmp_path / "mine"))
    assert default_cache() == tmp_path / "mine"
