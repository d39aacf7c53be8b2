"""The backend that every machine has: a program as straight-line Python that calls NumPy.

What is computed, in which order and into which memory was decided by the passes; here it is
written down, with everything that the lines need bound to names of their own.
"""

from __future__ import annotations

import linecache
import os
import re
import threading
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from functools import partial
from itertools import count
from math import prod
from typing import Any

import numpy as np

from ...core import apply
from ...core.apply import QUIET, restore, silence
from ...core.op import Op
from ...framework.lifetimes import at_death
from ...ops.elementwise import add, sub
from ...ops.kernels.parallel import BLOCK, share
from ..kernels import Fused, is_new, ufunc_of
from ..program import (
    VIEW,
    Buffer,
    Check,
    Effect,
    Equation,
    Failed,
    Guard,
    Loop,
    Piece,
    Program,
    Store,
    Var,
)
from . import forms

_serial = count(1)
LARGE = 1 << 14  # numbers of an array that is let go as soon as nobody needs it


def build(program: Program) -> Runner:
    return Runner(program)


class Runner:
    """A program that can be called, by several threads at once."""

    def __init__(self, program: Program, direct: bool = False) -> None:
        self.program = program
        writer = _Writer(program, direct=direct)
        self.source = writer.text
        self._equations = writer.equations  # by line
        self._effects = writer.effects
        self._file = f"<gradtape function {next(_serial)}>"
        _forget()
        self._death = at_death(self, [partial(_gone.append, self._file)])
        # So that a traceback shows the lines, which name the user's; in front of them is one more.
        lines = ["\n", *self.source.splitlines(keepends=True)]
        linecache.cache[self._file] = len(self.source), None, lines, self._file
        self._factory = writer.factory(self._file)
        self._free: list[Callable[..., Any]] = []  # instances that no thread is using
        # One that all threads use, and that needs no silence: its calls are native, and what is
        # shared is used there alone, while this thread has Python's lock.
        self.direct = self._factory() if direct else None
        self.memory = sum(b.size for b in program.buffers)  # bytes, of one instance

    def __call__(self, values: Any, done: dict[int, Any] | None = None) -> list | Failed:
        """The results; or which guard did not hold, and then nothing has happened but the effects
        before it. What effects gave that are `done` already is taken as it is."""
        if self.direct is not None:
            try:
                return self.direct(*values)
            except Exception as error:
                raise self.explained(error) from None
        play = self._instance()
        token = silence[QUIET]
        try:
            if self._effects:
                return play(*values, {} if done is None else done)
            return play(*values)
        except Exception as error:
            told = self.explained(error)
            if told is error:
                raise  # with what caused it: a Python function's own error
            raise told from None
        finally:
            restore(token)
            self._free.append(play)

    def _instance(self) -> Callable[..., Any]:
        try:
            return self._free.pop()
        except IndexError:
            return self._factory()

    @contextmanager
    def held(self) -> Iterator[Callable[..., Any]]:
        """The function itself, for many calls in a row: `__call__` takes 1 us more of each."""
        play = self.direct or self._instance()
        token = silence[QUIET]
        try:
            yield play
        except Exception as error:
            told = self.explained(error)
            if told is error:
                raise
            raise told from None
        finally:
            restore(token)
            if self.direct is None:
                self._free.append(play)

    def timed(
        self, values: Any, clock: Callable[[], float], seconds: float
    ) -> dict[str, float] | None:
        """The time of a call by the user's lines, None if a guard does not hold; variables and
        random streams stay as they are."""
        times = self.measured(values, clock, seconds, {})
        if times is None:
            return None
        found: dict[str, float] = {}
        for equation, spent, shares in times:
            by_line = shares or {line_of(equation) or "gradtape": 1.0}
            for where, part in by_line.items():
                found[where] = found.get(where, 0.0) + spent * part
        return found

    def measured(
        self,
        values: Any,
        clock: Callable[[], float],
        seconds: float,
        clocks: dict[int, Any] | None = None,
    ) -> list[tuple[Equation, float, dict[str, float]]] | None:
        """Equations with their time in a call, None if a guard does not hold; where there are
        `clocks` for what is native, with the shares that the user's lines have in it."""
        writer = _Writer(self.program, timed=True, clocks=clocks)
        play = writer.factory(self._file)()
        spent = [0.0] * (len(writer.lines) + 2)
        given = [*values, *[dict[int, Any]()] * self._effects, clock, spent]
        token = silence[QUIET]
        try:
            begin, calls = clock(), 1
            if play(*given).__class__ is Failed:
                return None
            if clock() < begin + seconds / 8:  # the first call meets new memory
                spent[:], calls = [0.0] * len(spent), 0
            while not calls or clock() < begin + seconds:
                play(*given)
                calls += 1
        finally:
            restore(token)
        return [
            (equation, spent[line] / calls, clocks[line]() if clocks and line in clocks else {})
            for line, equation in writer.equations.items()
        ]

    def explained(self, error: Exception) -> Exception:
        """What the op itself would have raised, with the place where the user called it."""
        trace: Any = error.__traceback__
        while trace is not None and trace.tb_frame.f_code.co_filename != self._file:
            trace = trace.tb_next
        equation = None if trace is None else self._equations.get(trace.tb_lineno)
        if equation is None:
            return error
        there = trace.tb_frame.f_locals
        values = [there.get(repr(v), self.program.constants.get(v)) for v in equation.inputs]
        return explained(error, equation, values)


