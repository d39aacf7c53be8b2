"""What the user calls a value: read from the text of the call, and from the objects in sight."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from contextlib import suppress
from functools import cached_property
from types import FrameType, FunctionType, ModuleType
from typing import Any

from ..source.place import Place, nodes

_PLAIN = re.compile(r"[\w.]+(\[[^\[\]]*\])*")  # a name, an attribute, an entry
NUMBERED = re.compile(r"\[-?\d+\]$")  # an entry of a list
UNNAMED = re.compile(r"variable(_\d+)?", re.IGNORECASE)
DEEP = 4  # how far into objects a variable is looked for


def arguments(place: Place, *names: str) -> list[ast.expr | None]:
    """The expressions given for the first parameters of the call at a place."""
    call = place.node
    if not isinstance(call, ast.Call):
        return [None] * len(names)
    given: dict[str, ast.expr | None] = dict.fromkeys(names)
    given.update(zip(names, call.args, strict=False))
    given.update({k.arg: k.value for k in call.keywords if k.arg in given})
    return [given[name] for name in names]


def leaves(node: ast.expr | None, structure: Any, frame: FrameType | None, what: str) -> list[str]:
    """A name for every leaf of a structure that was written as an expression."""
    return [names[0] for names in named(node, structure, frame, what)]


def named(
    node: ast.expr | None, structure: Any, frame: FrameType | None, what: str, file: str = ""
) -> list[list[str]]:
    """The names of every leaf of a structure: first what it is called, then what else is known.

    What its owner calls it is better than its number in a list: the name that a variable was given,
    the path of one of Keras's, a name or an attribute in sight.
    """
    sight = None if frame is None else _Sight(frame, file)
    found = list(_leaves(node, structure, sight))
    better = [_better(name, thing, sight) for name, thing in found]
    names = []
    for k, ((name, thing), own) in enumerate(zip(found, better, strict=True)):
        first = own if own is not None and better.count(own) == 1 else name
        known = [first, name, own, own_name(thing)]
        if sight is not None and is_variable(thing):
            known.append(sight.all.find(thing))
            known = [n for n in known if n not in sight.passing or n == name]
        names.append(list(dict.fromkeys(n for n in known if n)) or [f"{what} #{k + 1}"])
    return names


def is_variable(thing: Any) -> bool:
    return hasattr(type(thing), "assign") and hasattr(type(thing), "trainable")


def own_name(thing: Any) -> str | None:
    """What a variable was called when it was made: the path of one of Keras's, a name."""
    if not is_variable(thing):
        return None
    for attribute in ("path", "name"):
        found = getattr(thing, attribute, None)
        if isinstance(found, str) and found:
            bare = found.partition(":")[0]
            return None if UNNAMED.fullmatch(bare) else bare
    return None


def _better(name: str | None, thing: Any, sight: _Sight | None) -> str | None:
    """Of what is only known by its number: what its owner calls it."""
    if not is_variable(thing) or (name is not None and not NUMBERED.search(name)):
        return None
    known = own_name(thing)
    if known is None and sight is not None:
        found = sight.all.find(thing)
        if found is not None and not NUMBERED.search(found) and found not in sight.passing:
            known = found
    return known


def _leaves(node: ast.expr | str | None, structure: Any, sight: _Sight | None) -> Any:
    if isinstance(structure, dict):
        items: list = [(key, structure[key]) for key in sorted(structure, key=str)]
    elif isinstance(structure, (list, tuple)):
        items = list(enumerate(structure))
    else:
        yield _name(node, structure, sight), structure
        return
    written = _written(node, [key for key, _ in items])
    text = _text(node) if written is None else None
    for k, (key, part) in enumerate(items):
        if written is not None:
            yield from _leaves(written[k], part, sight)
        else:
            yield from _leaves(f"{text}[{key!r}]" if text else None, part, sight)


def _written(node: ast.expr | str | None, keys: list) -> list[ast.expr] | None:
    """The expressions of the entries, when the structure stands in the source as it is."""
    if isinstance(node, (ast.List, ast.Tuple)) and len(node.elts) == len(keys):
        return node.elts
    if isinstance(node, ast.Dict):
        given = {k.value: v for k, v in zip(node.keys, node.values, strict=True)
                 if isinstance(k, ast.Constant)}  # fmt: skip
        return [given[key] for key in keys] if set(given) == set(keys) else None
    return None


def _text(node: ast.expr | str | None) -> str | None:
    if node is None or isinstance(node, str):
        return node
    if isinstance(node, ast.Lambda):  # given to a function that calls it: its result is meant
        return "loss"
    text = ast.unparse(node)
    return text if len(text) <= 60 else None


