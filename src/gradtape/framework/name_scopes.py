"""Name scopes: the prefixes that `tf.name_scope` gives to the names of variables."""

from __future__ import annotations

from threading import local
from typing import Any

from .pickles import recipe


class _Scopes(local):
    """Each thread starts outside all scopes."""

    current = ""


_scopes = _Scopes()


class name_scope:
    """A prefix for the names made in a `with` block.

    Scopes nest, a name that ends in `/` starts again from the outside, and `""` leaves all scopes.

    >>> import gradtape as tf
    >>> with tf.name_scope("layer") as scope:
    ...     print(scope, tf.Variable(1.0, name="w").name)
    layer/ layer/w:0
    """

    __slots__ = ("_name", "_outer")

    def __init__(self, name: str) -> None:
        if not isinstance(name, str):
            raise ValueError("name for name_scope must be a string.")
        self._name = name
        self._outer: list[str] = []  # one for each time that the scope is open

    @property
    def name(self) -> str:
        """The name as it was given."""
        return self._name

    def __enter__(self) -> str:
        self._outer.append(_scopes.current)
        _scopes.current = scope = _inside(self._name)
        return scope

    def __exit__(self, *exception: Any) -> None:
        _scopes.current = self._outer.pop()

    def __reduce__(self) -> tuple:
        return recipe(type(self), (self._name,))


def _inside(name: str) -> str:
    """The scope that a name opens here, with its `/`."""
    if not name or name.endswith("/"):
        return name
    return f"{_scopes.current}{name}/"


def get_name_scope() -> str:
    """The current scope, without its last `/`."""
    return _scopes.current.rstrip("/")


def scoped(name: str) -> str:
    """The name with the current scope before it: `w` is `a/w` within the scope `a`.

    It need not be unique: TensorFlow's eager variables may share a name.
    """
    if not isinstance(name, str):
        raise ValueError("name for name_scope must be a string.")
    return _inside(name).removesuffix("/")
