"""TensorFlow's public names: docs/api.md says what is so, and the arguments are TensorFlow's."""

from __future__ import annotations

import re
from fnmatch import fnmatchcase

import pytest

import gradtape as tf
from gradtape.api import absent
from gradtape.api.alias import public_names
from gradtape.framework.tensor import ARRAY_METHODS
from tests.tensorflow.api.page import PAGE, figures, page
from tests.tensorflow.api.survey import ABSENT, Entry, offered, resolve, survey
from tests.tensorflow.api.used import PAST

NAMES = survey().names
MEMBERS = [entry for entries in survey().members.values() for entry in entries]
NOT_THERE = [entry for entry in NAMES if entry.status == ABSENT]


def test_the_page_is_current() -> None:
    assert PAGE.read_text() == page(), "python -m tests.tensorflow.api writes it anew"


def test_arguments_are_tensorflows() -> None:
    here = [entry for entry in (*NAMES, *MEMBERS) if entry.status != ABSENT]
    assert {entry.name: entry.signature for entry in here if not entry.agrees} == {}


def test_second_names_are_the_same_thing() -> None:
    here = [entry for entry in NAMES if entry.status != ABSENT]
    pairs = [(entry.name, alias) for entry in here for alias in entry.aliases]
    assert [pair for pair in pairs if not offered(pair[1])] == []
    assert [(a, b) for a, b in pairs if resolve(a) is not resolve(b)] == []


def test_what_is_not_there_has_a_reason() -> None:
    lost = [entry for entry in (*NAMES, *MEMBERS) if entry.status == ABSENT]
    assert [entry.name for entry in lost if not entry.note] == []


def test_no_reason_is_left_for_what_has_come() -> None:
    def fits(entry: Entry, pattern: str) -> bool:
        names = (entry.name, *entry.aliases)
        if any(n == pattern or n.startswith(pattern + ".") for n in names):
            return True
        return "*" in pattern and any(fnmatchcase(n, pattern) for n in names)

    told = {p: [e for e in (*NAMES, *MEMBERS) if fits(e, p)] for p in absent.ABSENT}
    come = [p for p, of in told.items() if of and all(e.status != ABSENT for e in of)]
    assert come == []


@pytest.mark.parametrize("space", sorted({entry.name.partition(".")[0] for entry in NOT_THERE}))
def test_the_error_gives_the_reason(space: str) -> None:
    for entry in NOT_THERE:
        asked = entry.name.split(".")
        if asked[0] != space:
            continue
        with pytest.raises(AttributeError) as caught:
            resolve(entry.name)
        # Of a namespace that is not there, the namespace answers for all that is in it.
        *spaces, home = asked[: asked.index(caught.value.name) + 1]
        assert str(caught.value).endswith(f"; {absent.reason('.'.join([*spaces, home]))}")
        if home == asked[-1]:
            assert str(caught.value).endswith(f"; {entry.note}")


@pytest.mark.parametrize("name", PAST)
def test_a_name_of_the_past_says_what_to_use(name: str) -> None:
    with pytest.raises(AttributeError, match="code runs as it is called and there is no graph: "):
        getattr(tf, name)


def test_what_programs_use_is_there() -> None:
    programs, tests = figures()
    assert programs == 1.0
    assert tests >= 0.9


def test_the_advice_names_what_there_is() -> None:
    texts = [*map(str, absent.ABSENT.values()), *absent.ELSEWHERE.values()]
    advised = re.findall(r"\btf\.([\w.]*\w)", " ".join([*texts, *absent.METHODS.values()]))
    there = set(public_names())
    assert [name for name in advised if name not in there and not offered(name)] == []


@pytest.mark.parametrize("name", ARRAY_METHODS)
def test_arrays_methods_say_what_to_use(name: str) -> None:
    for value in (tf.constant([1.0]), tf.Variable([1.0])):
        with pytest.raises(AttributeError) as caught:
            getattr(value, name)
        assert absent.METHODS[name] in str(caught.value)
    assert set(ARRAY_METHODS) == set(absent.METHODS)