def _name(node: ast.expr | str | None, thing: Any, sight: _Sight | None) -> str | None:
    text = _text(node)
    if isinstance(node, (ast.Name, ast.Attribute)) or sight is None:
        return text
    # `model.trainable_variables[1]` is `model.dense.bias` to its owner.
    owned = None if text is None else sight.owned(text, thing)
    if owned is None and (text is None or not _PLAIN.fullmatch(text)):
        # Of `model.weights + [bias]`, only the objects in sight tell which is which.
        owned = sight.all.find(thing)
    return owned or text


def in_sight(thing: Any, scope: dict[str, Any]) -> str | None:
    """What a variable is called from where the gradient was asked for, if it can be seen there."""
    return _Names(_visible(scope)).find(thing)


def holds(holder: Any, thing: Any, name: str) -> str | None:
    """What a thing is called inside an object that holds it, however deep."""
    return _Names(_inside(holder, name, DEEP, {})).find(thing)


class _Sight:
    """The names in sight of a frame, looked through once for all things that are looked for."""

    def __init__(self, frame: FrameType, file: str) -> None:
        self.scope = {**frame.f_globals, **frame.f_locals}
        self.all = _Names(_visible(self.scope))
        self._owners: dict[str, _Names] = {}
        self._file = file

    @cached_property
    def passing(self) -> set[str]:
        """Names of loops, which stand for one thing after the other."""
        loops = [n.target for n in nodes(self._file) if isinstance(n, (ast.For, ast.AsyncFor))]
        return {n.id for t in loops for n in ast.walk(t) if isinstance(n, ast.Name)}

    def owned(self, text: str, thing: Any) -> str | None:
        """What a thing is called by its owner, the first name of an expression."""
        base = text.split(".")[0].split("[")[0].split("(")[0]
        if base not in self.scope:
            return None
        if base not in self._owners:
            self._owners[base] = _Names(_inside(self.scope[base], base, DEEP, {}))
        found = self._owners[base].find(thing)
        return found if found != base else None


class _Names:
    """Names of things, read from a stream of them as far as is needed: the first name counts."""

    def __init__(self, stream: Iterator[tuple[str, Any]]) -> None:
        self._stream = stream
        self._names: dict[int, tuple[str, Any]] = {}  # with the thing, so that no id comes twice

    def find(self, thing: Any) -> str | None:
        known = self._names.get(id(thing))
        if known is not None:
            return known[0]
        for name, part in self._stream:
            self._names.setdefault(id(part), (name, part))
            if part is thing:
                return name
        return None


def _visible(scope: dict[str, Any]) -> Iterator[tuple[str, Any]]:
    """What can be seen by a name, and then what that holds."""
    visible = {k: v for k, v in scope.items() if not k.startswith("_")}
    yield from visible.items()
    seen: dict[int, Any] = {}
    for name, holder in visible.items():
        if not isinstance(holder, (ModuleType, FunctionType, type)):
            yield from _inside(holder, name, DEEP, seen)


def _inside(holder: Any, name: str, deep: int, seen: dict[int, Any]) -> Iterator[tuple[str, Any]]:
    """A thing and all that it holds, the first part with all of its own first."""
    yield name, holder
    if not deep or id(holder) in seen:
        return
    seen[id(holder)] = holder  # held: what a property makes would leave its id to another
    if isinstance(holder, (list, tuple)):
        parts: Any = ((f"{name}[{k}]", part) for k, part in enumerate(holder[:256]))
    elif isinstance(holder, dict):
        parts = ((f"{name}[{k!r}]", part) for k, part in list(holder.items())[:256])
    else:
        parts = ((f"{name}.{k}", v) for k, v in _attributes(holder))
    for inner, part in parts:
        yield from _inside(part, inner, deep - 1, seen)


def _attributes(holder: Any) -> Iterator[tuple[str, Any]]:
    """The public attributes of an object (`kernel` and `layers` of Keras are properties)."""
    library = type(holder).__module__.partition(".")[0] == "keras"
    for name, value in list(getattr(holder, "__dict__", {}).items()):
        if not name.startswith("_"):
            yield name, value
        elif library and isinstance(getattr(type(holder), name[1:], None), property):
            if isinstance(value, (list, tuple, dict)) and name != "_layers":
                continue  # lists of variables: these are asked for by a better name
            with suppress(Exception):  # whatever a property does
                yield name[1:], getattr(holder, name[1:])