_gone: list[str] = []  # the files of programs that are no more


def _forget() -> None:
    """Forget the lines of programs that are no more. Not when these go: `linecache` may just then
    be going through what it has, in the thread in which Python runs programs as a rule."""
    if threading.current_thread() is threading.main_thread():
        while _gone:
            linecache.cache.pop(_gone.pop(), None)


def explained(error: Exception, equation: Equation, values: list) -> Exception:
    """What the op of an equation would have raised itself, with the user's line."""
    op = equation.op
    kinds = (TypeError, ValueError, IndexError, AttributeError, MemoryError)
    known = all(isinstance(v, (np.ndarray, np.generic)) for v in values)
    if isinstance(op, Op) and isinstance(error, kinds) and known:
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


def by_parts(
    kernel: Callable[..., None],
    size: int,
    rooms: tuple,
    numbers: tuple,
    rows: tuple,
    arrays: tuple,
) -> None:
    """Call a function for some numbers of arrays at a time, in this thread and in those that are
    free; it has rooms for what comes in between.

    Smaller parts would fit the cache better, but threads would wait for each other: 100 calls on a
    million numbers take 31 ms in one thread, in two of them 27, and 35 with half of the `BLOCK`.
    """

    def task(start: int, stop: int) -> None:
        spare = [np.empty(min(BLOCK, stop - start), dtype) for dtype in rooms]
        for i in range(start, stop, BLOCK):
            j = min(i + BLOCK, stop)
            some: Any = rows
            if j - i < BLOCK:
                spare, some = ([a[: j - i] for a in several] for several in (spare, rows))
            kernel(*numbers, *some, *[a[i:j] for a in arrays], *spare)

    share(task, size)


def store(variable: Any, forward: Any, *values: Any) -> None:
    """Write into a variable, in place if nobody else can see its array."""
    variable._rewrite(lambda old, out: forward(old, out, *values))


def change(variable: Any, function: Any, delta: Any) -> None:
    """Add to a variable, or subtract, whatever it holds by now."""
    variable._rewrite(lambda old, out: function(old, delta, out=out))


