"""Ears: functions of others tell when they are called, and nobody who looks at them can see it.

A wrapper in a function's place is another function: with a signature, a name, a module and an
identity of its own, and one more frame below whatever it calls. An ear is inside: the function
object stays the very same, and so do its signature, defaults, attributes and the place in the class
or module where it stands. Only its code is exchanged, for the same code compiled from the same
source with a call at its beginning and at its ends: same names, same lines, no frame more.

`heard` lists all that has an ear just now; what is taken out has its own code object back.
"""

from __future__ import annotations

import ast
import inspect
import tokenize
from collections.abc import Callable, Iterator
from threading import RLock
from types import CodeType, FunctionType
from typing import Any, NamedTuple

TOLD = ".told"  # a local variable that no source can name
FUTURES = 0xFFF0000  # of a code's flags, those of `from __future__ import …`
TRIES = 40  # lines beyond the last instruction at which the source of a function may end


class NoEar(Exception):
    """The function has no source, or one that is not what it was compiled from."""


class Hooks(NamedTuple):
    """What is called. `before` takes the function's parameters, in their order; what it gives is
    handed to the others. Without it, they are handed the parameters."""

    before: Callable[..., Any] | None = None
    after: Callable[[Any, Any], Any] | None = None  # and the result; gives the result
    failed: Callable[[Any], Any] | None = None  # while the exception is on its way
    instead: bool = False  # when `before` gives a tuple, its first item is the result


class Ear(NamedTuple):
    """A function that has an ear, and the code that it had before."""

    function: FunctionType
    code: CodeType


heard: dict[int, Ear] = {}  # by the function's id
_lock = RLock()
_templates: dict[tuple, CodeType] = {}
_held: list[CodeType] = []  # so that no id of the templates' comes twice


def put(function: Any, hooks: Hooks) -> Callable[[], None]:
    """Give a function an ear; what this gives takes it out again."""
    function = innermost(function)
    with _lock:
        if id(function) in heard:
            raise NoEar(f"{function.__qualname__} has an ear already")
        old = function.__code__
        function.__code__ = instrumented(old, hooks)
        heard[id(function)] = Ear(function, old)
    put_in = function.__code__

    def take_out() -> None:
        with _lock:
            if heard.pop(id(function), None) is not None and function.__code__ is put_in:
                function.__code__ = old

    return take_out


def innermost(function: Any) -> FunctionType:
    """The Python function inside of decorators, methods and descriptors."""
    if isinstance(function, (staticmethod, classmethod)):
        function = function.__func__
    found = inspect.unwrap(function)
    found = getattr(found, "__func__", found)
    if not isinstance(found, FunctionType):
        raise NoEar(f"{found!r} is no function of Python's")
    return found


def instrumented(code: CodeType, hooks: Hooks) -> CodeType:
    """The same code, with calls of the hooks in it."""
    made = _template(code, hooks)
    filled = {_mark(k): hook for k, hook in enumerate(hooks[:3]) if hook is not None}
    constants = [filled.get(c, c) if isinstance(c, str) else c for c in made.co_consts]
    return made.replace(co_consts=tuple(constants))


# --- compiling it again ---------------------------------------------------------------------------
def _template(code: CodeType, hooks: Hooks) -> CodeType:
    wanted = tuple(hook is not None for hook in hooks[:3]), hooks.instead
    key = id(code), wanted
    if key not in _templates:
        _templates[key] = _made(code, *wanted)
        _held.append(code)
    return _templates[key]


