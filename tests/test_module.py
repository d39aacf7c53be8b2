"""Modules find what TensorFlow 2.21's find, in its order; name scopes give the same names."""

import copy
import pickle
import threading
from collections import OrderedDict, deque, namedtuple

import numpy as np
import pytest

from gradtape.framework.module import Module
from gradtape.framework.name_scopes import get_name_scope, name_scope
from gradtape.framework.variable import Variable

Pair = namedtuple("Pair", "b a")


def variable(name=None, trainable=True):
    return Variable(1.0, name=name, trainable=trainable)


def names(values):
    return [value.name for value in values]


class MyDense(Module):
    pass


class HTTPServer2D(Module):
    pass


class A1b2C(Module):
    pass


class _Private(Module):
    pass


class Camel_Snake(Module):
    pass


class ABC(Module):
    pass


class Lazy(Module):
    @Module.with_name_scope
    def __call__(self):
        """Make the variables at the first call."""
        if not hasattr(self, "w"):
            self.w = variable("w")
            self.u = variable()
        return self.w


class Outer(Module):
    def __init__(self, name=None):
        super().__init__(name=name)
        with self.name_scope:
            self.v = variable("v")
            self.inner = Lazy(name="inner")


class WithoutSuper(Module):
    def __init__(self):
        self.w = variable("w")


@pytest.mark.parametrize(
    ("cls", "name"),
    [
        (Module, "module"),
        (MyDense, "my_dense"),
        (HTTPServer2D, "http_server2_d"),
        (A1b2C, "a1b2_c"),
        (_Private, "__private"),
        (Camel_Snake, "camel__snake"),
        (ABC, "abc"),
    ],
)
def test_default_names(cls, name):
    module = cls()
    assert module.name == name
    assert module.name_scope.name == f"{name}/"


def test_given_names():
    assert Module("x").name == Module(name="x").name == "x"
    assert Module("for").name == "for"
    for bad in ("a b", "a/b", "1a", "", "é"):
        with pytest.raises(ValueError) as failure:  # noqa: PT011
            Module(name=bad)
        assert str(failure.value) == (
            f"{bad!r} is not a valid module name. Module names must be valid Python identifiers "
            "(e.g. a valid class name)."
        )
    with pytest.raises(TypeError):
        Module(name=3)


def test_names_of_variables():
    outer = Outer("p")
    outer.inner()
    assert names(outer.variables) == ["p/v:0", "p/inner/Variable:0", "p/inner/w:0"]
    assert outer.inner.name == "inner"
    assert outer.inner.name_scope.name == "p/inner/"
    with name_scope("out"):
        assert names(Outer().variables) == ["out/outer/v:0"]
    assert names(Outer().variables) == ["outer/v:0"]


def test_with_name_scope_keeps_the_method():
    assert Lazy.__call__.__name__ == "__call__"
    assert Lazy.__call__.__doc__ == "Make the variables at the first call."
    assert callable(Lazy.__call__.__wrapped__)


def test_a_module_that_does_not_call_super():
    module = WithoutSuper()
    assert names(module.variables) == ["w:0"]
    with pytest.raises(AttributeError):
        _ = module.name
    with pytest.raises(AttributeError):
        _ = module.name_scope


def test_properties_are_read_only():
    for name in ("name", "variables", "submodules"):
        with pytest.raises(AttributeError):
            setattr(Module(), name, "x")


def big_module():
    module, first, second = Module("m"), Module("first"), Module("second")
    module.z = variable("z")
    module.a = variable("a", trainable=False)
    module.b = [variable("b0"), (variable("b1"), variable("b2"))]
    module.c = {"y": variable("cy"), "x": variable("cx")}
    module._hidden = variable("hidden")
    module.numbers = {1: variable("one"), 0: variable("zero")}
    module.same = module.z
    module.d = first
    module.aa = [second, first]
    module.other = [None, "text", {1, 2}, np.ones(2), lambda: 1]
    first.w = variable("first_w")
    first.s = second
    second.w = variable("second_w")
    second.loop = module
    return module


OWN = ["hidden:0", "a:0", "b0:0", "b1:0", "b2:0", "cx:0", "cy:0", "zero:0", "one:0", "z:0"]


def test_order():
    module = big_module()
    inner = ["second_w:0", "first_w:0"]
    assert names(module.variables) == OWN + inner
    assert names(module.trainable_variables) == [n for n in OWN if n != "a:0"] + inner
    assert names(module.non_trainable_variables) == ["a:0"]
    assert names(module.submodules) == ["second", "first"]
    assert names(module.d.submodules) == ["second", "m"]
    assert Module().variables == Module().submodules == ()


def is_variable(value):
    return isinstance(value, Variable)


