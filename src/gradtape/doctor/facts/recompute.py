"""A NumPy detour as the op it was: the source between exit and return, computed again.

The expression that came back is evaluated from the user's source, with the tensors that had left in
their places: with recorded functions, which have exact derivatives, else with NumPy's own and small
differences. A result that is not what had come back is thrown away.
"""

from __future__ import annotations

import ast
import operator
from collections.abc import Callable
from itertools import pairwise
from types import BuiltinFunctionType, CodeType, FunctionType, ModuleType
from typing import Any

import numpy as np

from ..source import flow, namesakes, sources
from ..source.place import Place, at, span_of
from ..trace import Event
from .detours import ARRAYS, Entry, Exit

MOST = 512  # numbers that are moved one by one for a difference
STEP = 1e-6
_DEEP = 60  # expressions in expressions
_BINARY: dict[type, Callable] = {
    ast.Add: operator.add, ast.Sub: operator.sub, ast.Mult: operator.mul,
    ast.Div: operator.truediv, ast.Pow: operator.pow, ast.MatMult: operator.matmul,
}  # fmt: skip
_PLAIN = (bool, int, float, complex, str, np.ndarray, np.generic, type(None), type(Ellipsis))
_KNOWN = (*_PLAIN, ModuleType, FunctionType, BuiltinFunctionType, np.ufunc)
_MAKERS = ("constant", "convert_to_tensor", "identity")
_SAME = ("astype", "copy", "item", "tolist", "numpy", "view")


def _no_recorder() -> Any:
    raise Unknown("no tape records NumPy's functions")


# A package with TensorFlow's names whose tape differentiates what NumPy's functions compute; the
# engines set this.
recorder: Callable[[], Any] = _no_recorder
Evaluate = Callable[[list, bool], Any]  # inputs and "with recorded functions?" to the result


class Unknown(Exception):
    """Something that the source alone does not tell."""


def numpy_pull(event: Event, notes: list[str], scope: dict[str, Any]) -> Any:
    """The pull of a detour, or None when it cannot be repeated."""
    exits: list[Exit] = event.attrs["exits"]
    entry: Entry = event.attrs["entry"]
    if _alike(_joined(exits), entry.given):
        return lambda gs: _shares(gs[0], [v.shape for v in event.inputs])
    starts = [np.asarray(e.value.array, np.float64) for e in exits]
    wanted = np.asarray(entry.given, np.float64)
    for node in flow.operands(at(*entry.stack[0]), entry.operand):

        def evaluate(inputs: list, recorded: bool, node: ast.AST = node) -> Any:
            return _Reading(exits, entry, inputs, scope, recorded).result(node)

        pull = _pull(evaluate, starts, wanted, event, notes)
        if pull is not None:
            return pull
    return None


def function_pull(event: Event, notes: list[str]) -> Any:
    """The pull of a Python function that ran as one op, read from its source."""
    function = event.attrs.get("function")
    starts = [np.asarray(v.array, np.float64) for v in event.inputs]
    if function is None or len(event.outputs) != 1:
        return None
    code = getattr(function, "__code__", None)
    cells = zip(getattr(code, "co_freevars", ()), function.__closure__ or (), strict=False) if (
        code is not None) else ()  # fmt: skip
    scope = {**getattr(function, "__globals__", {}), **{k: c.cell_contents for k, c in cells}}

    def evaluate(inputs: list, recorded: bool) -> Any:
        return _Reading([], None, inputs, scope, recorded).of(function, code)

    wanted = np.asarray(event.outputs[0].array, np.float64)
    return _pull(evaluate, starts, wanted, event, notes)


def _pull(evaluate: Evaluate, starts: list, wanted: Any, event: Event, notes: list[str]) -> Any:
    with np.errstate(all="ignore"):
        for make in (_recorded_pull, _difference_pull):
            try:
                pull = make(evaluate, starts, wanted)
            except Exception:  # whatever it was: this reading of the source does not work
                continue
            notes += [f"by differences of {event.name}"] if make is _difference_pull else []
            return pull
    return None


def _joined(exits: list[Exit]) -> Any:
    """What left, one after the other: a list of such numbers or arrays may be what came back."""
    try:
        return np.concatenate([np.ravel(np.asarray(e.result, np.float64)) for e in exits])
    except (TypeError, ValueError):
        return None


