"""The backend that every machine has: a program as straight-line Python that calls NumPy.

What is computed, in which order and into which memory was decided by the passes; here it is
written down, with everything that the lines need bound to names of their own.
"""

from __future__ import annotations

import linecache
import os
import re
from collections.abc import Callable
from functools import partial
from itertools import count
from typing import Any

import numpy as np

from ...core import apply
from ...core.apply import QUIET, restore, silence
from ...core.op import Op
from ..program import Check, Effect, Equation, Failed, Guard, Program, Var

_serial = count(1)


def build(program: Program) -> Runner:
    return Runner(program)


class Runner:
    """A program that can be called, by several threads at once."""

    def __init__(self, program: Program) -> None:
        self.program = program
        writer = _Writer(program)
        self.source = writer.text
        self._equations = writer.equations  # by line
        self._effects = writer.effects
        self._file = f"<gradtape function {next(_serial)}>"
        # So that a traceback shows the lines, which name the user's; in front of them is one more.
        lines = ["\n", *self.source.splitlines(keepends=True)]
        linecache.cache[self._file] = len(self.source), None, lines, self._file
        self._factory = writer.factory(self._file)
        self._free: list[Callable[..., Any]] = []  # instances that no thread is using
        self.memory = 0  # bytes of the buffers of one instance

    def __del__(self) -> None:
        linecache.cache.pop(getattr(self, "_file", ""), None)

    def __call__(self, values: Any, done: dict[int, Any] | None = None) -> list | Failed:
        """The results; or which guard did not hold, and then nothing has happened but the effects
        before it. What effects gave that are `done` already is taken as it is."""
        try:
            play = self._free.pop()
        except IndexError:
            play = self._factory()
        token = silence(QUIET)
        try:
            return play(*values, {**done} if done else {}) if self._effects else play(*values)
        except Exception as error:
            raise self._explained(error) from None
        finally:
            restore(token)
            self._free.append(play)

    def _explained(self, error: Exception) -> Exception:
        """What the op itself would have raised, with the place where the user called it."""
        trace: Any = error.__traceback__
        while trace is not None and trace.tb_frame.f_code.co_filename != self._file:
            trace = trace.tb_next
        equation = None if trace is None else self._equations.get(trace.tb_lineno)
        if equation is None:
            return error
        op = equation.op
        if isinstance(op, Op) and isinstance(
            error, (TypeError, ValueError, IndexError, AttributeError, MemoryError)
        ):
            there = trace.tb_frame.f_locals
            values = [there.get(repr(v), self.program.constants.get(v)) for v in equation.inputs]
            if all(isinstance(v, (np.ndarray, np.generic)) for v in values):
                error = apply.complain(op, error, values, equation.params)
        if where := line_of(equation):
            error.add_note(f"called at {where}")
        return error


def line_of(equation: Equation) -> str | None:
    """The user's line, as `train.py:12`."""
    if equation.place is None:
        return None
    code, offset = equation.place
    return f"{os.path.basename(code.co_filename)}:{_lines(code).get(offset, code.co_firstlineno)}"


_known: dict[Any, dict[int, int]] = {}


def _lines(code: Any) -> dict[int, int]:
    """The lines of a code object by offset, found once for all of its equations."""
    if code not in _known:
        if len(_known) > 64:
            _known.clear()
        _known[code] = {
            offset: line
            for start, end, line in code.co_lines()
            if line is not None
            for offset in range(start, end, 2)
        }
    return _known[code]


def same(read: Any, before: Any) -> bool:
    """Whether what was read is what was read before: of arrays bit by bit, and nan is nan."""
    if read.__class__ is not before.__class__:
        return False
    if isinstance(read, np.ndarray):
        if read.shape != before.shape or read.dtype != before.dtype:
            return False
        if read.dtype.kind == "O":
            return bool(np.array_equal(read, before))
        return np.ascontiguousarray(read).tobytes() == np.ascontiguousarray(before).tobytes()
    if isinstance(read, np.generic):
        return read.dtype == before.dtype and read.tobytes() == before.tobytes()
    if isinstance(read, (tuple, list)):
        return len(read) == len(before) and all(map(same, read, before))
    return bool(read == before) or (read != read and before != before)


def write(variable: Any, value: Any) -> None:
    """Give a variable its value, as `assign` does."""
    with variable._lock():
        if variable._writing is None:
            variable._array = value
        else:
            variable._writing[1].append(partial(variable.assign, apply.tensor(value)))