def _made(code: CodeType, wanted: tuple[bool, ...], instead: bool) -> CodeType:
    if code.co_flags & (inspect.CO_GENERATOR | inspect.CO_COROUTINE | inspect.CO_ASYNC_GENERATOR):
        raise NoEar(f"{code.co_qualname} does not run when it is called")
    text = source(code)
    same = _compiled(code, _parsed(code, text))
    if not _alike(same, code):
        raise NoEar(f"the source of {code.co_qualname} is not what runs")
    node = _parsed(code, text)
    _Listening(node, _parameters(code), wanted, instead).change()
    made = _compiled(code, node)
    inner = iter([c for c in code.co_consts if isinstance(c, CodeType)])
    return made.replace(
        co_consts=tuple(next(inner) if isinstance(c, CodeType) else c for c in made.co_consts),
        co_qualname=code.co_qualname, co_flags=code.co_flags,
    )  # fmt: skip


def source(code: CodeType) -> list[str]:
    """The lines of a file from a function's first on; `linecache` stays as it is."""
    try:
        with tokenize.open(code.co_filename) as file:
            return file.readlines()[code.co_firstlineno - 1 :]
    except (OSError, SyntaxError, UnicodeDecodeError) as fault:
        raise NoEar(f"{code.co_qualname} has no source: {fault}") from None


def _parsed(code: CodeType, lines: list[str]) -> ast.FunctionDef:
    """The definition of a function, at its own lines and columns."""
    inside = lines[:1] and lines[0][:1].isspace()
    last = max(_last_lines(code)) - code.co_firstlineno + 1
    for end in range(last, min(last + TRIES, len(lines) + 1)):
        text = ("class _:\n" if inside else "") + "".join(lines[:end])
        try:
            tree = ast.parse(text)
        except SyntaxError:
            continue
        body = tree.body[0].body if inside else tree.body  # type: ignore[attr-defined]
        if len(body) == 1 and isinstance(body[0], ast.FunctionDef):
            found: ast.FunctionDef = body[0]
            ast.increment_lineno(found, code.co_firstlineno - 1 - bool(inside))
            if found.name == code.co_name:
                return found
    raise NoEar(f"the source of {code.co_qualname} was not found")


def _last_lines(code: CodeType) -> Iterator[int]:
    for _, end, *_ in code.co_positions():
        yield end or code.co_firstlineno
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from _last_lines(constant)


def _compiled(code: CodeType, node: ast.FunctionDef) -> CodeType:
    """The code of a definition, in scopes like those that it stands in."""
    scope: ast.stmt = node
    parts = [part for part in code.co_qualname.split(".")[:-1] if part != "<locals>"]
    if "." in code.co_qualname and not code.co_qualname.endswith(f"<locals>.{code.co_name}"):
        scope = _placed(ast.parse(f"class {parts[-1]}: pass").body[0], node)
        scope.body = [node]  # type: ignore[attr-defined]
    outer = [name for name in code.co_freevars if name != "__class__"]
    if outer or "<locals>" in code.co_qualname:
        around = _placed(ast.parse("def _(): pass").body[0], node)
        names = [_placed(ast.parse(f"{name} = 0").body[0], node) for name in outer]
        around.body = [*names, scope]
        scope = around
    whole = compile(
        ast.Module([scope], []), code.co_filename, "exec", code.co_flags & FUTURES, True
    )
    found = [c for c in _inner(whole) if c.co_name == code.co_name]
    if not found or found[0].co_freevars != code.co_freevars:
        raise NoEar(f"{code.co_qualname} uses names of another scope")
    return found[0]


def _inner(code: CodeType) -> Iterator[CodeType]:
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield constant
            yield from _inner(constant)


def _alike(one: CodeType, other: CodeType) -> bool:
    """Does the source on the disk give what runs? Not by its instructions: a method of a module is
    called by others where the import is in sight."""
    return _facts(one) == _facts(other)


def _facts(code: CodeType) -> tuple[Any, ...]:
    plain = [repr(c) for c in code.co_consts if not isinstance(c, CodeType)]
    lines = {line for _, _, line in code.co_lines()}
    inner = [_facts(c) for c in code.co_consts if isinstance(c, CodeType)]
    return code.co_names, code.co_varnames, code.co_freevars, code.co_cellvars, plain, lines, inner