def _shares(g: Any, shapes: list[tuple[int, ...]]) -> list:
    """The parts of a cotangent that belong to values of these shapes."""
    ends = np.cumsum([int(np.prod(shape)) for shape in shapes])
    parts = np.split(np.ravel(g), ends[:-1])
    return [part.reshape(shape) for part, shape in zip(parts, shapes, strict=True)]


def _alike(left: Any, came: Any) -> bool:
    try:
        a, b = np.ravel(np.asarray(left, np.float64)), np.ravel(np.asarray(came, np.float64))
    except (TypeError, ValueError):
        return False
    return a.size == b.size and bool(np.allclose(a, b, rtol=1e-5, equal_nan=True))


def _recorded_pull(evaluate: Evaluate, starts: list, wanted: Any) -> Callable:
    tf = recorder()

    def pull(gs: Any) -> list:
        tensors = [tf.constant(start) for start in starts]
        with tf.GradientTape() as tape:
            tape.watch(tensors)
            result = tf.convert_to_tensor(evaluate(tensors, True))
            if not _alike(result.numpy(), wanted):
                raise Unknown("another value")
        g = np.reshape(np.asarray(gs[0], np.float64), result.shape)
        found = tape.gradient(result, tensors, output_gradients=tf.constant(g))
        return [None if h is None else np.asarray(h) for h in found]

    pull([np.ones_like(wanted)])
    return pull


def _difference_pull(evaluate: Evaluate, starts: list, wanted: Any) -> Callable:
    if sum(start.size for start in starts) > MOST:
        raise Unknown("too many numbers")

    def value(*arrays: Any) -> np.ndarray:
        return np.asarray(evaluate(list(arrays), False), np.float64)

    if not _alike(value(*starts), wanted):
        raise Unknown("another value")

    def pull(gs: Any) -> list:
        g, found = np.asarray(gs[0], np.float64).ravel(), []
        for k, start in enumerate(starts):
            derivative = np.zeros(start.size)
            for i, x in enumerate(start.ravel()):
                h = STEP * max(1.0, abs(x))
                ends = []
                for moved in (x + h, x - h):
                    arrays = [np.array(s) for s in starts]
                    arrays[k].reshape(-1)[i] = moved
                    ends.append(value(*arrays).ravel())
                derivative[i] = np.vdot(g, (ends[0] - ends[1]) / (2 * h))
            found.append(derivative.reshape(start.shape))
        return found

    return pull