class _Writer:
    """Writes a program down, line by line."""

    def __init__(
        self,
        program: Program,
        timed: bool = False,
        clocks: dict[int, Any] | None = None,
        direct: bool = False,
    ) -> None:
        self.program, self.timed, self.direct = program, timed, direct
        self.clocks = clocks  # of what is native, by line: they tell the shares of user's lines
        self.bound: dict[str, Any] = {}  # what the lines need, by name
        self.made: list[tuple[str, Callable[[dict[str, Any]], Any]]] = []  # and what each
        # instance has of its own: arrays in its buffers, looks at these, by name and how to make it
        self.static: set[Var] = set()  # values that are bound, and do not move
        self._names: dict[int, str] = {}  # by id of what is bound
        self._turned: set[str] = set()
        self._looks: set[Var] = set()  # those of the static values that may lie in steps
        self.lines: list[str] = []
        self.functions: list[str] = []  # that the lines call, behind them
        self.equations: dict[int, Equation] = {}  # by the number of the line, from 2 on
        self._guards, self._performed = count(), count()
        self.effects = any(isinstance(e.op, Effect) for e in program.equations)
        self._write()
        self.text = "\n".join(self.lines + self.functions) + "\n"

    def factory(self, file: str) -> Callable[[], Callable[..., Any]]:
        """What makes an instance: a function with its own memory."""
        names = [*self.bound, *[name for name, _ in self.made]]
        # Bound by a function around it: cells are as quick as locals, globals are not.
        text = f"def bind({', '.join(names)}):\n" + "".join(
            f"    {line}\n" for line in self.lines + self.functions
        )
        text += "    return play\n"
        found: dict[str, Any] = {}
        exec(compile(text, file, "exec", dont_inherit=True), found)
        bind, bound, made, buffers = found["bind"], self.bound, self.made, self.program.buffers

        def instance() -> Callable[..., Any]:
            there = {**bound, "": _memory(buffers)}
            for name, make in made:
                there[name] = make(there)
            del there[""]
            return bind(**there)

        return instance

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

    def operand(self, value: Var) -> str:
        """An operand of an array's: numbers as arrays without axes, 0.2 us faster a call."""
        if value.shape == () and value in self.program.constants:
            name = f"{value}_"
            if name not in self.bound:
                self.bound[name] = np.array(self.program.constants[value])
            return name
        return repr(value)

    def turned(self, value: Var) -> str:
        """A matrix with rows for columns: made once, if its memory does not move."""
        name = f"{value}T"
        if name not in self._turned:
            self._turned.add(name)
            if value in self.static:
                self.made.append((name, lambda there: there[repr(value)].swapaxes(-1, -2)))
            elif len(value.shape) == 2:
                self.say(f"{name} = {value}.T")
                self._hold(value, value, name)
            else:
                self.say(f"{name} = {value}.swapaxes(-1, -2)")
                self._hold(value, value, name)
        return name

    def flat(self, value: Var) -> str:
        """An array with all of its numbers along one axis."""
        if len(value.shape) == 1:
            return repr(value)
        if value not in self.static or value in self._looks:  # of which it may be a copy
            return f"{value}.reshape(-1)"
        name = f"{value}F"
        if name not in self._turned:
            self._turned.add(name)
            self.made.append((name, lambda there: there[repr(value)].reshape(-1)))
        return name

    def say(self, text: str, equation: Equation | None = None, comment: str | None = None) -> None:
        if equation is not None:
            self.equations[len(self.lines) + 2] = equation
            comment = line_of(equation)
        if self.timed and equation is not None:
            text = f"then = clock(); {text}; spent[{len(self.lines) + 2}] += clock() - then"
        self.lines.append(f"    {text}  # {comment}" if comment else f"    {text}")

    # --- the parts --------------------------------------------------------------------------------
    def _write(self) -> None:
        program = self.program
        given = [repr(v) for v in program.inputs] + [repr(v) for _, v in program.captures]
        given += ["done"] * self.effects + ["clock", "spent"] * self.timed
        self.lines.append(f"def play({', '.join(given)}):")
        for value, array in program.constants.items():
            self.bound[repr(value)] = array
            self.static.add(value)
        for variable, value in program.variables:
            name = self.name(f"variable_{variable._name.removesuffix(':0')}", variable)
            self.say(f"{value} = {name}._array", comment=variable._name)
            self.say(f"if {value} is None: {value} = {name}._value")
        for stream, value in program.streams:
            self.say(f"{value} = {self.name('stream', stream)}.counter")
        self.begin = {id(variable): value for variable, value in program.variables}
        self.held = {value: [repr(value)] for _, value in program.variables}
        self.looking: dict[Var, set[Var]] = {value: {value} for _, value in program.variables}
        self.source = {v: e for e in program.equations for v in e.outputs}
        stores = [e for e in program.equations if isinstance(e.op, Store)]
        ending = self._ending()
        for equation in program.equations:
            if not isinstance(equation.op, Store):
                self._equation(equation)
                self._let_go(ending.get(equation, ()))
        if self.direct and program.updates:
            self._commit()  # before anything is stored: it may begin anew
        for equation in stores:
            self._equation(equation)
        for variable, value in program.updates if not (self.timed or self.direct) else ():
            self._update(variable, value)
        for stream, blocks in program.advances if not self.timed else ():
            self.say(f"{self.name('stream', stream)}.reserve({blocks})")
        self.say(f"return [{', '.join(map(repr, program.outputs))}]")

    def _ending(self) -> dict[Equation, list[Var]]:
        """Large values by the equation that is the last to need them."""
        known = {*self.program.results, *self.program.given}
        ending: dict[Equation, list[Var]] = {}
        equations = self.program.equations[::-1]
        equations.sort(key=lambda e: not isinstance(e.op, Store))  # which are written last
        for equation in equations:
            for value in dict.fromkeys((*equation.uses, *equation.outputs)):
                if value not in known:
                    known.add(value)
                    if value.dtype is not None and prod(value.shape) > LARGE:
                        ending.setdefault(equation, []).append(value)
        return ending

    def _let_go(self, values: Iterable[Var]) -> None:
        """Forget arrays that are no buffers: their memory is for those that come after. The names
        are all that holds them, so a look at an array may still have what it looks at."""
        names = [repr(v) for v in values if v not in self.static]
        if names:
            self.say(f"{' = '.join(names)} = None")

    def _commit(self) -> None:
        """Give all variables their values, if each has the one that was read; else another thread
        has changed one meanwhile, and all is computed anew. While this very thread writes to one
        (the collector or a signal came in between), the values are for afterwards."""
        pairs = [
            (self.name(f"variable_{v._name.removesuffix(':0')}", v), self.begin.get(id(v)), value)
            for v, value in self.program.updates
        ]
        read = [(name, before) for name, before, _ in pairs if before is not None]
        given = [*self.program.inputs, *[value for _, value in self.program.captures]]
        if read:
            self.say(f"if {' or '.join(f'{name}._array is not {v}' for name, v in read)}:")
            free = " and ".join(f"{name}._array is not None" for name, _ in read)
            self.say(f"    if {free}: return play({', '.join(map(repr, given))})")
            for name, _, value in pairs:
                self.say(f"    {self.name('write', write)}({name}, {value})")
            self.say("else:")
        for name, before, value in pairs:
            if before is None:
                self.say(f"{'    ' * bool(read)}{self.name('write', write)}({name}, {value})")
            else:
                self.say(f"    {name}._array = {value}")

    def _update(self, variable: Any, value: Var) -> None:
        """Give a variable its value, if it has the one that was read; another thread may have
        changed it meanwhile. Nothing comes between the two: Python's threads take turns at calls.
        """
        name = self.name(f"variable_{variable._name.removesuffix(':0')}", variable)
        before, late = self.begin.get(id(variable)), f"{self.name('write', write)}({name}, {value})"
        source = self.source.get(value)
        if source is not None and source.op in (add, sub) and source.inputs[0] is before:
            ufunc = self.name(source.op.name, ufunc_of(source.op))
            late = f"{self.name('change', change)}({name}, {ufunc}, {source.inputs[1]})"
        if before is not None:
            self.say(f"if {name}._array is {before}: {name}._array = {value}")
            self.say(f"else: {late}")
        else:
            self.say(late)

    def _equation(self, equation: Equation) -> None:
        op, memory = equation.op, equation.memory
        if isinstance(op, Guard):
            self._guard(equation)
        elif isinstance(op, Check):
            self.say(self.call(equation), equation)
        elif isinstance(op, Effect):
            self._effect(equation)
        elif isinstance(op, Store):
            self._store(equation)
        elif isinstance(op, Fused):
            self._fused(equation)
        elif hasattr(op, "written"):  # native code, which knows how it is called
            op.written(self, equation)
        elif memory is VIEW and equation.inputs[0] in self.static:
            self._look(equation)
        elif isinstance(memory, (Buffer, Piece)):
            self._place(equation.outputs[0], memory)
            for text in forms.writing(self, equation):
                self.say(text, equation)
        else:
            self._fresh(equation)

    def _place(self, value: Var, memory: Any) -> None:
        """Bind a value to an array in a buffer, or in a piece of one."""
        if value in self.static:
            return
        self.static.add(value)
        if isinstance(memory, Piece):
            whole = repr(memory.whole)
            self._place(memory.whole, self.source[memory.whole].memory)
            self.made.append((repr(value), lambda there: memory.of(there[whole])))
        else:
            self.made.append((repr(value), partial(_array, memory, value.shape, value.dtype)))

    def _guard(self, equation: Equation) -> None:
        guard = equation.op
        outcome = self.word(guard.outcome, "outcome")
        self.say(f"read = {self.call(equation)}", equation)
        if guard.outcome is None or guard.outcome.__class__ is bool:
            test = f"read is not {outcome}"
        elif guard.name == "shape":
            test = f"read != {outcome}"
        else:
            test = f"not {self.name('same', same)}(read, {outcome})"
        told = f"{next(self._guards)}, read{', done' * self.effects}"
        self.say(f"if {test}: return {self.name('Failed', Failed)}({told})")

    def _effect(self, equation: Equation) -> None:
        k = next(self._performed)
        self.say(f"done[{k}] = done[{k}] if {k} in done else {self.call(equation)}", equation)
        if equation.outputs:
            self._several(equation, f"done[{k}]")

    def _store(self, equation: Equation) -> None:
        if self.timed:
            return
        variable, forward = equation.op.variable, equation.op.forward
        # Whoever holds the array, or a look at it, can see it: then it is not written to.
        late = self.program.equations[self.program.equations.index(equation) :]
        needed = {repr(v) for v in self.program.results}
        needed.update(repr(v) for e in late for v in e.uses)
        held = [v for v in self.held.pop(self.begin[id(variable)], []) if v not in needed]
        if held:
            self.say(f"{' = '.join(held)} = None")
        words = [self.name(f"variable_{variable._name.removesuffix(':0')}", variable)]
        words += [self.name(equation.op.name, forward), *map(repr, equation.inputs)]
        self.say(f"{self.name('store', store)}({', '.join(words)})", equation)

    def _hold(self, value: Var, source: Var, name: str = "") -> None:
        """Note that a local name is a look at a variable's array, or may be one."""
        for begin in self.looking.get(source, ()):
            self.looking.setdefault(value, set()).add(begin)
            self.held[begin].append(name or repr(value))

    def _fused(self, equation: Equation) -> None:
        """A function for some of the numbers, and a call that lets threads go through all."""
        op, size = equation.op, prod(equation.outputs[0].shape)
        for value, memory in zip(equation.outputs, equation.memory or (), strict=False):
            if memory is not None:
                self._place(value, memory)
        for value in equation.outputs:
            if value not in self.static:
                dtype = self.name(value.dtype.name, value.dtype)
                self.say(f"{value} = {self.name('empty', np.empty)}({value.shape}, {dtype})")
        lines, (numbers, rows, arrays), rooms = forms.fused(self, op)
        words = [*map(repr, numbers + rows + arrays), *[name for name, _ in rooms]]
        self.functions += ["", f"def {op.name}({', '.join(words)}):", *lines]
        dtypes = self.name(f"rooms_{op.name}", tuple([dtype for _, dtype in rooms]))
        told = [numbers, rows, map(self.flat, arrays)]
        tuples = ", ".join(f"({''.join(f'{v}, ' for v in some)})" for some in told)
        call = f"{op.name}, {size}, {dtypes}, {tuples}"
        self.say(f"{self.name('by_parts', by_parts)}({call})", equation)

    def _look(self, equation: Equation) -> None:
        """Looks at memory that does not move are made with the instance."""
        source, forward, params = repr(equation.inputs[0]), equation.op.forward, equation.params
        if not _several(equation):
            (value,) = equation.outputs
            self.made.append((repr(value), lambda there: forward(there[source], **params)))
        else:
            for k, value in enumerate(equation.outputs):
                make = lambda there, k=k: forward(there[source], **params)[k]
                self.made.append((repr(value), make))
        self.static.update(equation.outputs)
        self._looks.update(equation.outputs)

    def _fresh(self, equation: Equation) -> None:
        if not is_new(equation):
            for value in equation.outputs:
                for operand in equation.inputs:
                    self._hold(value, operand)
        if _several(equation):
            self._several(equation, self.call(equation))
            return
        (value,) = equation.outputs
        text = forms.giving(self, equation)
        if text is None:
            text = self.call(equation)
            if _bare(value):
                text += "[()]"
        self.say(f"{value} = {text}", equation)

    def _several(self, equation: Equation, text: str) -> None:
        comma = "," if len(equation.outputs) == 1 else ""
        self.say(f"{', '.join(map(repr, equation.outputs))}{comma} = {text}", equation)
        for value in equation.outputs:
            if _bare(value):
                self.say(f"{value} = {value}[()]")

    def call(self, equation: Equation) -> str:
        words = [*map(repr, equation.inputs)]
        words += [f"{k}={self.word(v, k)}" for k, v in equation.params.items()]
        return f"{self.name(equation.op.name, equation.op.forward)}({', '.join(words)})"


