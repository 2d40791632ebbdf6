"""SIGTERM ends a command as an error would: nothing half-written stays behind."""

from __future__ import annotations

import os
import signal
import time

import pytest

from featsieve.cli import running
from featsieve.cli.running import _termination_cleans_up
from featsieve.io.atomic import atomic_write

pytestmark = pytest.mark.skipif(os.name != "posix", reason="signals of POSIX")


def terminate(*_, **__):
    os.kill(os.getpid(), signal.SIGTERM)


def test_a_terminated_command_ends_with_143_and_without_a_traceback(run, csv, monkeypatch):
    before = signal.getsignal(signal.SIGTERM)
    monkeypatch.setattr("featsieve.cli.select.run_method", terminate)
    code, out, err = run("select", csv, "--target", "y", "--method", "pc")
    assert (code, out) == (143, "")
    assert "Traceback" not in err
    assert signal.getsignal(signal.SIGTERM) is before


def write_half(path):
    with _termination_cleans_up(), atomic_write(str(path)) as stream:
        stream.write(b"half")
        terminate()


def test_no_temporary_file_is_left(tmp_path):
    with pytest.raises(SystemExit, match="143"):
        write_half(tmp_path / "out.csv")
    assert list(tmp_path.iterdir()) == []


class _DropsWhatIsRaised:
    """Python prints and forgets an exception that is raised in ``__del__``."""

    def __del__(self):
        os.kill(os.getpid(), signal.SIGTERM)
        for _ in range(1000):  # the handler runs between two of these steps
            pass


@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
def test_a_termination_that_was_dropped_is_repeated(monkeypatch):
    monkeypatch.setattr(running, "SECONDS_TO_END", 0.05)

    def goes_on():
        with _termination_cleans_up():
            _DropsWhatIsRaised()
            time.sleep(60)

    with pytest.raises(SystemExit, match="143"):
        goes_on()
