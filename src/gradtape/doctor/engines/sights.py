"""What functions had in sight while they were traced: objects and modules, to be looked at later.

A `tf.function` runs its Python code once, and `if self.training:` is decided then. What stands
there later is read here without running any code of the user's.
"""

from __future__ import annotations

import ast
import contextlib
import inspect
import operator
import weakref
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import lru_cache
from types import CodeType, FrameType, FunctionType, MethodType, ModuleType
from typing import Any

import numpy as np

from ..source import flow
from ..source.place import by_code
from ..source.users import is_users
from .frames import foreign

TRACERS = ("tensorflow.python.eager.polymorphic_function", "gradtape.compile")
PLAIN = (bool, int, float, str, type(None))
COMPARED: dict[type, Callable[[Any, Any], Any]] = {
    ast.Eq: operator.eq, ast.NotEq: operator.ne, ast.Lt: operator.lt, ast.LtE: operator.le,
    ast.Gt: operator.gt, ast.GtE: operator.ge, ast.In: lambda a, b: a in b,
    ast.NotIn: lambda a, b: a not in b,
}  # fmt: skip


COMPUTED: dict[type, Callable[[Any, Any], Any]] = {
    ast.Add: operator.add, ast.Sub: operator.sub, ast.Mult: operator.mul,
    ast.Div: operator.truediv, ast.FloorDiv: operator.floordiv, ast.Mod: operator.mod,
}  # fmt: skip
CALLED: dict[str, Callable[..., Any]] = {
    "min": min, "max": max, "abs": abs, "float": float, "int": int, "bool": bool, "len": len,
}  # fmt: skip
LISTS = (list, tuple, dict, set, frozenset)
SMALL = 1 << 16  # numbers of an array that is kept as it was
DEEP = 4  # functions behind each other that are looked into without having computed anything
TIMES = 8  # that a thing which functions read is noticed to change
MANY = 256  # readings of a function


class Unknown(Exception):
    """It cannot be said what an expression would give."""


