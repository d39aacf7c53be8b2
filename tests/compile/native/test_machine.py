"""From modules to functions that can be called."""

from __future__ import annotations

import ctypes
from concurrent.futures import ThreadPoolExecutor

import pytest

pytest.importorskip("llvmlite")

from gradtape.compile.native import machine

ANSWER = "define i64 @answer() {\n ret i64 42\n}"
TWICE = """
declare i64 @answer()
define i64 @twice() {
  %x = call i64 @answer()
  %y = add i64 %x, %x
  ret i64 %y
}
"""


def call(code, name):
    return ctypes.CFUNCTYPE(ctypes.c_int64)(code.address(name))()


@pytest.mark.parametrize("passes", [True, False])
def test_a_module_becomes_functions(passes):
    assert call(machine.compile(ANSWER, passes), "answer") == 42


def test_names_that_are_not_there():
    with pytest.raises(KeyError):
        machine.compile(ANSWER).address("question")


def test_objects_call_each_other():
    host = machine.host()
    code = machine.Code(host.assemble(ANSWER), host.assemble(TWICE, passes=False))
    assert call(code, "twice") == 84


def test_a_listing_is_to_be_read():
    assert "42" in machine.host().listing(ANSWER)


def test_threads_compile_at_the_same_time():
    text = "define i64 @f() {{\n ret i64 {}\n}}"
    with ThreadPoolExecutor(8) as threads:
        codes = [*threads.map(lambda i: machine.compile(text.format(i)), range(32))]
    assert [call(code, "f") for code in codes] == [*range(32)]


def test_vectors_are_powers_of_two():
    host = machine.host()
    assert host.vector_bytes in (16, 32, 64)
    assert host.lanes(4) == 2 * host.lanes(8)
    assert machine.host() is host
