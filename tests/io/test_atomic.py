"""A file is there whole or not at all."""

from __future__ import annotations

import errno
import os
import stat

import pytest

from featsieve.errors import InputError
from featsieve.io.atomic import atomic_write
from tests.commands import run_tool


def names(folder):
    return sorted(path.name for path in folder.iterdir())


def test_writes_and_replaces_and_keeps_permissions(tmp_path):
    path = tmp_path / "out.bin"
    path.write_bytes(b"old")
    path.chmod(0o640)
    with atomic_write(path) as stream:
        stream.write(b"new")
        assert path.read_bytes() == b"old"
    assert path.read_bytes() == b"new"
    assert stat.S_IMODE(path.stat().st_mode) == 0o640
    assert names(tmp_path) == ["out.bin"]


def test_new_file_obeys_the_umask(tmp_path):
    mask = os.umask(0o027)
    try:
        with atomic_write(tmp_path / "new") as stream:
            stream.write(b"x")
    finally:
        os.umask(mask)
    assert stat.S_IMODE((tmp_path / "new").stat().st_mode) == 0o640


def test_an_error_half_way_leaves_the_old_file(tmp_path):
    path = tmp_path / "out.bin"
    path.write_bytes(b"old")

    def half() -> None:
        with atomic_write(path) as stream:
            stream.write(b"half")
            raise RuntimeError("stopped")

    with pytest.raises(RuntimeError, match="stopped"):
        half()
    assert path.read_bytes() == b"old"
    assert names(tmp_path) == ["out.bin"]


@pytest.mark.parametrize(
    ("number", "words"),
    [(errno.ENOSPC, "the disk is full"), (errno.EROFS, "read-only"), (errno.EIO, "choose another")],
)
def test_failing_disk_leaves_nothing(tmp_path, monkeypatch, number, words):
    def fail(_handle):
        raise OSError(number, os.strerror(number))

    monkeypatch.setattr(os, "fsync", fail)
    with pytest.raises(InputError, match=f"cannot write '.*out': .*{words}.* .nothing was written"):  # noqa: SIM117
        with atomic_write(tmp_path / "out") as stream:
            stream.write(b"x")
    assert names(tmp_path) == []


def test_a_file_that_may_not_grow_leaves_nothing(tmp_path):
    """A real failing write (the kernel's limit on file size), not an imitated one."""
    code = (
        "import resource, signal, sys\n"
        "from featsieve.io.atomic import atomic_write\n"
        "signal.signal(signal.SIGXFSZ, signal.SIG_IGN)\n"
        "resource.setrlimit(resource.RLIMIT_FSIZE, (1000, 1000))\n"
        "with atomic_write(sys.argv[1]) as stream:\n"
        "    stream.write(b'x' * 100_000)\n"
    )
    done = run_tool("-c", code, str(tmp_path / "out"))
    assert "InputError: cannot write" in done.stderr
    assert "larger than is allowed here" in done.stderr
    assert names(tmp_path) == []


@pytest.mark.parametrize(
    ("place", "words"), [("", "it is a folder"), ("no/such", "its folder does not exist")]
)
def test_impossible_places(tmp_path, place, words):
    with pytest.raises(InputError, match=words), atomic_write(tmp_path / place):
        pass


def test_a_link_stays_a_link_and_a_device_stays_a_device(tmp_path):
    (tmp_path / "real").write_bytes(b"old")
    (tmp_path / "link").symlink_to(tmp_path / "real")
    with atomic_write(tmp_path / "link") as stream:
        stream.write(b"new")
    assert (tmp_path / "link").is_symlink()
    assert (tmp_path / "real").read_bytes() == b"new"
    with atomic_write(os.devnull) as stream:
        stream.write(b"gone")
    assert not os.path.isfile(os.devnull)