class _Writer:
    """Writes a program down, line by line."""

    def __init__(self, program: Program) -> None:
        self.program = program
        self.bound: dict[str, Any] = {}  # what the lines need, by name
        self._names: dict[int, str] = {}  # by id of what is bound
        self.lines: list[str] = []
        self.equations: dict[int, Equation] = {}  # by the number of the line, from 2 on
        self._guards, self._performed = count(), count()
        self.effects = any(isinstance(e.op, Effect) for e in program.equations)
        self._write()
        self.text = "\n".join(self.lines) + "\n"

    def factory(self, file: str) -> Callable[[], Callable[..., Any]]:
        """What makes an instance: a function with its own memory."""
        # Bound by a function around it: cells are as quick as locals, globals are not.
        text = f"def bind({', '.join(self.bound)}):\n" + "".join(
            f"    {line}\n" for line in self.lines
        )
        text += "    return play\n"
        found: dict[str, Any] = {}
        exec(compile(text, file, "exec", dont_inherit=True), found)
        return partial(found["bind"], **self.bound)

    # --- names ------------------------------------------------------------------------------------
    def name(self, wish: str, value: Any) -> str:
        """A name that the value is bound to."""
        known = self._names.get(id(value))
        if known is not None:
            return known
        wish = re.sub(r"\W", "_", wish) or "it"
        if wish[0].isdigit() or _TAKEN.fullmatch(wish):
            wish = f"_{wish}"
        name, k = wish, 1
        while name in self.bound:
            k += 1
            name = f"{wish}_{k}"
        self.bound[name] = value
        self._names[id(value)] = name
        return name

    def word(self, value: Any, wish: str = "constant") -> str:
        """How to write a value in a line: a literal, if it has one."""
        if value.__class__ is Var:
            return repr(value)
        return repr(value) if _literal(value) else self.name(wish, value)

    def say(self, text: str, equation: Equation | None = None, comment: str | None = None) -> None:
        if equation is not None:
            self.equations[len(self.lines) + 2] = equation
            comment = line_of(equation)
        self.lines.append(f"    {text}  # {comment}" if comment else f"    {text}")

    # --- the parts --------------------------------------------------------------------------------
    def _write(self) -> None:
        program = self.program
        given = [repr(v) for v in program.inputs] + [repr(v) for _, v in program.captures]
        given += ["done"] * self.effects
        self.lines.append(f"def play({', '.join(given)}):")
        for value, array in program.constants.items():
            self.bound[repr(value)] = array
        for variable, value in program.variables:
            name = self.name(f"variable_{variable._name.removesuffix(':0')}", variable)
            self.say(f"{value} = {name}._array", comment=variable._name)
            self.say(f"if {value} is None: {value} = {name}._value")
        for stream, value in program.streams:
            self.say(f"{value} = {self.name('stream', stream)}.counter")
        for equation in program.equations:
            self._equation(equation)
        for variable, value in program.updates:
            name = self.name(f"variable_{variable._name.removesuffix(':0')}", variable)
            self.say(f"{self.name('write', write)}({name}, {value})")
        for stream, blocks in program.advances:
            self.say(f"{self.name('stream', stream)}.reserve({blocks})")
        self.say(f"return [{', '.join(map(repr, program.outputs))}]")

    def _equation(self, equation: Equation) -> None:
        op = equation.op
        call = self._call(equation)
        if isinstance(op, Guard):
            outcome = self.word(op.outcome, "outcome")
            self.say(f"read = {call}", equation)
            k = next(self._guards)
            if op.outcome is None or op.outcome.__class__ is bool:
                test = f"read is not {outcome}"
            else:
                test = f"not {self.name('same', same)}(read, {outcome})"
            told = f"{k}, read, done" if self.effects else f"{k}, read"
            self.say(f"if {test}: return {self.name('Failed', Failed)}({told})")
            return
        if isinstance(op, Check):
            self.say(call, equation)
            return
        outputs = equation.outputs
        if isinstance(op, Effect):
            k = next(self._performed)
            self.say(f"if {k} not in done: done[{k}] = {call}", equation)
            call = f"done[{k}]"
            if not outputs:
                return
        if _several(equation):
            targets = ", ".join(map(repr, outputs))
            self.say(f"{targets}{',' if len(outputs) == 1 else ''} = {call}", equation)
            for value in outputs:
                if _bare(value):
                    self.say(f"{value} = {value}[()]")
        else:
            (value,) = outputs
            self.say(f"{value} = {call}{'[()]' if _bare(value) else ''}", equation)

    def _call(self, equation: Equation) -> str:
        words = [*map(repr, equation.inputs)]
        words += [f"{k}={self.word(v, k)}" for k, v in equation.params.items()]
        return f"{self.name(equation.op.name, equation.op.forward)}({', '.join(words)})"


_TAKEN = re.compile(r"v\d+|read|done|play|bind|and|or|not|if|else|in|is|for|def|return|lambda|None")
_PLAIN = (int, bool, str, type(None))


def _literal(value: Any) -> bool:
    if value.__class__ is tuple:
        return len(value) < 9 and all(map(_literal, value))
    return value.__class__ in _PLAIN or (value.__class__ is float and value - value == 0)


def _bare(value: Var) -> bool:
    """Whether it has no axes, and so must be a NumPy scalar; strings stay in their array."""
    return value.shape == () and value.dtype is not None and value.dtype.kind != "O"


def _several(equation: Equation) -> bool:
    """Whether its function gives a tuple, be it of one."""
    if len(equation.outputs) != 1 or isinstance(equation.op, Effect):
        return True
    op = equation.op
    if not isinstance(op, Op) or any(v.dtype is None for v in equation.inputs):
        return False
    if op not in _tuples:
        told = op.infer(*[(v.shape, v.dtype) for v in equation.inputs], **equation.params)
        _tuples[op] = isinstance(told, list)
    return _tuples[op]


_tuples: dict[Op, bool] = {}