@dataclass(eq=False)
class Sight:
    """The objects that one call of a function could see."""

    code: CodeType
    free: frozenset[str]  # names of functions around it
    names: dict[str, Any]
    module: dict[str, Any]
    by: CodeType | None = None  # the function that calls it, of one that computed nothing
    then: dict[str, Any] = field(default_factory=dict)  # what readings gave, by their text

    def value(self, node: ast.AST, around: dict[str, Any] | None = None, then: bool = False) -> Any:
        """What an expression would give now, or gave `then`; `around` has names that may have been
        bound anew."""
        if then and isinstance(node, READINGS) and (old := self.then.get(text_of(node))):
            return old.value()
        if isinstance(node, ast.Constant):
            return node.value
        if isinstance(node, ast.Name):
            given = self._bound_to(node.id)
            if given is not None:
                return self.value(given, around, then)
            return self._named(node.id, around or {})
        if isinstance(node, (ast.BinOp, ast.UnaryOp)):
            return self._computed(node, around, then)
        if isinstance(node, ast.Call):
            return self._called(node, around, then)
        if isinstance(node, ast.Attribute):
            holder = self.value(node.value, around, then)
            found = inspect.getattr_static(holder, node.attr, Unknown)
            if found is Unknown or isinstance(found, property):
                raise Unknown
            return found
        if isinstance(node, ast.Subscript):
            holder = self.value(node.value, around, then)
            if isinstance(node.slice, ast.Slice):
                return self._part(holder, node.slice, around, then)
            key = self.value(node.slice, around, then)
            if isinstance(holder, (list, tuple, dict)) and isinstance(key, PLAIN):
                try:
                    return holder[key]  # type: ignore[index]
                except (LookupError, TypeError):
                    raise Unknown from None
        raise Unknown

    def truth(
        self, node: ast.AST, around: dict[str, Any] | None = None, then: bool = False
    ) -> bool:
        """Whether a condition would hold now, or held `then`."""
        if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
            return not self.truth(node.operand, around, then)
        if isinstance(node, ast.BoolOp):
            every = isinstance(node.op, ast.And)
            return (all if every else any)([self.truth(p, around, then) for p in node.values])
        if isinstance(node, ast.Compare) and len(node.ops) == 1:
            return self._compared(node, around, then)
        found = self.value(node, around, then)
        if not isinstance(found, (*PLAIN, *LISTS)):
            raise Unknown
        return bool(found)

    def _compared(self, node: ast.Compare, around: dict[str, Any] | None, then: bool) -> bool:
        kind = node.ops[0]
        right = self.value(node.comparators[0], around, then)
        if isinstance(kind, (ast.In, ast.NotIn)) and isinstance(right, LISTS) and not right:
            return isinstance(kind, ast.NotIn)  # whatever is looked for
        left = self.value(node.left, around, then)
        if isinstance(kind, (ast.Is, ast.IsNot)):
            return (left is right) is isinstance(kind, ast.Is)
        several = isinstance(kind, (ast.In, ast.NotIn)) and isinstance(right, LISTS)
        if not isinstance(left, PLAIN) or not (several or isinstance(right, PLAIN)):
            raise Unknown
        try:
            return bool(COMPARED[type(kind)](left, right))
        except TypeError:
            raise Unknown from None

    def _computed(
        self, node: ast.BinOp | ast.UnaryOp, around: dict[str, Any] | None, then: bool
    ) -> Any:
        """Arithmetic with plain numbers."""
        parts = [node.operand] if isinstance(node, ast.UnaryOp) else [node.left, node.right]
        found = [self.value(part, around, then) for part in parts]
        if not all(isinstance(number, (int, float)) for number in found):
            raise Unknown
        if isinstance(node.op, ast.USub):
            return -found[0]
        try:
            return COMPUTED[type(node.op)](*found)
        except (ArithmeticError, KeyError, TypeError):
            raise Unknown from None

    def _called(self, node: ast.Call, around: dict[str, Any] | None, then: bool) -> Any:
        """What some of Python's own functions give for plain numbers."""
        name = node.func.id if isinstance(node.func, ast.Name) else ""
        if name not in CALLED or name in self.module or node.keywords:
            raise Unknown
        found = [self.value(part, around, then) for part in node.args]
        fits = LISTS if name == "len" else (int, float)
        if not all(isinstance(given, fits) for given in found):
            raise Unknown
        try:
            return CALLED[name](*found)
        except (TypeError, ValueError):
            raise Unknown from None

    def _part(self, holder: Any, cut: ast.Slice, around: dict[str, Any] | None, then: bool) -> Any:
        ends = [
            None if end is None else self.value(end, around, then)
            for end in (cut.lower, cut.upper, cut.step)
        ]
        if not isinstance(holder, (list, tuple)) or not all(
            end is None or isinstance(end, int) for end in ends
        ):
            raise Unknown
        return holder[slice(*ends)]

    def _bound_to(self, name: str) -> ast.expr | None:
        """What a name of the function itself stands for, if it is bound once."""
        return None if name in self.names else flow.given_once(self.code, name)

    def take_down(self) -> None:
        """Note what everything that the function reads from outside gives now."""
        for node in readings(self.code):
            try:
                self.then[text_of(node)] = Noted(self.value(node))
            except Exception:  # whatever stands there
                continue

    def changed(self, around: dict[str, Any] | None = None) -> Iterator[tuple[ast.expr, Any, Any]]:
        """The readings that would give something else now, with what they gave."""
        for node in readings(self.code):
            old = self.then.get(text_of(node))
            if old is None:
                continue
            try:
                now = self.value(node, around)
            except Exception:  # whatever stands there
                continue
            if old.differs(now):
                yield node, old, now

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


READINGS = (ast.Name, ast.Attribute, ast.Subscript)


@by_code(256)
def readings(code: CodeType) -> list[ast.expr]:
    """The names, attributes and entries that a function takes from outside of it."""
    function = flow.function_of(code)
    if function is None:
        return []
    given = set(code.co_varnames[: code.co_argcount + code.co_kwonlyargcount])
    own = set(code.co_varnames) | set(code.co_cellvars)
    body = function.body if isinstance(function.body, list) else [function.body]
    found: dict[str, ast.expr] = {}
    for part in (part for statement in body for part in ast.walk(statement)):
        if not isinstance(part, READINGS) or not isinstance(part.ctx, ast.Load):
            continue
        base = _base(part)
        # A name of the function itself is bound anew in every call; what it holds may not be.
        if base and (base not in own or (base in given and not isinstance(part, ast.Name))):
            found.setdefault(text_of(part), part)
    return list(found.values())[:MANY]


def _base(node: ast.AST) -> str:
    """The name that an expression begins with."""
    while isinstance(node, (ast.Attribute, ast.Subscript)):
        node = node.value
    return node.id if isinstance(node, ast.Name) else ""


