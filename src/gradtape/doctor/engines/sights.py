"""What functions had in sight while they were traced: objects and modules, to be looked at later.

A `tf.function` runs its Python code once, and `if self.training:` is decided then. What stands
there later is read here without running any code of the user's.
"""

from __future__ import annotations

import ast
import inspect
import operator
import weakref
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from types import CodeType, FrameType
from typing import Any

from .frames import foreign

TRACERS = ("tensorflow.python.eager.polymorphic_function", "gradtape.compile")
PLAIN = (bool, int, float, str, type(None))
COMPARED: dict[type, Callable[[Any, Any], Any]] = {
    ast.Eq: operator.eq, ast.NotEq: operator.ne, ast.Lt: operator.lt, ast.LtE: operator.le,
    ast.Gt: operator.gt, ast.GtE: operator.ge, ast.In: lambda a, b: a in b,
    ast.NotIn: lambda a, b: a not in b,
}  # fmt: skip


class Unknown(Exception):
    """It cannot be said what an expression would give."""


@dataclass(eq=False)
class Sight:
    """The objects that one call of a function could see."""

    code: CodeType
    free: frozenset[str]  # names of functions around it
    names: dict[str, Any]
    module: dict[str, Any]

    def value(self, node: ast.AST, around: dict[str, Any] | None = None) -> Any:
        """What an expression would give now; `around` has names that may have been bound anew."""
        if isinstance(node, ast.Constant):
            return node.value
        if isinstance(node, ast.Name):
            return self._named(node.id, around or {})
        if isinstance(node, ast.Attribute):
            found = inspect.getattr_static(self.value(node.value, around), node.attr, Unknown)
            if found is Unknown or isinstance(found, property):
                raise Unknown
            return found
        if isinstance(node, ast.Subscript):
            holder, key = self.value(node.value, around), self.value(node.slice, around)
            if isinstance(holder, (list, tuple, dict)) and isinstance(key, PLAIN):
                try:
                    return holder[key]  # type: ignore[index]
                except (LookupError, TypeError):
                    raise Unknown from None
        raise Unknown

    def truth(self, node: ast.AST, around: dict[str, Any] | None = None) -> bool:
        """Whether a condition would hold now."""
        if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
            return not self.truth(node.operand, around)
        if isinstance(node, ast.BoolOp):
            every = isinstance(node.op, ast.And)
            return (all if every else any)([self.truth(part, around) for part in node.values])
        if isinstance(node, ast.Compare) and len(node.ops) == 1:
            return self._compared(node, around)
        found = self.value(node, around)
        if not isinstance(found, (*PLAIN, list, tuple, dict)):
            raise Unknown
        return bool(found)

    def _compared(self, node: ast.Compare, around: dict[str, Any] | None) -> bool:
        left, right = self.value(node.left, around), self.value(node.comparators[0], around)
        kind = node.ops[0]
        if isinstance(kind, (ast.Is, ast.IsNot)):
            return (left is right) is isinstance(kind, ast.Is)
        several = isinstance(kind, (ast.In, ast.NotIn)) and isinstance(right, (list, tuple, set))
        if not isinstance(left, PLAIN) or not (several or isinstance(right, PLAIN)):
            raise Unknown
        try:
            return bool(COMPARED[type(kind)](left, right))
        except TypeError:
            raise Unknown from None

    def of_module(self, without: set[str]) -> Sight:
        """What another function of the same module can see of it, beside names of its own."""
        module = {name: thing for name, thing in self.module.items() if name not in without}
        return Sight(self.code, frozenset(), {}, module)

    def _named(self, name: str, around: dict[str, Any]) -> Any:
        if name in self.free and name in around:
            return around[name]
        if name in self.names:
            held = self.names[name]
            found = held() if isinstance(held, weakref.ref) else held
            if found is None and isinstance(held, weakref.ref):
                raise Unknown
            return found
        if (self.names and name in self.code.co_varnames) or name not in self.module:
            raise Unknown
        return self.module[name]


class Sights:
    """Those of all functions that were traced."""

    def __init__(self) -> None:
        self._known: dict[int, list[Sight]] = {}  # by the id of the code
        self._seen: set[tuple[int, int]] = set()
        self._held: list[CodeType] = []  # so that no id comes twice

    def note(
        self,
        frame: FrameType | None,
        original: Callable[[CodeType, int], tuple[CodeType, int]] | None = None,
    ) -> None:
        """An op is made while a function is traced: these are the frames of it."""
        inside = False
        while frame is not None:
            if not foreign(frame):
                inside = True
                if frame.f_code.co_name != "<module>":
                    self._take(frame, original)
            elif inside and (frame.f_globals.get("__name__") or "").startswith(TRACERS):
                return
            frame = frame.f_back

    def of(self, code: CodeType) -> list[Sight]:
        """What a function could see, each time that it was traced."""
        return self._known.get(id(code), [])

    def codes(self) -> Iterator[CodeType]:
        """The functions that were traced."""
        return (sights[0].code for sights in self._known.values())

    def forget(self) -> None:
        self._known.clear()
        self._seen.clear()

    def _take(self, frame: FrameType, original: Any) -> None:
        code, local = frame.f_code, frame.f_locals
        given = code.co_varnames[: code.co_argcount + code.co_kwonlyargcount]
        first = id(local.get(given[0])) if given else 0
        if (id(code), first) in self._seen:
            return
        self._seen.add((id(code), first))
        written = code if original is None else original(code, frame.f_lasti)[0]
        self._held += [code, written]
        names = {name: local[name] for name in (*given, *code.co_freevars) if name in local}
        kept = {k: held for k, v in names.items() if (held := _held(v)) is not None}
        sight = Sight(written, frozenset(code.co_freevars), kept, frame.f_globals)
        self._known.setdefault(id(written), []).append(sight)


def _held(thing: Any) -> Any:
    """A thing so that it does not live longer; what is plain, or cannot be held so, as it is."""
    if thing is None or isinstance(thing, (*PLAIN, dict, list)):
        return thing
    try:
        return weakref.ref(thing)
    except TypeError:
        return None
