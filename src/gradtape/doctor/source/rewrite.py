"""Rewrites a line that leaves the tape: NumPy's functions by recorded ones of the same meaning."""

from __future__ import annotations

import ast
import builtins
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any

from . import edits, flow, namesakes, sources
from .place import Place, Written, full_name, imports, parents, span_of

PACKAGES = ("numpy", "scipy", "math")
_ALONE = frozenset({"tensorflow", "gradtape", *dir(builtins)})
_DROPPED = ("numpy", "item", "tolist", "copy")


@dataclass
class Rewrite:
    """What to change in the expression around a place, and whether that is all of it."""

    place: Place
    complete: bool = True
    into: str | None = None  # a function of the user's that the array is given to
    swaps: list[tuple[str, str, int]] = field(default_factory=list)  # old, new, line
    dropped: list[str] = field(default_factory=list)  # ".numpy()", "float()"
    edits: list[tuple[int, int, str]] = field(default_factory=list)  # columns, new text

    @property
    def line(self) -> str | None:
        """The line as it should be, if it is one line and everything in it has a namesake."""
        statement = self.place.statement
        if not self.complete or not self.edits or statement is None:
            return None
        if not isinstance(statement, (ast.Assign, ast.AugAssign, ast.Expr, ast.Return)):
            return None
        if statement.lineno != statement.end_lineno:
            return None
        text = sources.line(self.place.file, statement.lineno).rstrip("\n")
        for start, stop, new in sorted(self.edits, reverse=True):
            text = text[:start] + new + text[stop:]
        return text.strip()


def rewrite(place: Place) -> Rewrite:
    """The expression at a place where a tensor left, and those around it, without leaving."""
    found = Rewrite(place)
    node = place.node
    if not isinstance(node, ast.Call):
        found.complete = False
        return found
    _call(found, node, None)
    inner: ast.AST = node
    for outer in parents(place):
        if isinstance(outer, ast.stmt):
            break
        if isinstance(outer, ast.Call) and inner is not outer.func:
            name = full_name(place.file, outer.func)
            if name.endswith(".constant"):  # of a variable, it would copy once more
                _swap(found, outer, edits.package(place) + ".convert_to_tensor", quiet=True)
                break
            if name != "float" and name.partition(".")[0] not in PACKAGES:
                if _is_function(place.file, outer.func) and name.partition(".")[0] not in _ALONE:
                    found.into, found.complete = ast.unparse(outer.func), False
                break  # the value has come back, or goes into a function of the user's
            _call(found, outer, inner)
        elif isinstance(outer, ast.Call) and isinstance(outer.func, ast.Attribute):
            _call(found, outer, inner)
        elif not isinstance(
            outer,
            (ast.BinOp, ast.UnaryOp, ast.List, ast.Tuple, ast.ListComp, ast.Attribute, ast.keyword),
        ):
            found.complete = found.complete and isinstance(outer, ast.Subscript)
        inner = outer
    return found


def later(
    place: Place, back: Place | None, listed: bool = False
) -> list[tuple[str, str | None, int]]:
    """The functions between where a value left and where it came back that would not keep it:
    NumPy's, by the names, and tf.constant, if it is given a list."""
    if back is None or place.statement is None:
        return []
    found: list[tuple[str, str | None, int]] = []
    for node in _calls_between(place, back):
        new = namesakes.recorded(full_name(place.file, node.func))
        prefix = edits.package(place)
        found.append((ast.unparse(node.func), new and f"{prefix}.{new}", node.lineno))
    if _made_of_a_list(place, back, listed):
        found.append((f"{edits.package(back)}.constant", f"{edits.package(back)}.stack", back.line))
    return list(dict.fromkeys(found))


def further(
    place: Place, back: Place | None, listed: bool, exits: Iterable[Place], scope: dict[str, Any]
) -> list[tuple[Place, str]] | None:
    """The other lines that must change with the one at a place, as they should be; None where one
    of them cannot be written."""
    lines: dict[int, tuple[Place, str | None]] = {}
    exits = [e for e in exits if not bootstrapped(e)]
    if bootstrapped(place) and any(e != place for e in exits):
        return None  # another one is what is to be trained
    if back is not None and place.statement is not None:
        picked = picks(place, back, scope)
        if picked is None:
            return None
        for where, new in picked:
            text = edits.replaced(where, new)
            lines[where.line] = where, None if where.line in lines else text
        between = [Written(place.code, node) for node in _calls_between(place, back)]
        both = {p.line for p in between} & lines.keys()
        lines.update({p.line: (p, rewrite(p).line) for p in [*between, *exits]})
        if both:
            return None
        if _made_of_a_list(place, back, listed) and isinstance(back.node, ast.Call):
            stack = edits.replaced(back, f"{edits.package(back)}.stack", back.node.func)
            lines[back.line] = back, stack if back.line not in lines else None
    lines.pop(place.line, None)
    found = [(where, text) for where, text in lines.values() if text is not None]
    return found if len(found) == len(lines) else None


