"""What the doctor computes again is silent, and takes the words of no other thread."""

from __future__ import annotations

import sys
from threading import Event, Thread

import pytest

from gradtape.doctor.engines.quiet import quiet


def test_threads_that_leave_in_the_order_they_came(capsys: pytest.CaptureFixture[str]) -> None:
    stream = sys.stdout
    entered, left = Event(), Event()

    def first() -> None:
        with quiet():
            entered.set()
            left.wait(10)
            print("of the first")

    with quiet():
        thread = Thread(target=first)
        thread.start()
        assert entered.wait(10)
        print("of the second")
    print("said while the first is silent")
    left.set()
    thread.join()
    print("said by all")
    assert capsys.readouterr().out == "said while the first is silent\nsaid by all\n"
    assert sys.stdout is stream


def test_a_thread_is_silent_until_it_has_left_as_often_as_it_came(
    capsys: pytest.CaptureFixture[str],
) -> None:
    with quiet():
        with quiet():
            pass
        print("not said")
    print("said")
    assert capsys.readouterr().out == "said\n"


def test_a_stream_that_the_program_puts_in_place_stays(monkeypatch: pytest.MonkeyPatch) -> None:
    other = object()
    with quiet():
        monkeypatch.setattr(sys, "stdout", other)
    assert sys.stdout is other
