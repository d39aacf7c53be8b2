"""Follows a value through the names of the user's source, where no object can be followed.

`np.mean(parts)` makes a new number of the arrays that left the tape. That this number came back is
read from the source: the expression where it left lies inside the one where it came back, or its
name leads there through assignments, lists, attributes, arguments and returned values.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from types import CodeType
from typing import Any

from . import sources
from .place import Place, at, by_code, span_of, tree

Stack = Sequence[tuple[CodeType, int]]
Function = ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda
_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)
_BLOCKS = (ast.For, ast.While, ast.If, ast.With, ast.FunctionDef, ast.ClassDef, ast.Try)


# --- from where a value left to where it came back ------------------------------------------------
def connection(left: Stack, came: Stack, operand: int | None = None) -> str | None:
    """How a value that left at one stack came back at the other: "inside", "names" or not."""
    files = tuple(sources.file_of(code) for code, _ in (*left, *came))
    return _connection(files, left, came, operand)


@lru_cache(maxsize=1 << 14)  # a loop asks the same again and again; by files, as `by_code`
def _connection(files: Any, left: Stack, came: Stack, operand: int | None) -> str | None:
    met = _meeting(left, came)
    if met is None:
        return None
    i, j = met
    # Up to the function that both went through: what carries the value out of the inner ones?
    source: Place | None = at(*left[0])
    names: set[str] = set()
    attributes: set[str] = set()
    for level in range(i):
        source, names, found = _outwards(source, names, at(*left[level]), at(*left[level + 1]))
        attributes |= found
    if source is not None and source.statement is not None:
        attributes |= _suffixes(spread(left[i][0], names | set(bound(source.statement))))
    # And on the other side: what the inner ones were given.
    sink = at(*came[0])
    wanted = operands(sink, operand)
    for level in range(j):
        if _suffixes(_sources(wanted, came[level][0])) & attributes:
            return "names"
        sink = at(*came[level + 1])
        wanted = _given(wanted, came[level][0], sink)
        if not wanted:
            return None
    return _within(source, names, attributes, sink, wanted)


def _meeting(left: Stack, came: Stack) -> tuple[int, int] | None:
    """The numbers of two frames in the innermost function that both stacks went through."""
    first = dict(reversed([(code, k) for k, (code, _) in enumerate(left)]))
    for k, (code, _) in enumerate(came):
        if code in first:
            return first[code], k
    return None


def _within(
    source: Place | None, names: set[str], attributes: set[str], sink: Place, wanted: list[ast.AST]
) -> str | None:
    """In one function: is what came back made of what left?"""
    if source is not None:
        spans = [span_of(sink.file, node) for node in wanted]
        if any(_inside(source.span, span) for span in spans) or source.span == sink.span:
            return "inside"
        if source.statement is not None:
            names = names | set(bound(source.statement))
    tainted = spread(sink.code, names)
    uses = {name for node in wanted for name in used(node)}
    uses |= {base for name in uses for base in _bases(name)}
    return "names" if tainted & uses or _suffixes(uses) & attributes else None


def _outwards(
    source: Place | None, names: set[str], inner: Place, call: Place
) -> tuple[Place | None, set[str], set[str]]:
    """A value inside a function, as its caller sees it: a place, names, attributes of objects."""
    code = inner.code
    function = function_of(code)
    if function is None or isinstance(function, ast.Lambda):
        return (call if source is not None else None), set(), set()  # a comprehension
    if source is not None and source.statement is not None:
        names = names | set(bound(source.statement))
    tainted = spread(code, names)
    returned = [s for s in statements(code) if isinstance(s, ast.Return) and s.value is not None]
    out = any(
        (source is not None and _inside(source.span, span_of(sources.file_of(code), s)))
        or tainted & set(used(s))
        for s in returned
    )
    given = arguments(call, code)
    carried = {
        name for parameter in tainted & set(given) for name in used(given[parameter])
    }  # a list that was given and filled
    return (call if out else None), carried, _suffixes(tainted)


def _given(wanted: list[ast.AST], code: CodeType, call: Place) -> list[ast.AST]:
    """What a function uses, as what its caller gave it."""
    given = arguments(call, code)
    return [given[name] for name in _sources(wanted, code) if name in given]


def _sources(wanted: list[ast.AST], code: CodeType) -> set[str]:
    """All names that some expressions of a function are made of, through its assignments."""
    found = {name for node in wanted for name in used(node)}
    found |= {base for name in found for base in _bases(name)}
    grew = True
    while grew:
        more = {u for s in statements(code) if found & set(bound(s)) for u in used(s)}
        grew = not more <= found
        found |= more
    return found


def _suffixes(names: Iterable[str]) -> set[str]:
    """`cache` of `self.cache`: the object may have another name elsewhere."""
    return {name.rpartition(".")[2] for name in names if "." in name}


def _bases(name: str) -> Iterator[str]:
    """`a.b` and `a` of `a.b.c`: who changes the whole changes the part."""
    while "." in name:
        name = name.rpartition(".")[0]
        yield name


def _inside(inner: tuple, outer: tuple) -> bool:
    return outer[:2] <= inner[:2] and inner[2:] <= outer[2:]


def spread(code: CodeType, names: set[str]) -> set[str]:
    """The names that get their value from some, directly or by way of others."""
    tainted = set(names)
    grew = bool(tainted)
    while grew:
        grew = False
        for statement in statements(code):
            new = set(bound(statement)) - tainted
            if new and tainted & set(used(statement)):
                tainted |= new
                grew = True
    return tainted


# --- functions and their calls --------------------------------------------------------------------
@by_code(256)
def function_of(code: CodeType) -> Function | None:
    """The definition of a function; None of a module, a comprehension and where no source is."""
    whole = tree(sources.file_of(code))
    lambdas = code.co_name == "<lambda>"
    if whole is None or (code.co_name.startswith("<") and not lambdas):
        return None
    for node in ast.walk(whole):
        if (
            isinstance(node, _FUNCTIONS)
            and isinstance(node, ast.Lambda) == lambdas
            and _first_line(node) == code.co_firstlineno
        ):
            return node
    return None


@by_code(256)
def statements(code: CodeType) -> tuple[ast.stmt, ...]:
    """The statements of a function or module, nested blocks included."""
    scope: ast.AST | None = function_of(code)
    if scope is None and code.co_name == "<module>":
        scope = tree(sources.file_of(code))
    return () if scope is None else tuple(n for n in ast.walk(scope) if isinstance(n, ast.stmt))


def _first_line(node: ast.AST) -> int:
    decorators = getattr(node, "decorator_list", None)
    return decorators[0].lineno if decorators else node.lineno  # type: ignore[attr-defined]


def arguments(call: Place, code: CodeType) -> dict[str, ast.expr]:
    """What a call gives for the parameters of the function that it calls."""
    node = call.node
    if not isinstance(node, ast.Call):
        return {}
    names = code.co_varnames[: code.co_argcount + code.co_kwonlyargcount]
    given: dict[str, ast.expr] = {}
    if isinstance(node.func, ast.Attribute) and names[:1] in (("self",), ("cls",)):
        given[names[0]] = node.func.value
        names = names[1:]
    elif names[:1] == ("self",):  # an object that is called
        given[names[0]] = node.func
        names = names[1:]
    given.update(zip(names, [a for a in node.args if not isinstance(a, ast.Starred)], strict=False))
    given.update({k.arg: k.value for k in node.keywords if k.arg is not None})
    return given


def operands(place: Place, number: int | None = None) -> list[ast.AST]:
    """The expressions that an op at a place took; one of them, where it is known which."""
    node = place.node
    if node is None:
        statement = place.statement
        if isinstance(statement, ast.AugAssign):
            pair: list[ast.AST] = [statement.target, statement.value]
            return pair if number is None else pair[number : number + 1] or pair
        return [] if statement is None or isinstance(statement, _BLOCKS) else [statement]
    parts: list[ast.AST] = [node]
    if isinstance(node, ast.BinOp):
        parts = [node.left, node.right]
    elif isinstance(node, ast.Compare):
        parts = [node.left, *node.comparators]
    elif isinstance(node, ast.Call):
        parts = [*node.args, *(k.value for k in node.keywords)] or [node]
        if node.keywords or any(isinstance(a, ast.Starred) for a in node.args):
            return parts  # their order is not that of the operands
    return parts if number is None or number >= len(parts) else [parts[number]]


@by_code(256)
def given_once(code: CodeType, name: str) -> ast.expr | None:
    """What a plain name of a function is bound to, when one assignment binds it and no other."""
    if name not in code.co_varnames[code.co_argcount + code.co_kwonlyargcount :]:
        return None
    found = [s for s in statements(code) if name in bound(s)]
    if len(found) != 1 or not isinstance(found[0], ast.Assign):
        return None
    (target, *more) = found[0].targets
    return found[0].value if isinstance(target, ast.Name) and not more else None


# --- names in statements --------------------------------------------------------------------------
def bound(statement: ast.AST) -> Iterator[str]:
    """The names that a statement gives a value to."""
    if isinstance(statement, ast.Assign):
        for target in statement.targets:
            yield from _targets(target)
    elif isinstance(statement, (ast.AugAssign, ast.AnnAssign, ast.For)):
        yield from _targets(statement.target)
    elif isinstance(statement, ast.With):
        for item in statement.items:
            if item.optional_vars is not None:
                yield from _targets(item.optional_vars)
    elif isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Call):
        function = statement.value.func  # parts.append(value) gives `parts` something
        if isinstance(function, ast.Attribute):
            yield from _targets(function.value)
    for node in _own(statement):
        if isinstance(node, ast.NamedExpr):
            yield from _targets(node.target)


def used(node: ast.AST | None) -> Iterator[str]:
    """The names whose value an expression or statement takes."""
    if node is None:
        return
    if isinstance(node, ast.Assign):
        parts: list[ast.AST] = [node.value]
    elif isinstance(node, ast.AnnAssign):
        parts = [] if node.value is None else [node.value]
    elif isinstance(node, ast.For):
        parts = [node.iter]
    else:
        parts = [node]
    for part in parts:
        for inner in _own(part):
            yield from _dotted(inner)


def _own(node: ast.AST) -> Iterator[ast.AST]:
    """The parts of a node, without the statements nested in it."""
    yield node
    for child in ast.iter_child_nodes(node):
        if not isinstance(child, ast.stmt):
            yield from _own(child)


def _targets(node: ast.AST) -> Iterator[str]:
    if isinstance(node, (ast.Tuple, ast.List)):
        for part in node.elts:
            yield from _targets(part)
    elif isinstance(node, (ast.Starred, ast.Subscript)):
        yield from _targets(node.value)
    else:
        yield from _dotted(node)


def _dotted(node: ast.AST) -> Iterator[str]:
    if isinstance(node, ast.Name):
        yield node.id
    elif isinstance(node, ast.Attribute):
        for base in _dotted(node.value):
            yield f"{base}.{node.attr}"


def names_of(place: Place) -> list[str]:
    """The names that the statement around a place gives to what is made there: of `a, b = f(), g()`
    at `g()`, only `b`."""
    statement = place.statement
    if isinstance(statement, ast.Assign) and isinstance(statement.value, (ast.Tuple, ast.List)):
        for target in statement.targets:
            values = statement.value.elts
            if isinstance(target, (ast.Tuple, ast.List)) and len(target.elts) == len(values):
                for name, value in zip(target.elts, values, strict=True):
                    if _inside(place.span, span_of(place.file, value)):
                        return list(_targets(name))
    return [] if statement is None else list(bound(statement))


def bound_at(place: Place) -> set[str]:
    """The names that the statement around a place gives a value to."""
    return set() if place.statement is None else set(bound(place.statement))