def test_flatten():
    module = big_module()
    own = module._flatten(recursive=False, predicate=is_variable)
    assert names(own) == OWN
    backwards = module._flatten(
        recursive=False,
        predicate=is_variable,
        attribute_traversal_key=lambda name: [-ord(letter) for letter in name],
    )
    assert names(backwards) == [
        "z:0",
        "zero:0",
        "one:0",
        "cx:0",
        "cy:0",
        "b0:0",
        "b1:0",
        "b2:0",
        "a:0",
        "hidden:0",
    ]


def test_paths():
    module, first, second = Module("m"), Module("first"), Module("second")
    module.a, module.b, first.c, second.m = first, second, second, module
    second.v = variable("v")
    found = module._flatten(
        predicate=lambda value: isinstance(value, (Variable, Module)), with_path=True
    )
    assert [(path, leaf.name) for path, leaf in found] == [
        (("a",), "first"),
        (("b",), "second"),
        (("a", "c"), "second"),
        (("a", "c", "m"), "m"),
        (("a", "c", "v"), "v:0"),
        (("a", "c", "m", "a"), "first"),
        (("a", "c", "m", "b"), "second"),
        (("b", "m"), "m"),
        (("b", "v"), "v:0"),
        (("b", "m", "a"), "first"),
        (("b", "m", "b"), "second"),
    ]


def test_containers():
    module = Module()
    module.mapping = OrderedDict([("b", variable("mb")), ("a", variable("ma"))])
    module.pair = Pair(variable("pb"), variable("pa"))
    module.queue = deque([variable("q")])
    module.values = {"x": variable("v")}.values()
    assert names(module.variables) == ["ma:0", "mb:0", "pb:0", "pa:0", "q:0", "v:0"]
    module.queue.append(variable("late"))
    assert "late:0" in names(module.variables)


def test_keys_that_do_not_sort():
    module = Module()
    module.d = {1: variable(), "a": variable()}
    with pytest.raises(ValueError, match=r"^Error processing property 'd' of {1: "):
        _ = module.variables


def test_ignored_attributes():
    class Picky(Module):
        _TF_MODULE_IGNORED_PROPERTIES = frozenset({"skipped"})

    module = Picky()
    module.skipped, module.kept = variable("skipped"), variable("kept")
    assert names(module.variables) == ["kept:0"]


def test_copies():
    for twin in (pickle.loads(pickle.dumps(Module("a"))), copy.copy(Module("a"))):
        assert twin.name == "a"
    assert copy.deepcopy(Module("a")).name_scope.name == "a/"


@pytest.mark.parametrize(
    ("scopes", "opened", "name"),
    [
        (["a"], ["a/"], "a/w:0"),
        (["a", "b"], ["a/", "a/b/"], "a/b/w:0"),
        (["a", "a"], ["a/", "a/a/"], "a/a/w:0"),
        (["a", "b/"], ["a/", "b/"], "b/w:0"),
        (["a/b", "c"], ["a/b/", "a/b/c/"], "a/b/c/w:0"),
        (["a", ""], ["a/", ""], "w:0"),
        (["a", "", "c"], ["a/", "", "c/"], "c/w:0"),
        (["a b"], ["a b/"], "a b/w:0"),
    ],
)
def test_name_scopes(scopes, opened, name):
    entered = [name_scope(scope) for scope in scopes]
    assert [scope.__enter__() for scope in entered] == opened
    assert variable("w").name == name
    assert get_name_scope() == opened[-1].rstrip("/")
    for scope in reversed(entered):
        scope.__exit__(None, None, None)
    assert get_name_scope() == ""
    assert variable("w").name == "w:0"


def test_names_need_not_be_unique():
    assert variable("w").name == variable("w").name == "w:0"
    assert variable().name == "Variable:0"
    with name_scope("a"):
        assert variable("b/").name == "b:0"
        assert variable("b/c").name == "a/b/c:0"
        assert variable().name == "a/Variable:0"


def test_a_scope_may_be_used_again():
    scope = name_scope("r")
    with scope as first, scope as second:
        assert (first, second) == ("r/", "r/r/")
    with name_scope("o"), scope as inside:
        assert inside == "o/r/"
    assert scope.name == "r"
    with pytest.raises(IndexError):
        scope.__exit__(None, None, None)


def test_an_exception_leaves_the_scope():
    with pytest.raises(KeyError), name_scope("a"):
        raise KeyError
    assert get_name_scope() == ""


def test_scopes_belong_to_a_thread():
    found = []
    with name_scope("a"):
        thread = threading.Thread(target=lambda: found.append(variable("w").name))
        thread.start()
        thread.join()
    assert found == ["w:0"]


def test_bad_scope():
    for bad in (None, 3, b"a"):
        with pytest.raises(ValueError, match=r"^name for name_scope must be a string.$"):
            name_scope(bad)
