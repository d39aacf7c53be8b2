"""Runs a program as ``__main__`` the way Python itself does, for commands that set a scene first.

What the program raises goes on to Python's own top level, which knows best about exit codes,
interrupts, threads and exit handlers; only the traceback is cut to the program's own frames.
"""

from __future__ import annotations

import builtins
import io
import os
import pkgutil
import re
import runpy
import sys
from collections.abc import Callable, Iterator
from importlib.machinery import BuiltinImporter, SourceFileLoader, SourcelessFileLoader
from types import CodeType, FrameType, ModuleType, TracebackType
from typing import Any, NamedTuple


class Program(NamedTuple):
    """What to run: a ``kind`` of `LOADERS`, the path, name or code, and the arguments for it."""

    kind: str
    target: str
    arguments: tuple[str, ...] = ()


class Loaded(NamedTuple):
    """A program's code, and the attributes of ``__main__`` that tell where it came from."""

    code: CodeType
    attributes: dict[str, Any]


def run(program: Program) -> None:
    """Run the program as ``__main__``; returns when it ends, raises what it raises."""
    try:
        _become(program)
    except SystemExit:
        raise
    except BaseException:
        _show_only_the_program()
        raise


def _become(program: Program) -> None:
    """Replace this process's ``__main__`` by the program and execute it."""
    _replaced.append(sys.modules["__main__"])
    main = sys.modules["__main__"] = _fresh_main()
    sys.argv[1:] = program.arguments
    try:
        loaded = LOADERS[program.kind](program.target)
    except _CannotRun as error:
        # Left to Python, a message is printed to standard error and the exit code is 1.
        raise SystemExit(f"gradtape: {error}") from None
    vars(main).update(loaded.attributes)
    exec(loaded.code, vars(main))


# Python's own top level still looks into the module that it has started.
_replaced: list[ModuleType] = []


def _fresh_main() -> ModuleType:
    main = ModuleType("__main__")
    main.__loader__ = BuiltinImporter
    if sys.version_info < (3, 14):
        main.__annotations__ = {}
    # Left to exec this would be a dict; in a program that Python starts it is the module.
    vars(main)["__builtins__"] = builtins
    return main


# --- finding the code -----------------------------------------------------------------------------


class _CannotRun(Exception):
    """The program was not found, or is not one that can be run."""


def _load_script(path: str) -> Loaded:
    if path == "-":
        return _load_standard_input(path)
    sys.argv[0] = path
    # As Python does it: absolute, and otherwise as it was written.
    filename = os.getcwd() if path == "." else os.path.join(os.getcwd(), path)
    if pkgutil.get_importer(filename) is not None:
        return _load_archive(filename)
    _set_first_import_path(os.path.dirname(os.path.realpath(filename)))
    if filename.endswith(".pyc"):
        return _load_compiled(filename)
    loader = SourceFileLoader("__main__", filename)
    code = _compile(_read(filename), filename)
    return Loaded(code, {"__loader__": loader, "__file__": filename, "__cached__": None})


def _load_compiled(filename: str) -> Loaded:
    _read(filename)
    loader = SourcelessFileLoader("__main__", filename)
    code = loader.get_code("__main__")
    assert code is not None
    return Loaded(code, {"__loader__": loader, "__file__": filename, "__cached__": None})


def _load_archive(path: str) -> Loaded:
    """Load the ``__main__`` of a directory or zip file."""
    if sys.flags.safe_path:
        sys.path.insert(0, path)
    _set_first_import_path(path)
    return _from_spec(*runpy._get_main_module_details(_CannotRun))  # type: ignore[attr-defined]


def _load_module(name: str) -> Loaded:
    sys.argv[0] = "-m"
    _set_first_import_path(os.getcwd())
    loaded = _from_spec(*runpy._get_module_details(name, _CannotRun))  # type: ignore[attr-defined]
    sys.argv[0] = loaded.attributes["__file__"]
    return loaded


def _load_command(text: str) -> Loaded:
    sys.argv[0] = "-c"
    _set_first_import_path("")
    return Loaded(_compile(text, "<string>"), {})


def _load_standard_input(name: str) -> Loaded:
    sys.argv[0] = name
    _set_first_import_path("")
    source = sys.stdin.buffer.read() if sys.stdin else b""
    return Loaded(_compile(source, "<stdin>"), {"__file__": "<stdin>", "__cached__": None})


LOADERS: dict[str, Callable[[str], Loaded]] = {
    "script": _load_script,
    "module": _load_module,
    "command": _load_command,
}