@lru_cache(maxsize=4096)
def text_of(node: ast.AST) -> str:
    return ast.unparse(node)


class Noted:
    """What a reading gave: plain things and small arrays as they were, of others who they were."""

    __slots__ = ("held", "kind", "one")

    def __init__(self, thing: Any) -> None:
        self.kind = type(thing)
        self.one = id(thing)
        self.held: Any = None
        if isinstance(thing, PLAIN):
            self.held = thing
        elif isinstance(thing, np.ndarray) and thing.size <= SMALL and thing.dtype.kind != "O":
            self.held = thing.copy()
        elif isinstance(thing, LISTS):
            entries = thing.items() if isinstance(thing, dict) else enumerate(thing)
            self.held = [e if isinstance(e[1], PLAIN) else (e[0], id(e[1])) for e in entries]
        elif isinstance(thing, ModuleType):
            raise Unknown
        elif isinstance(thing, FunctionType):
            self.held = thing.__code__  # by which its ops are known, when it is gone
        else:
            self.held = _held(thing)

    def value(self) -> Any:
        """The thing, where it was kept."""
        if self.kind in PLAIN or isinstance(self.held, np.ndarray):
            return self.held
        found = self.held() if isinstance(self.held, weakref.ref) else None
        if found is None:
            raise Unknown
        return found

    def differs(self, now: Any) -> bool:
        """Is something else there now?"""
        if isinstance(now, (*PLAIN, np.generic)) and self.kind in PLAIN:
            return bool(now != self.held)
        if isinstance(self.held, np.ndarray):
            same = isinstance(now, np.ndarray) and now.shape == self.held.shape
            return not same or not np.array_equal(now, self.held, equal_nan=now.dtype.kind == "f")
        if isinstance(self.held, list):
            return not isinstance(now, LISTS) or Noted(now).held != self.held
        return id(now) != self.one


class Sights:
    """Those of all functions that were traced."""

    def __init__(self) -> None:
        # By the id of the code, and by who it was called for.
        self._known: dict[int, dict[int, Sight]] = {}
        self._seen: dict[tuple[int, int], Any] = {}  # in which trace
        self._held: list[CodeType] = []  # so that no id comes twice
        self._watched: list[Watched] = []
        self.stirred = 0  # how often one of these was something else

    def note(
        self,
        frame: FrameType | None,
        original: Callable[[CodeType, int], tuple[CodeType, int]] | None = None,
        trace: Any = None,
    ) -> None:
        """An op is made while a function is traced: these are the frames of it."""
        inside = False
        while frame is not None:
            if not foreign(frame):
                inside = True
                if frame.f_code.co_name != "<module>":
                    self._take(frame, original, trace)
            elif inside and (frame.f_globals.get("__name__") or "").startswith(TRACERS):
                return
            frame = frame.f_back

    def of(self, code: CodeType) -> list[Sight]:
        """What a function could see, each time that it was traced."""
        return [s for s in self._known.get(id(code), {}).values() if s.by is None]

    def codes(self) -> Iterator[CodeType]:
        """The functions that were traced."""
        found = (next(iter(sights.values())) for sights in self._known.values())
        return (sight.code for sight in found if sight.by is None)

    def everything(self) -> Iterator[Sight]:
        """Also what those could see that computed nothing themselves."""
        return (sight for sights in self._known.values() for sight in sights.values())

    def look(self) -> int:
        """How often one of the things that functions read was seen to be another one: each counts
        a few times, so that a counter is no news at every step."""
        other = [entry for entry in self._watched if entry.is_other()]
        if other:
            self.stirred += len(other)
            self._watched = [entry for entry in self._watched if entry.times < TIMES]
        return self.stirred

    def forget(self) -> None:
        self._known.clear()
        self._seen.clear()
        self._watched.clear()

    def _take(self, frame: FrameType, original: Any, trace: Any) -> None:
        code, local = frame.f_code, frame.f_locals
        given = code.co_varnames[: code.co_argcount + code.co_kwonlyargcount]
        first = id(local.get(given[0])) if given and not _is_tensor(local.get(given[0])) else 0
        if self._seen.get((id(code), first), self) == trace:
            return
        self._seen[id(code), first] = trace
        written = code if original is None else original(code, frame.f_lasti)[0]
        self._held += [code, written]
        names = {name: local[name] for name in (*given, *code.co_freevars) if name in local}
        kept = {k: held for k, v in names.items() if (held := _held(v)) is not None}
        sight = Sight(written, frozenset(code.co_freevars), kept, frame.f_globals)
        self._add(sight, first)

    def _add(self, sight: Sight, first: int, deep: int = 0) -> None:
        """Note what a function reads, and what those read that it calls: they may compute
        nothing."""
        self._known.setdefault(id(sight.code), {})[first] = sight
        sight.take_down()
        for holder, name, thing in sight_holders(sight):
            self._watched.append(Watched(holder, name, thing, _length(thing)))
        for function, it in _calls(sight) if deep < DEEP else ():
            code = function.__code__
            known = self._known.get(id(code), {}).get(id(it))
            if known is None:
                self._held.append(code)
                names = dict(zip(code.co_varnames[: it is not None], [_held(it)], strict=False))
                for name, cell in zip(code.co_freevars, function.__closure__ or (), strict=False):
                    with contextlib.suppress(ValueError):
                        names[name] = _held(cell.cell_contents)
                inner = Sight(
                    code, frozenset(code.co_freevars), names, function.__globals__, sight.code
                )
                self._add(inner, id(it), deep + 1)