class _Reading:
    """One evaluation of the user's source, with `inputs` where the tensors left."""

    def __init__(
        self, exits: list[Exit], entry: Entry | None, inputs: list, scope: dict, recorded: bool
    ) -> None:
        stack = () if entry is None else entry.stack
        self.stack = stack
        self.parameters: dict[str, Any] = {}
        self.exits, self.inputs, self.scope, self.recorded = exits, inputs, scope, recorded
        self.round: int | None = None  # of a loop over exits at one place
        self.used: set[int] = set()
        self.deep = 0
        # Which call of the user's led to which function, with the exit below it.
        self.calls = {
            (sources.file_of(outer[0]), at(*outer).span): (inner[0], at(*outer))
            for e in exits
            for inner, outer in pairwise(e.stack)
        }
        self.entered = [(inner[0], at(*outer)) for inner, outer in pairwise(stack)]

    def result(self, node: ast.AST) -> Any:
        """The value of an expression; every exit must have had its part in it."""
        found = self.value(node, self.stack[0][0])
        if len(self.used) < len(self.inputs):
            raise Unknown("not all that left came back here")
        return found

    def of(self, function: Any, code: CodeType | None) -> Any:
        """What a function gives for the inputs."""
        if code is None:
            name = function.__name__
            return self._call(_package(function), name, function, self.inputs, {})
        names = code.co_varnames[: code.co_argcount]
        self.parameters = dict(zip(names, self.inputs, strict=True))
        return self._result(code)

    def value(self, node: ast.AST, code: CodeType) -> Any:
        self.deep += 1
        if self.deep > _DEEP:
            raise Unknown("too deep")
        try:
            return getattr(self, f"_{type(node).__name__}", self._other)(node, code)
        finally:
            self.deep -= 1

    def _other(self, node: ast.AST, code: CodeType) -> Any:
        raise Unknown(type(node).__name__)

    # --- what stands there ------------------------------------------------------------------------
    def _Constant(self, node: ast.Constant, code: CodeType) -> Any:
        return node.value

    def _UnaryOp(self, node: ast.UnaryOp, code: CodeType) -> Any:
        if not isinstance(node.op, ast.USub):
            raise Unknown("an operator")
        return -self.value(node.operand, code)

    def _BinOp(self, node: ast.BinOp, code: CodeType) -> Any:
        if type(node.op) not in _BINARY:
            raise Unknown("an operator")
        left, right = self.value(node.left, code), self.value(node.right, code)
        return _BINARY[type(node.op)](_wide(left), _wide(right))

    def _IfExp(self, node: ast.IfExp, code: CodeType) -> Any:
        """The branch that a tensor left in is the one that ran."""
        ran = any(_holds(node.body, at(*frame)) for e in self.exits for frame in e.stack)
        return self.value(node.body if ran else node.orelse, code)

    def _List(self, node: ast.List | ast.Tuple, code: CodeType) -> Any:
        return [self.value(part, code) for part in node.elts]

    _Tuple = _List

    def _ListComp(self, node: ast.ListComp, code: CodeType) -> Any:
        inner = [e for e in self.exits if _holds(node, e.place)]
        return self._rounds(node.elt, inner[0].stack[0][0] if inner else code)

    _GeneratorExp = _ListComp

    def _rounds(self, node: ast.AST, code: CodeType) -> list:
        """An expression of a loop, once for every time that a tensor left in it."""
        places = {e.place for e in self.exits if _holds(node, e.place)}
        if len(places) != 1 or self.round is not None:
            raise Unknown("a loop")
        found = []
        for number in range(sum(e.place in places for e in self.exits)):
            self.round = number
            found.append(self.value(node, code))
        self.round = None
        return found

    # --- names ------------------------------------------------------------------------------------
    def _Name(self, node: ast.Name, code: CodeType) -> Any:
        return self._named(node.id, node, code)

    def _named(self, name: str, node: ast.expr, code: CodeType) -> Any:
        before = [
            s for s in flow.statements(code)
            if name in set(flow.bound(s)) and s.lineno < node.lineno
        ]  # fmt: skip
        try:
            if before:
                return self._assigned(name, before, code)
            if name in self.parameters:
                return self.parameters[name]
            return self._parameter(name, code)
        except Unknown:
            if name in self._tainted(code):
                raise
        known = self.scope.get(name, self)
        parts = known if isinstance(known, (list, tuple)) else [known]
        if not all(isinstance(part, _KNOWN) for part in parts):
            raise Unknown(name)
        return known

    def _assigned(self, name: str, before: list[ast.stmt], code: CodeType) -> Any:
        last = before[-1] if len(before) == 1 else max(before, key=lambda s: s.lineno)
        if isinstance(last, ast.Assign) and [ast.unparse(t) for t in last.targets] == [name]:
            return self.value(last.value, code)
        if isinstance(last, ast.Assign) and isinstance(last.targets[0], ast.Tuple):
            return self._part(
                last.value, [ast.unparse(t) for t in last.targets[0].elts], name, code
            )
        sums = [s for s in before if isinstance(s, ast.AugAssign)]
        if sums == [last] and isinstance(last, ast.AugAssign) and isinstance(last.op, ast.Add):
            start = self._assigned(name, [s for s in before if s is not last], code)
            return sum(self._rounds(last.value, code), start)  # a running total
        call = last.value if isinstance(last, ast.Expr) else None
        if isinstance(call, ast.Call) and isinstance(call.func, ast.Attribute):
            appends = [s for s in before if isinstance(s, ast.Expr)]
            if call.func.attr == "append" and len(appends) == 1:
                return self._rounds(call.args[0], code)
        raise Unknown(name)

    def _part(self, node: ast.expr, names: list[str], name: str, code: CodeType) -> Any:
        """One of several values that are given names at once: of a tuple, or of what returns it."""
        own = self.calls.get((sources.file_of(code), span_of(sources.file_of(code), node)))
        if own is not None:
            code, returned = own[0], self._returned(own[0])
            node = node if returned is None else returned
        if not isinstance(node, ast.Tuple) or name not in names or len(node.elts) != len(names):
            raise Unknown(name)
        return self.value(node.elts[names.index(name)], code)

    def _parameter(self, name: str, code: CodeType) -> Any:
        for inner, call in [*self.entered, *self.calls.values()]:
            given = flow.arguments(call, code) if inner is code else {}
            if name in given:
                return self.value(given[name], call.code)
        raise Unknown(name)

    def _tainted(self, code: CodeType) -> set[str]:
        names: set[str] = set()
        for e in self.exits:
            for frame in e.stack:
                if frame[0] is code:
                    names |= flow.bound_at(at(*frame))
        return flow.spread(code, names)

    def _Attribute(self, node: ast.Attribute, code: CodeType) -> Any:
        own = self.calls.get((sources.file_of(code), span_of(sources.file_of(code), node)))
        if own is not None:  # a property
            return self._result(own[0])
        for inner in {inner: None for e in self.exits for inner, _ in e.stack}:
            for s in flow.statements(inner):  # stored by a method, taken by another
                if not isinstance(s, ast.Assign) or not isinstance(s.targets[0], ast.Attribute):
                    continue
                if s.targets[0].attr == node.attr and _holds_any(s, self.exits):
                    return self.value(s.value, inner)
        base = self.value(node.value, code)
        if isinstance(base, ModuleType):
            return getattr(base, node.attr)
        if node.attr == "T":
            return self._call("numpy", "transpose", np.transpose, [base], {})
        raise Unknown(node.attr)

    def _Subscript(self, node: ast.Subscript, code: CodeType) -> Any:
        text = ast.unparse(node)
        for s in flow.statements(code):
            if isinstance(s, ast.Assign) and ast.unparse(s.targets[0]) == text:
                return self.value(s.value, code)
        base, key = self.value(node.value, code), self.value(node.slice, code)
        return np.asarray(base)[key] if isinstance(base, list) and not self.recorded else base[key]

    def _Slice(self, node: ast.Slice, code: CodeType) -> Any:
        parts = (node.lower, node.upper, node.step)
        return slice(*[None if p is None else self.value(p, code) for p in parts])

    # --- calls ------------------------------------------------------------------------------------
    def _Call(self, node: ast.Call, code: CodeType) -> Any:
        leaving = [k for k, e in enumerate(self.exits) if e.place.node is node]
        function = node.func
        if leaving and isinstance(function, ast.Attribute) and function.attr == "numpy":
            return self._exit(leaving)
        own = self.calls.get((sources.file_of(code), span_of(sources.file_of(code), node)))
        if own is not None and not leaving:
            return self._result(own[0])
        if isinstance(function, ast.Attribute) and not self._is_module(function.value, code):
            base = self.value(function.value, code)
            return self._method(function.attr, base, *self._given(node, code, leaving))
        called = self._function(function, code)
        args, kwargs = self._given(node, code, leaving)
        return self._call(_package(called), called.__name__, called, args, kwargs)

    def _function(self, node: ast.expr, code: CodeType) -> Any:
        if isinstance(node, ast.Name) and node.id in ("float", "abs", "sum", "max", "min"):
            return {"float": float, "abs": abs, "sum": sum, "max": max, "min": min}[node.id]
        return self.value(node, code)

    def _is_module(self, node: ast.expr, code: CodeType) -> bool:
        try:
            return isinstance(self.value(node, code), ModuleType)
        except Unknown:
            return False

    def _exit(self, numbers: list[int]) -> Any:
        if len(numbers) > 1 and self.round is None:
            raise Unknown("a loop")
        number = numbers[0] if len(numbers) == 1 else numbers[self.round or 0]
        self.used.add(number)
        return self.inputs[number]

    def _result(self, code: CodeType) -> Any:
        """What a function of the user's returned."""
        node = self._returned(code)
        if node is None:
            raise Unknown(code.co_name)
        return self.value(node, code)

    @staticmethod
    def _returned(code: CodeType) -> ast.expr | None:
        """The expression that a function gives back, if there is but one."""
        function = flow.function_of(code)
        if isinstance(function, ast.Lambda):
            return function.body
        returns = [s for s in flow.statements(code) if isinstance(s, ast.Return)]
        return returns[0].value if len(returns) == 1 else None

    def _given(self, node: ast.Call, code: CodeType, leaving: list[int]) -> tuple[list, dict]:
        """The arguments; those that are tensors left the tape in this very call."""
        if not leaving:
            return (
                [self.value(a, code) for a in node.args],
                {str(k.arg): self.value(k.value, code) for k in node.keywords},
            )
        if self.round is not None:
            leaving = [leaving[self.round]]
        known: dict[str, Any] = {}
        leaves = [leaf for a in node.args for leaf in _leaves(a)]
        unknown = {ast.unparse(leaf) for leaf in leaves if not self._plain(leaf, code)}
        queue = list(leaving)

        def take(arg: ast.expr) -> Any:
            if isinstance(arg, (ast.List, ast.Tuple)):
                return [take(part) for part in arg.elts]
            text = ast.unparse(arg)
            if text not in unknown:
                return self.value(arg, code)
            if text not in known:
                chosen = queue[:] if len(unknown) == 1 else queue[:1]
                del queue[: len(chosen)]
                self.used |= set(chosen)
                parts = [self.inputs[k] for k in chosen]
                known[text] = parts[0] if len(parts) == 1 else parts
            return known[text]

        args = [take(a) for a in node.args]
        return args, {str(k.arg): self.value(k.value, code) for k in node.keywords}

    def _plain(self, node: ast.expr, code: CodeType) -> bool:
        used = set(self.used)
        try:
            found = self.value(node, code)
        except Unknown:
            return False
        return self.used == used and isinstance(found, (*_PLAIN, list, tuple))

    def _method(self, name: str, base: Any, args: list, kwargs: dict) -> Any:
        if name in _SAME:
            return base
        if name in ("flatten", "ravel"):
            name, args = "reshape", [-1]
        if name not in namesakes.METHODS:
            raise Unknown(name)
        return self._call("numpy", name, getattr(np, name), [base, *args], kwargs)

    def _call(self, module: str, name: str, called: Any, args: list, kwargs: dict) -> Any:
        if called is float or (module == "numpy" and name in namesakes.IDENTITIES):
            return _wide(args[0])
        if module in ("gradtape", "tensorflow") and name in _MAKERS:
            return _wide(args[0])
        if module not in (*ARRAYS, "math", "builtins") or "random" in str(called):
            raise Unknown(name)
        kwargs = {k: v for k, v in kwargs.items() if k != "dtype"}
        args = [_wide(a) for a in args]
        if not self.recorded or not _holds_tensor((args, kwargs)):
            return called(*args, **kwargs)
        return _counterpart(module, name)(*args, **kwargs)