def _from_spec(_name: str, spec: Any, code: CodeType) -> Loaded:
    attributes = {
        "__loader__": spec.loader,
        "__file__": spec.origin,
        "__cached__": spec.cached,
        "__package__": spec.parent,
        "__spec__": spec,
    }
    return Loaded(code, attributes)


def _read(filename: str) -> bytes:
    try:
        with io.open_code(filename) as stream:
            return stream.read()
    except OSError as error:
        reason = f"[Errno {error.errno}] {error.strerror}"
        print(f"gradtape: can't open file {filename!r}: {reason}", file=sys.stderr)
        raise SystemExit(2) from None


def _compile(source: bytes | str, filename: str) -> CodeType:
    # Bytes are decoded by the compiler itself, which honours an encoding declaration.
    try:
        return compile(source, filename, "exec", dont_inherit=True)
    except SyntaxError:
        if isinstance(source, bytes):
            _check_encoding(source, filename)
        raise


def _check_encoding(source: bytes, filename: str) -> None:
    """Raise what Python says of a file that is not UTF-8 and does not say what it is."""
    if re.match(rb"(.*\n)?[ \t\f]*#.*?coding[:=]", source):
        return
    try:
        source.decode()
    except UnicodeDecodeError as error:
        line = source.count(b"\n", 0, error.start) + 1
        raise SyntaxError(
            f"Non-UTF-8 code starting with '\\x{source[error.start]:02x}' in file {filename} "
            f"on line {line}, but no encoding declared; "
            "see https://peps.python.org/pep-0263/ for details"
        ) from None


def _set_first_import_path(path: str) -> None:
    # With -P or -I Python puts no place of its own first, and neither do we.
    if not sys.flags.safe_path:
        sys.path[0] = path


# --- showing what it raised -----------------------------------------------------------------------

# What stands between `_become` and the program's first frame when a program is looked up.
_PLUMBING = {
    "gradtape.api.run",
    "runpy",
    "pkgutil",
    "zipimport",
    "importlib.util",
    "importlib._bootstrap",
    "importlib._bootstrap_external",
    "_frozen_importlib",
    "_frozen_importlib_external",
}


def _show_only_the_program() -> None:
    """Have the exception that is on its way up shown as if Python had run the program."""
    hook = sys.excepthook

    def show(kind: type[BaseException], error: BaseException, trace: TracebackType | None) -> None:
        sys.excepthook = hook
        own = _relink(_own_frames(trace))
        if own is None and not isinstance(error, SyntaxError):
            own = trace  # the fault is ours, and hiding it would help nobody
        error.__traceback__ = sys.last_traceback = own
        for other in _chain(error):
            other.__traceback__ = _relink(_visible(_entries(other.__traceback__)))
        hook(kind, error, own)

    sys.excepthook = show


def _own_frames(trace: TracebackType | None) -> Iterator[TracebackType]:
    """Yield the entries of a traceback from the program's first frame on."""
    entries = iter(_entries(trace))
    for entry in entries:
        if entry.tb_frame.f_code is _become.__code__:
            break
    for entry in entries:
        if entry.tb_frame.f_globals.get("__name__") not in _PLUMBING:
            yield entry
            break
    yield from _visible(entries)


def _visible(entries: Iterator[TracebackType]) -> Iterator[TracebackType]:
    return (entry for entry in entries if not _is_go_between(entry.tb_frame))


_WORDING = {"gradtape.api.alias", "gradtape.api.private"}


def _is_go_between(frame: FrameType) -> bool:
    """Is this a frame that only words the message of a name that gradtape does not have, or one of
    the doctor's between the program and what it calls?"""
    module = frame.f_globals.get("__name__") or ""
    if module in _WORDING or module.startswith("gradtape.doctor.engines."):
        return True
    return frame.f_code.co_name == "__getattr__" and module.partition(".")[0] == "gradtape"


def _entries(trace: TracebackType | None) -> Iterator[TracebackType]:
    while trace is not None:
        yield trace
        trace = trace.tb_next


def _relink(entries: Iterator[TracebackType]) -> TracebackType | None:
    """Join the entries to a traceback and return its head."""
    head = None
    for entry in reversed(list(entries)):
        entry.tb_next, head = head, entry
    return head


def _chain(error: BaseException) -> list[BaseException]:
    """Return the exceptions that stand behind one as its causes and contexts."""
    found = [error]
    for one in found:
        for behind in (one.__cause__, one.__context__):
            if behind is not None and not any(behind is known for known in found):
                found.append(behind)
    return found[1:]