def sight_holders(sight: Sight) -> Iterator[tuple[dict, str, Any]]:
    """The dictionaries that hold what a function reads: those of objects, and of its module."""
    for node in readings(sight.code):
        try:
            holder: Any = sight.module
            name: Any = getattr(node, "id", "")
            if isinstance(node, ast.Attribute):
                holder, name = vars(sight.value(node.value)), node.attr
            elif isinstance(node, ast.Subscript):
                holder, name = sight.value(node.value), sight.value(node.slice)
            if (
                isinstance(holder, dict)
                and name in holder
                and isinstance(holder[name], (*PLAIN, *LISTS, FunctionType))
            ):
                yield holder, name, holder[name]
        except Exception:  # whatever stands there
            continue


def _length(thing: Any) -> int:
    return len(thing) if isinstance(thing, LISTS) else 0


@dataclass(eq=False, slots=True)
class Watched:
    """What a reading gave, where it is kept."""

    holder: dict
    name: str
    thing: Any
    length: int
    times: int = 0

    def is_other(self) -> bool:
        """Is another thing there, or are there more of them? What is there now is known then."""
        now = self.holder.get(self.name)
        if now is self.thing and (self.length == 0 or len(now) == self.length):
            return False
        self.thing, self.length, self.times = now, _length(now), self.times + 1
        return True


def _calls(sight: Sight) -> Iterator[tuple[FunctionType, Any]]:
    """The user's functions that a function calls, as far as that can be said without a run, and
    the objects that they are called for."""
    function = flow.function_of(sight.code)
    for node in () if function is None else ast.walk(function):
        if isinstance(node, ast.Call):
            try:
                yield from _behind(sight, node.func)
            except Exception:  # whatever stands there
                continue


def _behind(sight: Sight, node: ast.expr) -> Iterator[tuple[FunctionType, Any]]:
    thing = sight.value(node)
    if isinstance(thing, MethodType):
        function, it = thing.__func__, thing.__self__
    elif isinstance(thing, FunctionType):
        bound = isinstance(node, ast.Attribute) and thing.__name__ not in _own(sight, node.value)
        function, it = thing, sight.value(node.value) if bound else None  # type: ignore[attr-defined]
    else:
        function, it = None, thing
        for name in ("call", "__call__"):
            found = inspect.getattr_static(type(thing), name, None)
            if isinstance(found, FunctionType) and is_users(found.__module__ or ""):
                function = found
                break
    if isinstance(function, FunctionType) and is_users(function.__module__ or ""):
        yield function, it


def _own(sight: Sight, node: ast.expr) -> dict[str, Any]:
    """What an object has of its own: functions there are not bound to it."""
    return dict(getattr(sight.value(node), "__dict__", {}))


def _is_tensor(thing: Any) -> bool:
    """Is it data, of which there is another in every call?"""
    return hasattr(type(thing), "dtype") and hasattr(type(thing), "shape")


def _held(thing: Any) -> Any:
    """A thing so that it does not live longer; what is plain, or cannot be held so, as it is."""
    if thing is None or isinstance(thing, (*PLAIN, dict, list)):
        return thing
    try:
        return weakref.ref(thing)
    except TypeError:
        return None
