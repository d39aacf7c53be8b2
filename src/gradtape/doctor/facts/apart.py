"""Reads from the source whether a gradient is taken for one derivative of each target element."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from ..source import flow
from ..source.place import Place, span_of, tree
from ..trace import Trace

COMPARE = frozenset({
    "allclose", "isclose", "array_equal", "assert_allclose", "assert_almost_equal", "assert_equal",
    "assert_array_almost_equal", "assert_array_equal", "assert_near",
})  # fmt: skip
OFF = frozenset({"abs", "fabs", "norm", "square"})  # how far two are from each other
# Of an array one number: how large it is as a whole.
WHOLE = frozenset({
    "norm", "global_norm", "reduce_sum", "reduce_mean", "reduce_max", "reduce_any", "sum", "mean",
    "max", "any", "is_finite", "isfinite", "isnan", "is_nan", "check_numerics",
})  # fmt: skip
TABLES = frozenset({"stack", "column_stack", "DataFrame"})
SAME = frozenset({"numpy", "array", "asarray", "tolist", "convert_to_tensor", "copy"})
MATHS: dict[str, Callable] = {
    "exp": np.exp, "log": np.log, "sin": np.sin, "cos": np.cos, "tan": np.tan, "tanh": np.tanh,
    "cosh": np.cosh, "sinh": np.sinh, "sqrt": np.sqrt, "square": np.square, "abs": np.abs,
    "ones_like": np.ones_like, "zeros_like": np.zeros_like,
}  # fmt: skip
FILLED: dict[str, Callable] = {"zeros": np.zeros, "ones": np.ones, "empty": np.zeros}
SUMS: dict[str, Callable] = {
    "sum": np.sum,
    "reduce_sum": np.sum,
    "mean": np.mean,
    "reduce_mean": np.mean,
}
SIGNS: dict[type, Callable] = {
    ast.Add: np.add, ast.Sub: np.subtract, ast.Mult: np.multiply, ast.Div: np.true_divide,
    ast.Pow: np.power, ast.MatMult: np.matmul,
}  # fmt: skip


class Unknown(Exception):
    """The source does not tell the value."""


class Sight:
    """One function or module in which the result of a query, and maybe its target, has a name."""

    def __init__(self, trace: Trace, file: str, scope: ast.AST, call: ast.AST | None) -> None:
        self.file, self.call = file, call
        self.nodes = list(_own(scope))
        self.values: dict[str, ast.expr] = {}
        many = set()
        for node in self.nodes:
            if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Subscript):
                continue  # `table[k] = …` fills what is there
            for name in set(flow.bound(node)) if isinstance(node, ast.stmt) else ():
                many |= {name} & set(self.values)
                value = getattr(node, "value", None)
                plain = isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name)
                self.values[name] = value if plain else node  # type: ignore[assignment]
        self.values = {name: value for name, value in self.values.items() if name not in many}
        self.known = {
            e.place.span: e.outputs[0].array for e in trace.events
            if e.way == "op" and e.place.file == file and len(e.outputs) == 1
        }  # fmt: skip

    def stands_for(self, node: ast.AST, names: set[str]) -> bool:
        """Is an expression one of some names, as it is or turned into an array?"""
        node = _core(node)
        if isinstance(node, ast.Name) and node.id in self.values and node.id not in names:
            value = _core(self.values[node.id])
            return isinstance(value, ast.Name) and value.id in names
        return isinstance(node, ast.Name) and node.id in names and node.id in self.values

    def beside(self, result: set[str], target: set[str]) -> bool:
        """Do result and target stand side by side, element by element?"""
        for node in self.nodes:
            if isinstance(node, ast.Call) and _called(node) == "zip":
                parts: list[ast.expr] = node.args
            elif isinstance(node, ast.Call) and _called(node) in TABLES and _foreign(node):
                parts = _parts(node.args[0]) if node.args else []
            else:
                if isinstance(node, ast.For) and self._indexed(node, result, target):
                    return True
                continue
            if all(any(self.stands_for(p, names) for p in parts) for names in (result, target)):
                return True
        return False

    def _indexed(self, loop: ast.For, result: set[str], target: set[str]) -> bool:
        index, over = loop.target, loop.iter
        along = False
        if isinstance(over, ast.Call) and _called(over) == "enumerate" and over.args:
            along = self.stands_for(over.args[0], target)
            index = index.elts[0] if isinstance(index, ast.Tuple) else index
        if not isinstance(index, ast.Name):
            return False
        taken = [
            n.value for s in loop.body for n in ast.walk(s)
            if isinstance(n, ast.Subscript) and isinstance(n.slice, ast.Name)
            and n.slice.id == index.id
        ]  # fmt: skip
        along = along or any(self.stands_for(n, target) for n in taken)
        return along and any(self.stands_for(n, result) for n in taken)

    def once_for_each(self, result: set[str], counts: set[int]) -> bool:
        """Is the whole result taken in every turn of a loop that has one for each element?"""
        for node in self.nodes:
            if isinstance(node, ast.For):
                loops, body = [(node.target, node.iter)], list(map(ast.walk, node.body))
            elif isinstance(node, (ast.ListComp, ast.GeneratorExp)):
                loops, body = [(g.target, g.iter) for g in node.generators], [ast.walk(node.elt)]
            else:
                continue
            parts = [part for walked in body for part in walked]
            turns = {n.id for to, _ in loops for n in ast.walk(to) if isinstance(n, ast.Name)}
            if self.call in parts or not any(self._turns(over) in counts for _, over in loops):
                continue
            indexed = [p.value for p in parts if isinstance(p, ast.Subscript) and turns & _names(p)]
            whole = [p for p in parts if self.stands_for(p, result) and p not in indexed]
            inner = {id(n) for p in indexed for n in ast.walk(p)}
            if any(id(p) not in inner for p in whole):
                return True
        return False

    def _turns(self, over: ast.expr) -> int | None:
        """How often a loop turns, where the source tells it."""
        if isinstance(over, ast.Call) and _called(over) in ("enumerate", "list") and over.args:
            return self._turns(over.args[0])
        try:
            if isinstance(over, ast.Call) and _called(over) == "range" and len(over.args) == 1:
                return int(self._value(over.args[0], 0))
            return len(self._value(over, 0))
        except (Unknown, ValueError, TypeError, IndexError):
            return len(over.elts) if isinstance(over, (ast.List, ast.Tuple)) else None

    def by_rows(self, result: set[str]) -> bool:
        """Does a loop go through the result, row by row?"""
        loops = [n.iter for n in self.nodes if isinstance(n, ast.For)]
        over = [n.args if _called(n) in ("enumerate", "zip") else [n] for n in loops
                if isinstance(n, ast.Call)] + [[n] for n in loops]  # fmt: skip
        return any(self.stands_for(part, result) for parts in over for part in parts)

    def numbered(self, result: set[str]) -> set[int]:
        """The numbers that are written behind the result, as in `grads[0]`."""
        taken = [n for n in self.nodes
                 if isinstance(n, ast.Subscript) and self.stands_for(n.value, result)]  # fmt: skip
        return {
            n.slice.value for n in taken
            if isinstance(n.slice, ast.Constant) and isinstance(n.slice.value, int)
        }  # fmt: skip

    def only_glanced_at(self, result: set[str]) -> bool:
        """Is it only asked whether the result is there, of which shape or how large?"""
        uses = [n for n in self.nodes if isinstance(n, ast.Name) and n.id in result
                and isinstance(n.ctx, ast.Load)]  # fmt: skip
        glances = set()
        for node in self.nodes:
            looks = isinstance(node, ast.Compare) and isinstance(node.ops[0], (ast.Is, ast.IsNot))
            looks = looks or (isinstance(node, ast.Attribute) and node.attr in ("shape", "dtype"))
            if isinstance(node, ast.Call) and _called(node) in WHOLE:
                looks = not any(map(_along, ast.walk(node)))
            if looks:
                glances |= {id(n) for n in ast.walk(node)}
        return bool(uses) and all(id(n) in glances for n in uses)

    def compared(self, result: set[str]) -> Iterator[np.ndarray]:
        """What the result is compared with, where the source tells its value."""
        for node in self.nodes:
            pairs: list[tuple[ast.expr, ast.expr]] = []
            if isinstance(node, ast.Call) and _called(node) in COMPARE and len(node.args) > 1:
                pairs.append((node.args[0], node.args[1]))
            elif isinstance(node, ast.Compare):
                if isinstance(node.ops[0], ast.Eq):
                    pairs.append((node.left, node.comparators[0]))
            elif isinstance(node, ast.Call) and _called(node) in OFF and node.args:
                off = node.args[0]
                if isinstance(off, ast.BinOp) and isinstance(off.op, ast.Sub):
                    pairs.append((off.left, off.right))
            for a, b in [*pairs, *((b, a) for a, b in pairs)]:
                if self.stands_for(a, result) or _core(a) is self.call:
                    try:
                        yield np.asarray(self._value(b, 0), np.float64)
                    except (Unknown, ValueError, TypeError, IndexError):
                        continue

    def _value(self, node: Any, depth: int) -> Any:
        """The value of an expression of literals, arithmetic and what ops gave."""
        if depth > 20 or not isinstance(node, ast.expr):
            raise Unknown
        span = span_of(self.file, node)
        if span in self.known:
            return np.asarray(self.known[span])
        if isinstance(node, ast.Name) and node.id in self.values:
            return self._value(self.values[node.id], depth + 1)
        if isinstance(node, ast.Constant) and isinstance(node.value, (int, float)):
            return node.value
        if isinstance(node, (ast.List, ast.Tuple)):
            return np.array([self._value(part, depth + 1) for part in node.elts])
        if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
            return -self._value(node.operand, depth + 1)
        if isinstance(node, ast.BinOp) and type(node.op) in SIGNS:
            left, right = self._value(node.left, depth + 1), self._value(node.right, depth + 1)
            with np.errstate(all="ignore"):
                return SIGNS[type(node.op)](left, right)
        if isinstance(node, ast.Subscript) and isinstance(node.slice, ast.Tuple):
            parts = [ast.unparse(part) for part in node.slice.elts]
            if sorted(parts) == [":", "None"]:
                return np.expand_dims(self._value(node.value, depth + 1), parts.index("None"))
        if isinstance(node, ast.Call):
            return self._result(node, depth)
        raise Unknown

    def _result(self, node: ast.Call, depth: int) -> Any:
        name, core = _called(node), _core(node)
        if name == "len" and len(node.args) == 1:
            return len(self._value(node.args[0], depth + 1))
        if core is not node:
            return self._value(core, depth + 1)
        if name in ("constant", "Variable") and _foreign(node) and node.args:
            return self._value(node.args[0], depth + 1)
        if not _foreign(node) or node.keywords:
            raise Unknown
        values = [self._value(part, depth + 1) for part in node.args]
        if name in FILLED and values:
            return FILLED[name](np.asarray(values[0], int))
        with np.errstate(all="ignore"):
            if name in MATHS and len(values) == 1:
                return MATHS[name](values[0])
            if name in SUMS and len(values) == 1:
                return SUMS[name](values[0])
        raise Unknown


def sights(trace: Trace, place: Place, target: str) -> Iterator[tuple[Sight, set[str], set[str]]]:
    """Where the result of a query is in sight, with its names there, and those of the target."""
    whole, call = tree(place.file), place.node
    if whole is None or call is None:
        return
    function = flow.function_of(place.code)
    if isinstance(function, ast.Lambda):
        return
    statement = place.statement
    names = set()
    if isinstance(statement, ast.Assign) and _core(statement.value) is call:
        names = set(flow.names_of(place))
    here = Sight(trace, place.file, function or whole, call)
    yield here, names, {target}
    if function is None:
        return
    returned = [n for n in here.nodes if isinstance(n, ast.Return)]
    namesakes = [n for n in ast.walk(whole)
                 if isinstance(n, ast.FunctionDef) and n.name == function.name]  # fmt: skip
    if len(returned) != 1 or returned[0].value is None or len(namesakes) != 1:
        return
    value = returned[0].value
    given = value.elts if isinstance(value, ast.Tuple) else [value]
    scopes = [whole, *(n for n in ast.walk(whole) if isinstance(n, ast.FunctionDef))]
    for scope in scopes:
        for node in _own(scope):
            if not isinstance(node, ast.Assign) or not isinstance(_core(node.value), ast.Call):
                continue
            if _called(_core(node.value)) != function.name:
                continue
            (to, *_) = node.targets
            bound = to.elts if isinstance(to, ast.Tuple) else [to]
            if len(bound) != len(given):
                continue
            pairs = [(b.id, g) for b, g in zip(bound, given, strict=True)
                     if isinstance(b, ast.Name)]  # fmt: skip
            results = {b for b, g in pairs if _core(g) is call or here.stands_for(g, names)}
            targets = {b for b, g in pairs if here.stands_for(g, {target})}
            yield Sight(trace, place.file, scope, None), results, targets


def _own(scope: ast.AST) -> Iterator[ast.AST]:
    """The parts of a function or module, without the functions in it; methods neither."""
    for child in ast.iter_child_nodes(scope):
        if not isinstance(child, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Lambda)):
            yield child
            yield from _own(child)


def _along(node: ast.AST) -> bool:
    """Is something reduced along an axis, so that more than one number is left?"""
    if not isinstance(node, ast.Call) or _called(node) not in WHOLE:
        return False
    return any(k.arg == "axis" for k in node.keywords) or len(node.args) > _foreign(node)


def _names(node: ast.AST) -> set[str]:
    return {n.id for n in ast.walk(node) if isinstance(n, ast.Name)}


def _called(node: ast.AST) -> str:
    function = node.func if isinstance(node, ast.Call) else None
    return str(getattr(function, "id", "") or getattr(function, "attr", ""))


def _foreign(node: ast.Call) -> bool:
    """A function of NumPy, TensorFlow or pandas, by how they are called everywhere."""
    return ast.unparse(node.func).split(".")[0] in ("np", "numpy", "tf", "tensorflow", "pd")


def _core(node: ast.AST) -> ast.AST:
    """`x` of `x.numpy()` and `np.array(x)`."""
    while isinstance(node, ast.Call) and _called(node) in SAME:
        if node.args and _foreign(node):
            node = node.args[0]
        elif not node.args and isinstance(node.func, ast.Attribute):
            node = node.func.value
        else:
            break
    return node


def _parts(node: ast.expr) -> list[ast.expr]:
    if isinstance(node, ast.Dict):
        return node.values
    return node.elts if isinstance(node, (ast.List, ast.Tuple)) else []