def parameters(function: Any) -> tuple[str, ...]:
    """The names of what `before` is handed."""
    return _parameters(innermost(function).__code__)


def _parameters(code: CodeType) -> tuple[str, ...]:
    number = code.co_argcount + code.co_kwonlyargcount
    more = bool(code.co_flags & inspect.CO_VARARGS) + bool(code.co_flags & inspect.CO_VARKEYWORDS)
    names = code.co_varnames[: number + more]
    if code.co_flags & inspect.CO_VARARGS:  # before those that are given by name only
        k = code.co_argcount
        names = (*names[:k], names[number], *names[k:number], *names[number + 1 :])
    return names


# --- the calls ------------------------------------------------------------------------------------
def _mark(number: int) -> str:
    return f"\0gradtape's ear {number}"


def _placed(new: Any, like: ast.AST) -> Any:
    for node in ast.walk(new):
        ast.copy_location(node, like)
    return new


class _Listening(ast.NodeTransformer):
    """Puts calls of `before`, `after` and `failed` into a function."""

    def __init__(
        self, node: ast.FunctionDef, names: tuple[str, ...], wanted: tuple[bool, ...], instead: bool
    ) -> None:
        self.node, self.names, self.instead = node, names, instead
        self.before, self.after, self.failed = wanted

    def change(self) -> None:
        node = self.node
        head = node.body[:1] if ast.get_docstring(node, clean=False) is not None else []
        body = node.body[len(head) :]
        first, last = (body[0], body[-1]) if body else (node, node)
        given: list[ast.expr] = [ast.Name(name, ast.Load()) for name in self.names]
        told: ast.expr = self._call(0, *given) if self.before else ast.Tuple(given, ast.Load())
        start: list[ast.stmt] = [_placed(ast.Assign([ast.Name(TOLD, ast.Store())], told), first)]
        if self.instead:
            start.append(_placed(_instead(), first))
        if self.after:
            body = [self.visit(statement) for statement in body]
            if not isinstance(last, (ast.Return, ast.Raise)):
                end = ast.Return(self._call(1, _told(), ast.Constant(None)))
                body.append(_placed(end, last))
        if self.failed:
            handler = ast.ExceptHandler(None, None, [ast.Expr(self._call(2, _told())), ast.Raise()])
            tried = ast.Try([*start, *body], [_placed(handler, last)], [], [])
            node.body = [*head, _placed(_nothing(), first), ast.copy_location(tried, first)]
        else:
            node.body = [*head, *start, *body]

    def visit_Return(self, node: ast.Return) -> ast.AST:
        value = node.value or _placed(ast.Constant(None), node)
        call = self._call(1, _told(), value)
        for part in (call, call.func, *ast.walk(call.func), call.args[0], call.args[0].ctx):  # type: ignore[attr-defined]
            ast.copy_location(part, value)
        node.value = call
        return node

    def _inner(self, node: ast.AST) -> ast.AST:
        return node  # its returns are its own

    visit_FunctionDef = visit_AsyncFunctionDef = visit_Lambda = visit_ClassDef = _inner

    @staticmethod
    def _call(number: int, *given: ast.expr) -> ast.Call:
        # Python warns of a constant that is called, not of one that is chosen.
        hook = ast.BoolOp(ast.Or(), [ast.Constant(None), ast.Constant(_mark(number))])
        return ast.Call(hook, list(given), [])


def _told() -> ast.Name:
    return ast.Name(TOLD, ast.Load())


def _nothing() -> ast.stmt:
    return ast.Assign([ast.Name(TOLD, ast.Store())], ast.Constant(None))


def _instead() -> ast.stmt:
    """`if told is not None: return told[0]`."""
    test = ast.Compare(_told(), [ast.IsNot()], [ast.Constant(None)])
    return ast.If(test, [ast.Return(ast.Subscript(_told(), ast.Constant(0), ast.Load()))], [])