def bootstrapped(place: Place) -> bool:
    """Is the largest of what left there taken, as of the values that a target is made of? Such a
    target is meant to be constant."""
    functions = [n.func for n in parents(place) if isinstance(n, ast.Call)]
    names = [n.attr if isinstance(n, ast.Attribute) else getattr(n, "id", "") for n in functions]
    return not {"max", "amax", "nanmax", "reduce_max"}.isdisjoint(names)


def picks(
    place: Place, back: Place | None, scope: dict[str, Any]
) -> list[tuple[Place, str]] | None:
    """The entries that are picked, between where a value left and where it came back, in a way that
    an array allows and a tensor does not, with what does it for a tensor; None where something is
    done to the array that no function of TensorFlow's stands for."""
    names = flow.spread(place.code, flow.bound_at(place))
    known = back is not None and place.code is back.code
    last = back.span[2] if back is not None and known else 1 << 31  # or up to the function's end
    found: list[tuple[Place, str]] = []
    for s in flow.statements(place.code):
        if s is place.statement or not place.line < s.lineno <= last:
            continue
        for node in ast.walk(s):
            if not isinstance(node, ast.Subscript) or not isinstance(node.value, ast.Name):
                continue
            name = node.value.id
            if name not in names or isinstance(scope.get(name), (list, tuple, dict)):
                continue
            if not isinstance(node.ctx, ast.Load):
                return None  # entries of a tensor cannot be assigned
            if _takes(node.slice, scope):
                continue
            new = _gathered(place, node, scope)
            if new is None:
                return None
            found.append((Written(place.code, node), new))
    return found


def _takes(index: ast.expr, scope: dict[str, Any]) -> bool:
    """Does a tensor take this index: whole numbers, slices, a new axis?"""
    if isinstance(index, ast.Tuple):
        return all(_takes(part, scope) for part in index.elts)
    if isinstance(index, ast.Name):
        return not isinstance(scope.get(index.id), (list, tuple)) and not _rank(index, scope)
    return not isinstance(index, (ast.Call, ast.List, ast.Compare))


def _rank(node: ast.expr, scope: dict[str, Any]) -> int:
    value = scope.get(node.id) if isinstance(node, ast.Name) else None
    return len(getattr(value, "shape", ()) or ())


def _gathered(place: Place, node: ast.Subscript, scope: dict[str, Any]) -> str | None:
    """A call that picks the same entries of a tensor: one of each row, or whole rows."""
    base, index = edits.text(place, node.value), node.slice
    if isinstance(index, ast.Tuple) and len(index.elts) == 2:
        rows, which = index.elts
        name = ast.unparse(rows.func).rpartition(".")[2] if isinstance(rows, ast.Call) else ""
        if name in ("arange", "range"):
            return edits.called(place, "gather", base, edits.text(place, which), "batch_dims=1")
        return None
    if not isinstance(index, ast.Name) or _rank(index, scope) != 1:
        return None
    kind = getattr(getattr(scope[index.id], "dtype", None), "kind", "")
    if kind == "b":
        return edits.called(place, "boolean_mask", base, index.id)
    return edits.called(place, "gather", base, index.id) if kind in ("i", "u") else None


def _calls_between(place: Place, back: Place) -> Iterator[ast.Call]:
    """The calls of NumPy and the like on what left at a place, before it came back."""
    names = flow.spread(place.code, flow.bound_at(place))
    last = back.span[2] if place.code is back.code else 1 << 31  # or up to the function's end
    for s in flow.statements(place.code):
        if s is place.statement or not place.line < s.lineno <= last:
            continue
        for node in ast.walk(s) if names & set(flow.used(s)) else ():
            if not isinstance(node, ast.Call) or not names & set(flow.used(node)):
                continue
            if full_name(place.file, node.func).partition(".")[0] in PACKAGES:
                yield node