def _package(function: Any) -> str:
    """`numpy` of np.exp, which does not say itself where it comes from."""
    home = "numpy" if getattr(np, function.__name__, None) is function else "scipy"
    return (getattr(function, "__module__", None) or home).partition(".")[0]


def _counterpart(module: str, name: str) -> Callable:
    """The recorded function that does what one of NumPy's does."""
    tf = recorder()
    path = namesakes.recorded(f"{module}.{name}") or namesakes.recorded(f"{module}.special.{name}")
    if module == "builtins":
        path = namesakes.recorded(name)
    if path is not None:
        found: Any = operator.attrgetter(path)(tf)
        option, _, value = namesakes.EXTRA.get(name, "").partition("=")
        if module == "numpy" and option:
            return lambda *args, **kwargs: found(*args, **{option: int(value), **kwargs})
        return found
    recorded = getattr(tf, "numpy", None)
    if module == "numpy" and hasattr(recorded, name):
        found = getattr(recorded, name)
        return found
    raise Unknown(name)


def _holds_tensor(thing: Any) -> bool:
    if isinstance(thing, (list, tuple)):
        return any(map(_holds_tensor, thing))
    if isinstance(thing, dict):
        return any(map(_holds_tensor, thing.values()))
    return hasattr(thing, "numpy") and not isinstance(thing, ModuleType)


def _wide(thing: Any) -> Any:
    """Arrays of floats in float64: small differences need it, and tensors agree on it."""
    floats = isinstance(thing, (np.ndarray, np.generic)) and thing.dtype.kind == "f"
    return thing.astype(np.float64) if floats else thing


def _leaves(node: ast.expr) -> list[ast.expr]:
    if isinstance(node, (ast.List, ast.Tuple)):
        return [leaf for part in node.elts for leaf in _leaves(part)]
    return [node]


def _holds(node: ast.AST, place: Place) -> bool:
    return any(inner is place.node for inner in ast.walk(node))


def _holds_any(node: ast.AST, exits: list[Exit]) -> bool:
    return any(_holds(node, at(*frame)) for e in exits for frame in e.stack)
