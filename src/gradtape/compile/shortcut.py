"""The short way for a call like the last one: tensors of the same shapes, equal Python values.

It is written for these arguments as one Python function that looks at each of them, calls the
program and makes the tensors; what is not like the last time goes the long way.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import count
from typing import Any

from numpy import ndarray

from ..config import _settings as settings
from ..core.apply import new
from ..core.record import threads
from ..framework.tensor import Tensor
from ..framework.variable import Variable
from ..ops.declare import listeners
from .program import Failed

_SIMPLE = (bool, int, float, str, bytes, type(None))
MISSED = object()  # in place of a result: the long way, please


class Tried:
    """What came of the short way: the program, and which guard did not hold."""

    __slots__ = ("failed", "take")

    def __init__(self, take: Any, failed: Failed) -> None:
        self.take, self.failed = take, failed


def shortcut(args: tuple, tree: Any, raised: int) -> Callable[[tuple], Any] | None:
    """A function of the arguments which gives the result, `MISSED`, or what was `Tried`; None if
    there is no short way: for objects, say, which may change inside."""
    if tree.eager or not tree.takes:
        return None
    writer = _Writer()
    if not writer.look("args", args):
        return None
    return writer.function(tree.takes[0], raised)


class _Writer:
    def __init__(self) -> None:
        self.bound: dict[str, Any] = {
            "Tensor": Tensor, "ndarray": ndarray, "threads": threads, "settings": settings,
            "listeners": listeners, "missed": MISSED, "new": new, "Failed": Failed, "Tried": Tried,
        }  # fmt: skip
        self.lines: list[str] = []
        self.values: list[str] = []  # the names of the arrays
        self.numbers = count()

    def bind(self, value: Any) -> str:
        name = f"b{next(self.numbers)}"
        self.bound[name] = value
        return name

    def miss(self, test: str) -> None:
        self.lines.append(f"if {test}: return missed")

    def look(self, name: str, parts: Any) -> bool:
        """Take a tuple or list apart and look whether each part is as it is now."""
        parts = list(parts)
        names = [f"a{next(self.numbers)}" for _ in parts]
        self.miss(f"len({name}) != {len(parts)}")
        if parts:
            self.lines.append(f"{', '.join(names)}, = {name}")
        return all(map(self._one, names, parts))

    def _one(self, name: str, part: Any) -> bool:
        kind = part.__class__
        if kind is Variable:
            self.miss(f"{name} is not {self.bind(part)}")
            return True
        self.miss(f"{name}.__class__ is not {'Tensor' if kind is Tensor else self.bind(kind)}")
        if kind is Tensor:
            self._array(name, part._value)
        elif kind in _SIMPLE:
            same = self.bind(part)
            self.miss(f"{name} is not {same} and {name} != {same}")
        elif kind is tuple or kind is list:
            return self.look(name, part)
        elif hasattr(kind, "_handed"):
            same, told, value = self.bind(part._handed()[0]), f"{name}t", f"{name}v"
            self.lines.append(f"{told}, {value} = {name}._handed()")
            self.miss(f"{told} is not {same} and {told} != {same}")
            self.values.append(f"{value}._value")
        else:
            return False
        return True

    def _array(self, name: str, array: Any) -> None:
        value = f"{name}v"
        self.lines.append(f"{value} = {name}._value")
        if array.__class__ is ndarray:
            shape, dtype = self.bind(array.shape), self.bind(array.dtype)
            self.miss(
                f"{value}.__class__ is not ndarray or {value}.shape != {shape} "
                f"or {value}.dtype is not {dtype}"
            )
        else:
            self.miss(f"{value}.__class__ is not {self.bind(array.__class__)}")
        self.values.append(value)

    def function(self, take: Any, raised: int) -> Callable[[tuple], Any]:
        self.miss(
            "threads.active or threads.recording is not None or settings['eagerly'] or listeners"
        )
        program, direct = take.program, take.direct
        # Nobody follows a tensor of outside here: there is no tape at work.
        captured = [f"{self.bind(t)}._value" for t, _ in program.captures]
        values = ", ".join([*self.values, *captured])
        self.bound |= {"take": take, "raised": raised}
        if direct is None:
            self.miss("take.direct is not None")  # by now: it has become native
            self.lines += ["done = {}", f"try: found = take.runner([{values}], done)"]
            self.lines.append("except Exception as error: found = Failed(raised, error, done)")
        else:
            self.bound["direct"] = direct
            self.lines += [f"try: found = direct({values})", "except Exception as error:"]
            self.lines.append(
                "    return Tried(take, Failed(raised, take.runner.explained(error), {}))"
            )
        if direct is None or program.guards:
            self.lines.append("if found.__class__ is Failed: return Tried(take, found)")
        return self._made(take)

    def _made(self, take: Any) -> Callable[[tuple], Any]:
        names = [f"t{k}" for k in range(len(take.program.outputs))]
        if names:
            self.lines.append(f"{', '.join(f'{name}v' for name in names)}, = found")
        for name in names:
            self.lines.append(f"{name} = new(Tensor); {name}._value = {name}v; {name}._mark = None")
        self.bound["pack"] = take.pack
        self.lines.append(f"return pack([{', '.join(names)}])")
        body = "".join(f"        {line}\n" for line in self.lines)
        text = f"def bind({', '.join(self.bound)}):\n    def short(args):\n{body}    return short\n"
        found: dict[str, Any] = {}
        exec(compile(text, "<gradtape call>", "exec", dont_inherit=True), found)
        # By position: each name would be looked for among all of them.
        return found["bind"](*self.bound.values())