def _made_of_a_list(place: Place, back: Place, listed: bool) -> bool:
    """Is it a `tf.constant` of a list of what left? Of tensors it would make nothing."""
    return listed and edits.is_call(back, back.node, "constant") and not back.contains(place)


def _call(found: Rewrite, node: ast.Call, inner: ast.AST | None) -> None:
    file, function = found.place.file, node.func
    name = full_name(file, function)
    package, _, rest = name.partition(".")
    prefix = edits.package(found.place)
    if name == "float" and len(node.args) == 1:
        found.dropped.append("float()")
        _unwrap(found, node)
    elif package == "numpy" and rest in namesakes.IDENTITIES and node.args:
        stacked = isinstance(node.args[0], (ast.List, ast.ListComp, ast.Tuple))
        _swap(found, node, f"{prefix}.{'stack' if stacked else 'convert_to_tensor'}")
        found.complete = found.complete and len(node.args) == 1 and not node.keywords
    elif package in PACKAGES:
        new = namesakes.recorded(name)
        if new is None:
            found.complete = False
        else:
            _swap(found, node, f"{prefix}.{new}")
            _extra(found, node, namesakes.EXTRA.get(rest) if package == "numpy" else None)
    elif isinstance(function, ast.Attribute) and function.attr in _DROPPED:
        found.dropped.append(f".{function.attr}()")
        start = span_of(file, function)[3] - len(function.attr) - 1  # from the dot on
        first, inner_first = span_of(file, function)[1], span_of(file, function.value)[1]
        if inner is None and inner_first == first + 1 and _stands_alone(found.place):
            found.edits.append((first, inner_first, ""))  # `(a * b).numpy()` in parentheses
            start -= 1
        found.edits.append((start, span_of(file, node)[3], ""))
    elif isinstance(function, ast.Attribute) and function.attr in namesakes.METHODS:
        _method(found, node, function, f"{prefix}.{namesakes.METHODS[function.attr]}")
    else:
        found.complete = False


def _is_function(file: str, node: ast.expr) -> bool:
    """A function by its name or of a module, and not a method of some object."""
    root = node
    while isinstance(root, ast.Attribute):
        root = root.value
    return isinstance(root, ast.Name) and (root is node or root.id in imports(file))


def _stands_alone(place: Place) -> bool:
    """An argument or the whole right side of an assignment needs no parentheses."""
    around = parents(place)[:1]
    return bool(around) and isinstance(around[0], (ast.Call, ast.Assign, ast.Return))


def _swap(found: Rewrite, node: ast.Call, new: str, quiet: bool = False) -> None:
    line, start, _, stop = span_of(found.place.file, node.func)
    if ast.unparse(node.func) == new:
        return
    found.edits.append((start, stop, new))
    if not quiet:
        found.swaps.append((ast.unparse(node.func), new, line))


def _extra(found: Rewrite, node: ast.Call, option: str | None) -> None:
    """One more argument, where TensorFlow's function wants it said."""
    if option is not None and option.partition("=")[0] not in [k.arg for k in node.keywords]:
        end = span_of(found.place.file, node)[3] - 1  # before the closing parenthesis
        found.edits.append((end, end, f", {option}"))


def _unwrap(found: Rewrite, node: ast.Call) -> None:
    """`x` of `float(x)`."""
    file = found.place.file
    (_, start, _, stop), (_, low, _, high) = span_of(file, node), span_of(file, node.args[0])
    found.edits += [(start, low, ""), (high, stop, "")]


def _method(found: Rewrite, node: ast.Call, function: ast.Attribute, new: str) -> None:
    """`tf.reduce_mean(x, axis=0)` of `x.numpy().mean(axis=0)`."""
    file = found.place.file
    line, start, _, stop = span_of(file, function)
    stop -= len(function.attr) + 1
    given = [*node.args, *(k.value for k in node.keywords)]
    end = span_of(file, node)[3]
    if given:
        text = sources.line(file, line)
        first = text.index("(", span_of(file, function)[3]) + 1
        found.edits += [(start, start, f"{new}("), (stop, first, ", ")]
    else:
        found.edits += [(start, start, f"{new}("), (stop, end, ")")]
    found.swaps.append((f".{function.attr}()", new, line))
