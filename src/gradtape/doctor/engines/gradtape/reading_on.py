"""Reads from the program's text the way that a tape has no record of, for `tape.explain`.

A tape that nobody listened to does not know where a source was lost. If the lines that lead to the
target are plain ones, each of them an expression of TensorFlow's functions, NumPy's and operators,
the text says it. One line that may do anything (a call of a function of the user's, a branch that
was taken or not) and nothing is said: a guess is worse than none.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator
from inspect import CO_ASYNC_GENERATOR, CO_COROUTINE, CO_GENERATOR, CO_VARARGS, CO_VARKEYWORDS
from types import FrameType, FunctionType
from typing import Any

from ....core.op import registry
from ....framework.tensor import Tensor
from ....framework.variable import Variable
from ...facts import names
from ...facts.case import Case
from ...source import flow, sources
from ...source.place import Written, at, full_name, nodes
from ...source.users import is_users
from ...trace import Answer, Event, Query, Trace, Value, Watch
from ...trace import Variable as TracedVariable
from .models import held
from .taped import NUMBER, Taped

ENGINES = ("gradtape", "tensorflow")
BRANCHES = (ast.If, ast.For, ast.While, ast.Try, ast.Match, ast.FunctionDef, ast.ClassDef)
LEAVE = {"numpy": "numpy", "item": "python", "tolist": "python"}  # methods, by how they leave
PYTHON = ("py_function", "numpy_function", "function", "custom_gradient", "map_fn", "while_loop")
NUMBERS = ("float", "int", "bool", "complex", "item")
DEEP = 8  # functions that call each other, which are read
NOT_PLAIN = (
    CO_ASYNC_GENERATOR | CO_COROUTINE | CO_GENERATOR | CO_VARARGS | CO_VARKEYWORDS
)  # fmt: skip
WHOLE = ("int", "bool")  # in the name of a dtype without a derivative


class Unclear(Exception):
    """What a line does is not plain from its text."""


class Symbol(Value):
    """A value that the text speaks of: a float, where nothing says otherwise."""

    __slots__ = ("whole",)

    def __init__(self, kind: str = "tensor", array: Any = None, **more: Any) -> None:
        super().__init__(kind, array, **more)
        self.whole = False

    @property
    def floating(self) -> bool:
        return not self.whole if self.array is None else self.array.dtype.kind in "fcV"


def read_on(taped: Taped, case: Case, source: Any, user: FrameType) -> Case | None:
    """The same question to a trace that was read from the text; None where that is not plain."""
    block = taped.tape.place.statement
    if not isinstance(block, ast.With) or not isinstance(case.query.place.node, ast.Call):
        return None
    try:
        return _Text(taped, case, held(source), user, block).case()
    except Unclear:
        return None


class _Text:
    """The statements of one function before the question, and what they do with one source."""

    def __init__(
        self, taped: Taped, case: Case, source: Any, user: FrameType, block: ast.With
    ) -> None:
        self.asked, self.block, self.code = case, block, user.f_code
        self.file = case.query.place.file
        self.scope: dict[str, Any] = {**user.f_globals, **user.f_locals}
        self.depth = 0  # functions of the user's that are read in the place of their calls
        self.inside = False  # is the line one of the tape's block?
        self.trace = Trace("gradtape", tapes={NUMBER: taped.tape})
        self.tape = taped.tape
        self.recorder = taped.recorder
        self.time = 0.0
        self.known: dict[str, Value | None] = {}  # what names stand for; None: nothing of interest
        self.name = case.answer.name
        self.thing = source
        self.source = self._given(source)

    def _given(self, thing: Any) -> Symbol:
        if isinstance(thing, Variable):
            variable = TracedVariable(0, thing.trainable, thing.name, None, owner=thing)
            self.trace.variables.append(variable)
            return self._new(Symbol("variable", thing._outside(), variable=variable, thing=thing))
        if not isinstance(thing, Tensor):
            raise Unclear
        return self._new(Symbol("tensor", thing._value, thing=thing))

    def _new(self, value: Symbol) -> Symbol:
        self.trace.values.append(value)
        return value

    # --- the whole --------------------------------------------------------------------------------
    def case(self) -> Case | None:
        (given,) = names.arguments(self.asked.query.place, "target")
        if not isinstance(given, ast.Name):
            raise Unclear
        if self.source.variable is None and not self._made_once():
            raise Unclear  # it may have been a variable, of which another thing was made
        line = self.asked.query.place.line
        before = [s for s in flow.statements(self.code) if s.lineno < line]
        before.sort(key=lambda s: s.lineno)
        way = self._way(before, {given.id}, line)
        for statement in before:
            if statement is self.block:
                self._watched(automatic=True)
            elif self._watches(statement):
                self._watched(automatic=False)
            elif statement in way:
                self._run(statement)
        target = self.known.get(given.id)
        if not isinstance(target, Symbol) or target is self.source:
            return None
        query = self.asked.query
        answer = self.asked.answer
        asked: Any = self.source.variable or self.source
        own = Answer(asked, answer.name, None, answer.state, aliases=answer.aliases)
        self.tape.spans[:] = [[0.0, float("inf")]]
        made = Query(
            self.tape, query.method, [target], query.target_name, [own], query.place,
            self.time + 1, query.step, scope=query.scope,
        )  # fmt: skip
        self.trace.queries.append(made)
        found = Case(self.trace, made, own, self.asked.history)
        return found if self._agrees(found) else None

    def _made_once(self) -> bool:
        there = [n for n in nodes(self.file) if isinstance(n, ast.stmt)]
        return self.name.isidentifier() and sum(self.name in flow.bound(s) for s in there) <= 1

    def _way(self, before: list[ast.stmt], wanted: set[str], line: int) -> set[ast.stmt]:
        """The statements that the target comes from, read backwards."""
        way: set[ast.stmt] = set()
        another = False  # does the source's name stand for something else from here up?
        for statement in reversed(before):
            own = self.name in (given := set(flow.bound(statement)))
            another = another or own
            made = (given & wanted) - {self.name}
            if own and self.name in flow.used(statement):
                raise Unclear
            if not made or statement is self.block:
                continue
            if another and self.name in flow.used(statement):
                raise Unclear
            if not isinstance(statement, (ast.Assign, ast.AnnAssign, ast.AugAssign)):
                raise Unclear
            if any(self._around(branch, statement, line) for branch in self._branches()):
                raise Unclear
            way.add(statement)
            if not isinstance(statement, ast.AugAssign):
                wanted -= made
            wanted |= set(flow.used(statement))
        return way

    def _branches(self) -> Iterator[Any]:
        return (node for node in nodes(self.file) if isinstance(node, BRANCHES))

    @staticmethod
    def _around(branch: Any, statement: ast.stmt, line: int) -> bool:
        """Does a statement belong to a branch, a loop or a function that the question is not in?"""
        inside = branch.lineno < statement.lineno <= branch.end_lineno
        return inside and not branch.lineno < line <= branch.end_lineno

    def _agrees(self, found: Case) -> bool:
        """Is it what the tape recorded? Up to the first break it has records of all that it
        follows."""
        if found.path is None:
            return False
        recorded = {(r[2], r[3]) for r in self.recorder.records if r[2] is not None}
        places = [at(code, offset) for code, offset in recorded]
        lines = {(place.file, place.line) for place in places}
        watches, cuts = found.tape.watches_of(self.source), found.path.cuts
        if not watches:
            return True
        if not cuts:
            return watches[0].time > found.path.events[0].time
        before = found.path.events[: found.path.events.index(cuts[0].event)]
        return all((e.place.file, e.place.line) in lines for e in before if e.tapes)

    # --- watching ---------------------------------------------------------------------------------
    def _watches(self, statement: ast.stmt) -> bool:
        call = statement.value if isinstance(statement, ast.Expr) else None
        return (
            isinstance(call, ast.Call) and isinstance(call.func, ast.Attribute)
            and call.func.attr == "watch" and self.name in map(ast.unparse, call.args)
        )  # fmt: skip

    def _watched(self, automatic: bool) -> None:
        """The tape knows whether it follows the source; the text knows from when on."""
        self.time += 1
        thing, recorder = self.thing, self.recorder
        if isinstance(thing, Variable):
            followed = thing._id in recorder.variables and automatic == thing.trainable
        else:
            followed = not automatic and getattr(thing, "_id", None) in recorder.leaves
        if followed:
            watched: Any = self.source.variable or self.source
            self.tape.watch(Watch(watched, self.time, self.tape.place, automatic))

    # --- statements and expressions ---------------------------------------------------------------
    def _run(self, statement: Any) -> None:
        if not self.depth:
            first, last = self.block.body[0].lineno, self.block.end_lineno or 0
            self.inside = first <= statement.lineno <= last
        (target,) = statement.targets if isinstance(statement, ast.Assign) else [statement.target]
        if not isinstance(target, ast.Name) or statement.value is None:
            raise Unclear
        value = self._value(statement.value)
        if isinstance(statement, ast.AugAssign):
            value = self._op("AddV2", "add", [self._value(_loaded(target)), value], statement)
        self.known[target.id] = value

    def _value(self, node: Any) -> Any:
        """What an expression gives of the source: a value, a list of some, or None."""
        if isinstance(node, (ast.Name, ast.Attribute)):
            if not self.depth and ast.unparse(node) == self.name:
                return self.source
            if isinstance(node, ast.Name) and node.id in self.known:
                return self.known[node.id]
            if self._object(node) is self.thing:
                return self.source
            if isinstance(node, ast.Name):
                return None
        if isinstance(node, ast.Constant):
            return None
        if isinstance(node, (ast.List, ast.Tuple)):
            found = _flat(map(self._value, node.elts))
            return found if any(found) else None
        if isinstance(node, (ast.ListComp, ast.GeneratorExp)):
            return self._repeated(node)
        if isinstance(node, ast.Call):
            return self._call(node)
        parts = [p for p in ast.iter_child_nodes(node) if isinstance(p, ast.expr)]
        given = _flat(map(self._value, parts))
        if not any(given):
            return None
        if isinstance(node, ast.Attribute):
            return None if node.attr in ("shape", "dtype", "name") else _unclear()
        if isinstance(node, ast.Compare):
            return self._op("Greater", "compare", given, node)
        if isinstance(node, (ast.BinOp, ast.UnaryOp)):
            floor = isinstance(getattr(node, "op", None), ast.FloorDiv)
            return self._op("FloorDiv" if floor else "AddV2", "op", given, node)
        if isinstance(node, ast.Subscript) and self._value(node.slice) is None:
            return self._op("StridedSlice", "getitem", given, node)
        return _unclear()

    def _call(self, node: ast.Call) -> Any:
        words = [*node.args, *(k.value for k in node.keywords)]
        given = _flat(map(self._value, words))
        function = node.func
        if (
            isinstance(function, ast.Attribute)
            and (base := self._value(function.value)) is not None
        ):
            if isinstance(base, Symbol) and base.maker is not None and base.maker.way != "op":
                if function.attr in NUMBERS:
                    base.maker.way = "python"  # it was one number
                return base  # a method of an array's
            if function.attr in LEAVE and isinstance(base, Symbol):
                return self._leave(LEAVE[function.attr], f".{function.attr}()", [base], node)
            return _unclear()
        name = full_name(self.file, function)
        root, _, last = name.partition(".")[0], None, name.rpartition(".")[2]
        inner = self._function(function)
        if inner is not None:
            return self._read(*inner, node)
        if not any(given):
            return None
        if root == "numpy":
            return self._leave("numpy", "np.asarray()", given, node)
        if name in NUMBERS or root == "math":
            return self._leave("python", f"{last}()", given, node)
        if root not in ENGINES:
            return _unclear()
        if last == "Variable":
            return self._leave("rewrap", "tf.Variable", given, node)
        if last in ("constant", "convert_to_tensor"):
            is_variable = any(v is not None and v.variable is not None for v in given)
            return self._leave("copy", "tf.constant", given, node) if is_variable else given[0]
        if last == "cast":
            made = self._op("Cast", "cast", given, node)
            made.whole = any(word in ast.unparse(words[-1]) for word in WHOLE)
            return made
        if last in PYTHON:
            return _unclear()
        op = registry.get(last)
        if op is None:
            if any(v is not None and v.whole for v in given):
                raise Unclear  # what it chooses by them
            return self._op(last, last, given, node)
        made = self._op(op.kind, op.name, given, node)
        made.whole = op.name != "stop_gradient" and not any(
            getattr(rule, "followed", True) for rule in op.rules
        )
        return made

    def _repeated(self, node: Any) -> Any:
        """A list of an expression for each of some things that have nothing to do with it."""
        (loop, *more) = node.generators
        name = loop.target
        if more or loop.ifs or not isinstance(name, ast.Name) or name.id == self.name:
            raise Unclear
        if self._value(loop.iter) is not None:
            raise Unclear
        outer, self.known = self.known, {**self.known, name.id: None}
        try:
            value = self._value(node.elt)
        finally:
            self.known = outer
        return None if value is None else _flat([value])

    # --- functions of the user's ------------------------------------------------------------------
    def _object(self, node: ast.expr) -> Any:
        """What a name or an attribute stands for now, without running anything of the user's."""
        if isinstance(node, ast.Name):
            return self.scope.get(node.id)
        if isinstance(node, ast.Attribute):
            return getattr(self._object(node.value), "__dict__", {}).get(node.attr)
        return None

    def _function(self, node: ast.expr) -> tuple[FunctionType, Any] | None:
        """The user's function that a call runs, with the object that it is a method of."""
        found = self._object(node)
        if isinstance(found, FunctionType):
            return (found, None) if is_users(found.__module__) else None
        owner, name = found, "__call__"
        if found is None and isinstance(node, ast.Attribute):
            owner, name = self._object(node.value), node.attr
        method = getattr(type(owner), "__dict__", {}).get(name)
        users = isinstance(method, FunctionType) and is_users(method.__module__)
        return (method, owner) if users and owner is not None else None  # type: ignore[return-value]

    def _read(self, function: FunctionType, owner: Any, call: ast.Call) -> Any:
        """What a call of the user's function gives: its lines, read as if they stood here."""
        code, body = function.__code__, flow.function_of(function.__code__)
        if body is None or self.depth == DEEP or code.co_flags & NOT_PLAIN:
            raise Unclear
        params = list(code.co_varnames[: code.co_argcount + code.co_kwonlyargcount])
        cells = zip(code.co_freevars, function.__closure__ or (), strict=True)
        scope = {**function.__globals__, **{name: _content(cell) for name, cell in cells}}
        scope.update(dict.fromkeys(params))
        if owner is not None:
            scope[params.pop(0)] = owner
        if len(call.args) > len(params) or any(isinstance(a, ast.Starred) for a in call.args):
            raise Unclear
        pairs = [*zip(params, call.args, strict=False)]
        pairs += [(k.arg, k.value) for k in call.keywords if k.arg in params]
        if len(pairs) < len(call.args) + len(call.keywords):
            raise Unclear
        known = {name: self._value(node) for name, node in pairs}
        scope.update({name: self._object(node) for name, node in pairs})
        outer = self.code, self.file, self.scope, self.known
        self.code, self.file, self.scope = code, sources.file_of(code), scope
        self.known = {k: v for k, v in known.items() if v is not None}
        self.depth += 1
        try:
            return self._body(body)
        finally:
            self.depth -= 1
            self.code, self.file, self.scope, self.known = outer

    def _body(self, function: Any) -> Any:
        if isinstance(function, ast.Lambda):
            return self._value(function.body)
        for statement in function.body:
            if isinstance(statement, ast.Return):
                return None if statement.value is None else self._value(statement.value)
            if isinstance(statement, (ast.Assign, ast.AugAssign, ast.AnnAssign)):
                self._run(statement)
                self.scope.update(dict.fromkeys(flow.bound(statement)))
            elif not (
                isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant)
            ):
                raise Unclear  # a docstring says nothing, anything else may do anything
        return None

    def _op(self, kind: str, name: str, given: list, node: Any) -> Any:
        values = [v for v in given if v is not None]
        if not values or all(v.maker is not None and v.maker.way != "op" for v in values):
            return values[0] if values else None  # Python's numbers and arrays among themselves
        inputs = [self._new(Symbol()) if v is None else v for v in given]
        return self._add(Event(kind, name, inputs, [], Written(self.code, node), 0.0))

    def _leave(self, way: str, how: str, given: list, node: Any) -> Symbol:
        values = [v for v in given if v is not None]
        if all(v.maker is not None and v.maker.way == way for v in values):
            return values[0]  # it has left before
        place = Written(self.code, node)
        return self._add(Event(how, how, values, [], place, 0.0, way, sure=False))

    def _add(self, event: Event) -> Symbol:
        self.time += 1
        made = self._new(Symbol(maker=event))
        event.time, event.outputs = self.time, [made]
        event.tapes = frozenset({NUMBER}) if self.inside else frozenset()
        self.trace.events.append(event)
        for value in event.inputs:
            value.users.append(event)
        return made


def _flat(values: Iterable[Any]) -> list[Any]:
    return [v for value in values for v in (value if isinstance(value, list) else [value])]


def _unclear() -> Any:
    raise Unclear


def _content(cell: Any) -> Any:
    try:
        return cell.cell_contents
    except ValueError:  # not bound yet
        return None


def _loaded(name: ast.Name) -> ast.Name:
    return ast.copy_location(ast.Name(name.id, ast.Load()), name)
