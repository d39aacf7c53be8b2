"""Ears are inside of functions: whoever looks at one that has an ear sees what was there before."""

from __future__ import annotations

import functools
import pickle
import sys
import traceback
import warnings
from collections.abc import Callable
from typing import Any

import pytest

from gradtape.doctor.engines import ears
from gradtape.doctor.engines.ears import Hooks

from .looking import seen


# --- functions of all kinds -----------------------------------------------------------------------
def plain(a: int, b: int = 2, /, c: float = 0.5, *rest: Any, d: int = 4, **more: Any) -> Any:
    """Parameters of every kind."""
    if c > 1:
        return "early"
    for k in range(3):
        if k == a:
            return k, b, c, rest, d, more
    return None


def falls_off(a: Any) -> None:
    a.append(1)


def only_words(a: Any) -> None:
    """Nothing but this."""


def raises(a: int) -> float:
    b = a - 1
    return (
        a
        / b
    )  # fmt: skip


def gives_back_in_the_end(a: list) -> Any:
    try:
        return len(a)
    finally:
        a.append("finally")


def warns(a: int) -> int:
    warnings.warn("from here", stacklevel=2)
    return a


def tells_frames() -> tuple[list[str], int]:
    frame, names, line = sys._getframe(), [], sys._getframe().f_lineno
    while frame is not None:
        names.append(f"{frame.f_code.co_name} {frame.f_code.co_filename}")
        frame = frame.f_back  # type: ignore[assignment]
    return names, line


def makes_functions(a: int) -> Any:
    def inner(b: int) -> int:
        if b:
            return a + b
        return a

    return inner, lambda: a, [a for _ in range(2)]


def closing(base: int) -> Any:
    other = base + 1

    def closed(a: int) -> tuple[int, int, int]:
        return a, base, other

    return closed


def doubled(function: Any) -> Any:
    @functools.wraps(function)
    def twice(*args: Any) -> Any:
        return function(*args), function(*args)

    return twice


@doubled
def decorated(a: int) -> int:
    return a + 1


class Base:
    def method(self, a: int) -> list:
        return [a]

    @staticmethod
    def static(a: int) -> int:
        return a


class Derived(Base):
    __hidden = 7

    def method(self, a: int) -> list:
        return [*super().method(a), self.__hidden, __class__.__name__]  # type: ignore[name-defined]

    @property
    def told(self) -> int:
        return self.__hidden

    @classmethod
    def of_class(cls, a: int) -> tuple:
        return cls, a


CALLS: dict[str, tuple[Callable[[], Any], Callable[[], Any]]] = {
    "plain": (
        lambda: plain, lambda: (plain(1), plain(1, 5, 0.1, 7, d=8, e=9), plain(9), plain(0, 0, 2))
    ),
    "falls_off": (lambda: falls_off, lambda: falls_off([])),
    "only_words": (lambda: only_words, lambda: only_words(1)),
    "raises": (lambda: raises, lambda: raises(3)),
    "gives_back_in_the_end": (
        lambda: gives_back_in_the_end, lambda: (x := [1], gives_back_in_the_end(x), x)
    ),
    "makes_functions": (
        lambda: makes_functions,
        lambda: [
            (m[0](1), m[0].__qualname__, m[1](), m[1].__qualname__, m[2])
            for m in [makes_functions(3)]
        ],
    ),
    "decorated": (lambda: decorated, lambda: decorated(1)),
    "method": (lambda: Derived.method, lambda: Derived().method(1)),
    "static": (lambda: Base.static, lambda: (Base.static(1), Derived().static(2))),
    "property": (lambda: Derived.told.fget, lambda: Derived().told),
    "classmethod": (lambda: vars(Derived)["of_class"], lambda: Derived.of_class(3)),
}  # fmt: skip
_closed = closing(3)
CALLS["closure"] = (lambda: _closed, lambda: _closed(1))


@pytest.mark.parametrize("name", CALLS)
def test_a_function_is_the_same_to_all_who_look(name: str) -> None:
    find, call = CALLS[name]
    before, results, code = seen(find()), repr(call()), ears.innermost(find()).__code__
    heard: list[Any] = []

    def after(told: Any, result: Any) -> Any:
        heard.append((told, result))
        return result

    end = ears.put(find(), Hooks(after=after))
    try:
        during, meanwhile = seen(find()), repr(call())
        number = len(heard)
    finally:
        end()
    assert during == before
    assert meanwhile == results
    assert number > 0
    assert seen(find()) == before
    assert ears.innermost(find()).__code__ is code
    assert repr(call()) == results
    assert len(heard) == number
    assert not ears.heard


def test_what_is_told() -> None:
    told: list[Any] = []

    def before(*given: Any) -> str:
        told.append(given)
        return "kept"

    def after(kept: Any, result: Any) -> Any:
        told.append((kept, result))
        return result

    end = ears.put(plain, Hooks(before, after))
    plain(1, 5, 0.1, 7, 8, d=9, e=10)
    end()
    assert told == [
        (1, 5, 0.1, (7, 8), 9, {"e": 10}), ("kept", (1, 5, 0.1, (7, 8), 9, {"e": 10})),
    ]  # fmt: skip
    assert ears.parameters(plain) == ("a", "b", "c", "rest", "d", "more")


def test_an_exception_has_the_same_frames() -> None:
    def shown() -> str:
        try:
            raises(1)
        except ZeroDivisionError:
            return traceback.format_exc()
        return ""

    before, errors = shown(), []
    end = ears.put(raises, Hooks(failed=lambda told: errors.append((told, sys.exc_info()[1]))))
    during = shown()
    end()
    assert during == before
    assert [(told, type(error)) for told, error in errors] == [((1,), ZeroDivisionError)]


def test_whoever_is_called_sees_the_same_frames() -> None:
    def look() -> Any:
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            warns(1)
        return tells_frames(), [(w.filename, w.lineno) for w in caught]

    before = look()
    ends = [ears.put(f, Hooks(lambda *_: None, lambda _, r: r, lambda _: None))
            for f in (tells_frames, warns)]  # fmt: skip
    during = look()
    for end in ends:
        end()
    assert during == before


def test_something_else_instead() -> None:
    end = ears.put(plain, Hooks(lambda a, *_: (a * 10,) if a > 5 else None, instead=True))
    results = plain(6), plain(1, 1)
    end()
    assert results == (60, (1, 1, 0.5, (), 4, {}))


def test_by_reference_and_by_inheritance() -> None:
    class Another(Base):
        pass

    end = ears.put(Base.method, Hooks(lambda *_: None))
    assert pickle.loads(pickle.dumps(plain)) is plain
    assert "method" not in vars(Another)
    assert Another.method is Base.method
    end()


def test_what_has_no_source_is_refused_and_stays() -> None:
    space: dict[str, Any] = {}
    exec("def made(a):\n    return a\n", space)
    for function in (space["made"], len, tells_lies):
        with pytest.raises(ears.NoEar):
            ears.put(function, Hooks(lambda *_: None))
    assert space["made"](3) == 3


def tells_lies(a: int) -> int:
    return a


tells_lies.__code__ = (
    compile("def tells_lies(a):\n    return a + 1\n", __file__, "exec")
    .co_consts[0]
    .replace(co_firstlineno=tells_lies.__code__.co_firstlineno)
)
