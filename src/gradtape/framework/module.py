"""`tf.Module`: a named holder of variables and of other modules."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import wraps
from typing import Any, TypeVar

from .. import nest
from . import name_scopes
from .tracking import WAITING, Trackable, is_followed, look_again

_Method = TypeVar("_Method", bound=Callable[..., Any])


def _snake_case(name: str) -> str:
    """`my_dense` for `MyDense`, `http_server` for `HTTPServer`."""
    # Without regular expressions: compiling them took 2 ms of the import.
    words = name[:1]
    for before, here, after in zip(name, name[1:], f"{name[2:]} ", strict=False):
        if here.isupper() and (before.islower() or before.isdigit() or after.islower()):
            words += "_"
        words += here
    return words.lower()


class Module(Trackable):
    """The base of layers and models: it finds the variables held by its attributes.

    >>> import gradtape as tf
    >>> class Line(tf.Module):
    ...     def __init__(self):
    ...         super().__init__()
    ...         self.slope = tf.Variable(2.0, name="slope")
    ...         self.shift = tf.Variable(1.0, name="shift")
    >>> [v.name for v in Line().trainable_variables]
    ['shift:0', 'slope:0']

    Differs from TensorFlow: lists, tuples and dictionaries stay what they are when they become
    attributes; TensorFlow replaces them with wrappers.
    """

    _TF_MODULE_IGNORED_PROPERTIES: frozenset[str] = frozenset()

    def __init__(self, name: str | None = None) -> None:
        if name is None:
            name = _snake_case(type(self).__name__)
        elif not (str.isidentifier(name) and name.isascii()):
            raise ValueError(
                f"{name!r} is not a valid module name. Module names must be valid Python "
                "identifiers (e.g. a valid class name)."
            )
        self._name = name
        with name_scopes.name_scope(name) as scope:
            self._name_scope = name_scopes.name_scope(scope)

    def __setattr__(self, name: str, value: Any) -> None:
        object.__setattr__(self, name, value)
        if WAITING in self.__dict__:  # a checkpoint was restored before this was made
            self._handle_deferred_dependencies(name, value)
        look_again()

    def _trackable_children(self, save_type: str = "checkpoint", **kwargs: Any) -> dict[str, Any]:
        held = vars(self).items()
        return {k: v for k, v in held if is_followed(v) and not k.startswith("_self_")}

    @property
    def name(self) -> str:
        """The name that was given, or the name of the class in snake case."""
        return self._name

    @property
    def name_scope(self) -> name_scopes.name_scope:
        """The scope of the module's names, inside the scopes that it was made in."""
        return self._name_scope

    @property
    def variables(self) -> tuple[Any, ...]:
        """The variables held here, by name of attribute, then those of the modules held here."""
        return tuple(self._flatten(predicate=_is_variable, expand_composites=True))

    @property
    def trainable_variables(self) -> tuple[Any, ...]:
        """Those of `variables` that are trainable."""
        return tuple(self._flatten(predicate=_is_trainable, expand_composites=True))

    @property
    def non_trainable_variables(self) -> tuple[Any, ...]:
        """Those of `variables` that are not trainable."""
        return tuple(self._flatten(predicate=_is_not_trainable, expand_composites=True))

    @property
    def submodules(self) -> tuple[Any, ...]:
        """The modules held here, then those that these hold, and so on."""
        return tuple(self._flatten(predicate=_is_module))

    def _flatten(
        self,
        recursive: bool = True,
        predicate: Callable[[Any], Any] | None = None,
        attribute_traversal_key: Callable[[str], Any] | None = None,
        with_path: bool = False,
        expand_composites: bool = False,
    ) -> Iterator[Any]:
        """The leaves of all attributes for which the predicate holds, each once.

        With `with_path`, pairs of path and leaf, and a leaf once for each path to it.
        """
        walk = _Walk(predicate, attribute_traversal_key, expand_composites, with_path)
        walk.seen.add(id(self))
        found = walk.leaves(self, (), recursive)
        return found if with_path else (leaf for _, leaf in found)

    @classmethod
    def with_name_scope(cls, method: _Method) -> _Method:
        """A decorator that runs a method inside the module's name scope."""

        @wraps(method)
        def inside(self: Module, *args: Any, **kwargs: Any) -> Any:
            with self.name_scope:
                return method(self, *args, **kwargs)

        return inside  # type: ignore[return-value]


class _Walk:
    """One walk through a module and what it holds."""

    def __init__(
        self,
        predicate: Callable[[Any], Any] | None,
        key: Callable[[str], Any] | None,
        expand_composites: bool,
        with_path: bool,
    ) -> None:
        self.predicate = predicate
        self.key = key
        self.expand_composites = expand_composites
        self.repeat = with_path
        self.seen: set[int] = set()
        self.above: list[Module] = []

    def leaves(
        self, module: Module, path: tuple[Any, ...], recursive: bool
    ) -> Iterator[tuple[tuple[Any, ...], Any]]:
        """Its own leaves first, then those of the modules among them."""
        recursive = recursive and not any(module is other for other in self.above)
        inner = []
        for leaf_path, leaf in self.own_leaves(module):
            if not self.repeat:
                if id(leaf) in self.seen:
                    continue
                self.seen.add(id(leaf))
            leaf_path = path + leaf_path
            if self.predicate is None or self.predicate(leaf):
                yield leaf_path, leaf
            if recursive and _is_module(leaf):
                inner.append((leaf_path, leaf))
        self.above.append(module)
        for inner_path, inner_module in inner:
            yield from self.leaves(inner_module, inner_path, recursive)
        self.above.pop()

    def own_leaves(self, module: Module) -> Iterator[tuple[tuple[Any, ...], Any]]:
        attributes = vars(module)
        for name in sorted(attributes, key=self.key):
            if name in module._TF_MODULE_IGNORED_PROPERTIES:
                continue
            value = attributes[name]
            try:
                found = list(nest.flatten_with_paths(value, self.expand_composites, (name,)))
            except Exception as cause:
                raise ValueError(f"Error processing property {name!r} of {value!r}") from cause
            yield from found


def _is_module(value: Any) -> bool:
    return isinstance(value, Module)


def _is_variable(value: Any) -> bool:
    from .variable import Variable

    return isinstance(value, Variable)


def _is_trainable(value: Any) -> bool:
    return _is_variable(value) and value.trainable


def _is_not_trainable(value: Any) -> bool:
    return _is_variable(value) and not value.trainable