def _memory(buffers: tuple[Buffer, ...]) -> dict[Buffer, Any]:
    """One stretch of memory for all buffers, each of which begins where a cache line does."""
    total = sum(-(-b.size // LINE) * LINE for b in buffers)
    whole = np.empty(total + LINE, np.uint8)
    place = -whole.ctypes.data % LINE
    found = {}
    for buffer in buffers:
        found[buffer] = whole[place : place + buffer.size]
        place += -(-buffer.size // LINE) * LINE
    return found


def _array(buffer: Buffer, shape: Any, dtype: Any, there: dict[str, Any]) -> Any:
    memory = there[""][buffer]
    return np.ndarray(shape, dtype, memory)


LINE = 64
_TAKEN = re.compile(
    r"v\d+[TF_]?|read|done|clock|spent|then|play|bind|and|or|not|if|else|in|is|for|def|return|lambda|None"
)
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
    if len(equation.outputs) != 1 or isinstance(equation.op, Loop):
        return True
    op = equation.op
    if not isinstance(op, Op) or any(v.dtype is None for v in equation.inputs):
        return False
    if op not in _tuples:
        told = op.infer(*[(v.shape, v.dtype) for v in equation.inputs], **equation.params)
        _tuples[op] = not isinstance(told, tuple)  # None: only the numbers tell how many
    return _tuples[op]


_tuples: dict[Op, bool] = {}
