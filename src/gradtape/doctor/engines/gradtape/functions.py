"""Listening through functions: to the Python code when it is recorded, to its values at every call.

While a function is recorded, events go into a template, and nobody looks at numbers: that would
make guards. While its program is played nothing is heard. Afterwards the program is played once
more, equation by equation, on what variables and random streams held before the call, and without
doing anything to the world; these values fill the template, which goes into the log. So a program
prints, counts, draws and computes under the doctor as without it, bit by bit.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from threading import get_ident, local
from typing import Any
from weakref import WeakKeyDictionary

from ....autodiff.custom import paused
from ....compile.draws import Number
from ....compile.loops import _step_by_step
from ....compile.play import Player, Rehearsal, Spot
from ....compile.program import Assign, Failed, Program, Var
from ....compile.record import Recording, Unrecordable
from ....compile.traced import Traced
from ....compile.tree import Take, mode
from ....core.apply import tensor
from ....core.op import Op
from ....core.place import stand_ins
from ....core.record import threads
from ....ops import python
from ....ops.shape import identity
from .. import gradtape as raw
from .piecewise import PIECE, Schedule, Showing
from .rarely import Rarely
from .templates import (
    Entry,
    Tape,
    Template,
    in_sight,
    of_program,
    put,
    seen_from,
    with_own_array,
)

UNHEARD = (
    "A function that was recorded before the doctor listened is known by its ops: of tapes inside "
    "of it nothing is known. Let the doctor listen from its first call on."
)


class _Local(local):
    """Per thread: whose events go where, the innermost last; None is nowhere."""

    def __init__(self) -> None:
        self.stack: list[Template | None] = []


class Functions:
    """Hears functions for an engine."""

    def __init__(self, engine: Any) -> None:
        self.engine = engine
        self._local = _Local()
        self.rarely = Rarely()
        self._schedules: WeakKeyDictionary[Take, dict[bool, Schedule]] = WeakKeyDictionary()

    @property
    def around(self) -> Any:
        """The template of a recording that is suspended just now, for Python that is called."""
        stack = self._local.stack
        return stack[-1] if stack and threads.recording is None else None

    def here(self) -> Any:
        """Where the events of this thread go: the log, a template, or nowhere."""
        recording = threads.recording
        if not self._local.stack:
            return self.engine.log if recording is None else None
        top = self._local.stack[-1]
        if top is None or recording is top.recording:
            return top
        # Python in the middle of a recording that is no part of it, or the body of a loop.
        return self.engine.log if recording is None else None

    scene = staticmethod(seen_from)

    @contextmanager
    def _into(self, there: Template | None) -> Iterator[None]:
        self._local.stack.append(there)
        self.engine.aside.append(get_ident())
        try:
            yield
        finally:
            self.engine.aside.remove(get_ident())
            self._local.stack.pop()

    @contextmanager
    def unheard(self) -> Iterator[None]:
        """What happens here is the doctor's own doing."""
        with self._into(None), paused():
            yield

    # --- recording --------------------------------------------------------------------------------
    @contextmanager
    def recording(self, recording: Recording, leaves: list) -> Iterator[Template]:
        template = Template(recording)
        try:
            with self._into(template):
                yield template
        except Unrecordable:
            raise
        except Exception:
            self._attempt(self._failed, template, leaves)
            raise
        self._attempt(template.finish)

    def _failed(self, template: Template, leaves: list) -> None:
        """The dry run ended with an exception: what was heard so far happened on its own values."""
        values = _Dry(leaves, template.program)
        template.held = values.holding(template.held)  # type: ignore[method-assign]
        template.finish()
        template.name_all(values, {})
        self._log(template, template.entries, values)

    def _attempt(self, work: Any, *args: Any) -> None:
        """The user's program goes on, whatever happens to us."""
        try:
            work(*args)
        except Exception as fault:
            self.engine.failed(fault)

    # --- playing ----------------------------------------------------------------------------------
    def play(self, take: Take, leaves: list, done: dict[int, Any] | None) -> Any:
        if self.here() is None:  # it is the doctor's, or nobody's
            return take.play(leaves, done)
        players: list[Player] = []
        done = {} if done is None else done
        with self._into(None):
            alone = threads.recording is None
            again = Rehearsal(take.program, mode(), done) if alone else None
            try:
                found = take.play(leaves, done, players)
            except Exception:
                self._attempt(self._tell, take, leaves, again, players, None)
                raise
        if found is not None and found.__class__ is not Failed:
            if again is not None and not players and self.rarely.skips(take, found):
                self.pass_over()
                self.rarely.waiting = take, leaves, again
            else:
                self._attempt(self._before, take, again)
                self.rarely.begin(take)
                self._attempt(self._tell, take, leaves, again, players, found)
        return found

    def _before(self, take: Take, now: Rehearsal | None) -> None:
        """A call is judged: if it broke, what the one before it left behind is a part of that."""
        waiting = self.rarely.waiting
        if waiting is None or waiting[0] is not take or not self.rarely.broke(take):
            self.pass_over()
            return
        self.rarely.waiting = None
        self.rarely.begin(take)
        self._tell(*waiting, [], None, {} if now is None else now.held)

    def pass_over(self) -> None:
        """The last call that was not judged needs no judgement."""
        self._attempt(self.rarely.pass_over, self.engine)

    def _tell(
        self, take: Take, leaves: list, again: Any, players: list[Player], found: list | None,
        after: dict[int, Any] | None = None,
    ) -> None:  # fmt: skip
        """Write a call into the log; of one that is told later, by what variables held `after`."""
        program, player = take.program, players[-1] if players else again
        heard, alone = take.heard, not players and self.here() is self.engine.log
        if alone and heard is not None and not heard.custom:
            self._tell_in_pieces(take, leaves, again, found, after)
            return
        if not players:
            with self._into(None), paused():
                try:
                    again.play(leaves)
                except Exception:  # the program's own, or what cannot be played again
                    if found is not None:
                        raise
        known = player.known
        ends, more = ({}, []) if found is None else _ends(program, found, known)
        if threads.recording is None:
            known.update(_updated(program, found, after))
        template, entries = take.heard, None
        if template is None:
            template, entries = Template(Recording(None, None, False)), of_program(program)  # type: ignore[arg-type]
            self.engine.note(UNHEARD)
        template.name_all(known, ends)
        known.update(ends)
        self._log(template, entries or template.entries, known, player.began)
        for event in more:
            self.here().append((*event, *self._call_site()))

    def _tell_in_pieces(
        self, take: Take, leaves: list, again: Rehearsal, results: list | None,
        after: dict[int, Any] | None,
    ) -> None:  # fmt: skip
        """The same, and what a piece has made is let go when nobody needs it."""
        program, template = take.program, take.heard
        showing = Showing(program, template, again.known, _updated(program, results, after))
        filling = _Filling(self, template, showing.known)
        schedule = self._schedule(take, filling.followed)
        entries = iter(zip(schedule.entries, schedule.ready, strict=True))
        pieces, waiting = again.pieces(leaves, PIECE), next(entries, None)
        more: list[tuple] = []
        try:
            while True:
                with self._into(None), paused():
                    try:
                        piece = next(pieces, None)
                    except Exception:  # the program's own, or what cannot be played again
                        if results is not None:
                            raise
                        piece = None
                if piece == 0 and results is not None:
                    showing.ends, more = _ends(program, results, again.known)
                showing.show()
                while waiting and (piece is None or waiting[1] <= piece):
                    filling.log(waiting[0])
                    waiting = next(entries, None)
                if piece is None:
                    break
                showing.release(schedule.release.get(piece, ()))
        except KeyError:  # it ended before this had a value
            pass
        for event in more:
            self.engine.log.append((*event, *self._call_site()))

    def _schedule(self, take: Take, followed: bool) -> Schedule:
        schedules = self._schedules.setdefault(take, {})
        if followed not in schedules:
            schedules[followed] = Schedule(take.program, take.heard, followed)
        return schedules[followed]

    def _call_site(self) -> tuple[Any, int, int]:
        user = raw.caller()
        return user.f_code, user.f_lasti, get_ident()

    # --- the log ----------------------------------------------------------------------------------
    def _log(
        self, template: Template, entries: list[Entry], known: Any, began: list[int] | None = None
    ) -> None:
        filling = _Filling(self, template, known)
        there = self.here()
        for entry in entries:
            try:
                if there.__class__ is Template:
                    filling.hand_on(entry, there, began or [])
                else:
                    filling.log(entry)
            except KeyError:  # it ended before this had a value
                return


class _Dry(dict):
    """Values of a dry run that are asked for: what the tensors held."""

    def __init__(self, leaves: list, program: Program) -> None:
        super().__init__()
        self._leaves, self._program = leaves, program
        self._arrays: dict[Var, Any] = {}

    def holding(self, held: Any) -> Any:
        """`Template.held`, which tells us what it takes away."""

        def hold(thing: Any) -> Any:
            value = thing if type(thing) is Traced else getattr(thing, "_value", None)
            if type(value) is Traced:
                self._arrays[value.var] = value.array
            elif type(thing) is Number:
                self[thing.var] = int(thing)
            return held(thing)

        return hold

    def __missing__(self, var: Var) -> Any:
        # The arguments are the first values of a program.
        if var.number < len(self._leaves):
            self[var] = self._leaves[var.number]
        elif var.shape is None:  # a number, where a random stream stood: what it gave is known
            self[var] = 0
        elif var in self._arrays or var in self._program.constants:
            self[var] = with_own_array(self._arrays.get(var, self._program.constants.get(var)))
        else:
            self._compute(var)
        return self[var]

    def _compute(self, var: Var) -> None:
        """What was let go when it was recorded."""
        for equation in self._program.equations:
            if var in equation.outputs and isinstance(equation.op, Assign):
                self[var] = with_own_array(self[equation.inputs[0]]._value)
                return
            if var in equation.outputs and isinstance(equation.op, Op):
                params = {k: put(value, self) for k, value in equation.params.items()}
                with paused():
                    result = equation.op.apply(*[self[v] for v in equation.inputs], **params)
                results = result if result.__class__ is tuple else (result,)
                self.update(zip(equation.outputs, results, strict=True))
                return
        raise KeyError(var)


def _updated(
    program: Program, results: list | None, after: dict[int, Any] | None
) -> dict[Var, Any]:
    """What the call left in variables; of one that is told later, what they held `after`."""
    if results is not None:
        return {var: tensor(variable._outside()) for variable, var in program.updates}
    return {
        var: tensor(after[id(variable)])
        for variable, var in program.updates
        if after is not None and id(variable) in after
    }


def _ends(program: Program, found: list, known: dict[Any, Any]) -> tuple[dict[Var, Any], list]:
    """The tensors that the user has of values; events for those of which there are two."""
    given, ends, events = {*program.given}, dict[Var, Any](), []
    for var, result in zip(program.outputs, found, strict=True):
        if var in given or var in ends:
            first = ends[var] if var in ends else known[var]
            if result._value is not first._value:  # else it is known by its array
                events.append((raw.OP, identity, (first,), raw.NOTHING, result, None, None))
        else:
            ends[var] = result
    return ends, events


class _Filling:
    """One call of a function, as it goes into the log."""

    def __init__(self, functions: Functions, template: Template, known: Any) -> None:
        self.functions, self.engine = functions, functions.engine
        self.template, self.known = template, known
        self.thread = get_ident()
        self.numbers: dict[int, int] = {}
        self.reads: dict[int, Any] = {}  # of variables, the last ones
        self.tapes: dict[int, Tape] = {}
        self.followed = any(r.pauses for r in threads.active)

    def log(self, entry: Entry) -> None:
        if entry.swept and not self.followed:
            return
        engine, kind = self.engine, entry.event[0]
        if kind == raw.PLAYED:
            self._played(*entry.event[1:])
            return
        event = self._event(entry.event)
        kept = engine.lasting(event)
        engine.log.append(kept)
        if kind == raw.OP:
            engine.weigh_op(event[4])
        elif kind == raw.READ:
            engine.latest[id(event[1])] = kept
        elif kind == raw.ESCAPE:
            engine._left = True
        elif kind == raw.QUERY:
            asked = engine.tell_asked(event, in_sight(entry.scene, self.known))
            self.functions.rarely.note(asked)

    def hand_on(self, entry: Entry, there: Template, began: list[int]) -> None:
        """To the recording around this one, whose own equations tell of loops."""
        if entry.event[0] == raw.PLAYED:
            return
        swept = entry.swept and not self.followed
        scene = None if entry.scene is None else in_sight(entry.scene, self.known)
        there.append(self._event(entry.event), swept, scene)
        if entry.at < len(began):
            there.entries[-1].at = began[int(entry.at)]

    def _event(self, event: tuple) -> tuple:
        known, kind = self.known, event[0]
        if kind == raw.OP:
            _, op, operands, params, result, outer, layer, code, offset, _ = event
            operands = tuple([known[a] if a.__class__ is Var else put(a, known) for a in operands])
            params = put(params, known) if params else params
            result = known[result] if result.__class__ is Var else put(result, known)
            return kind, op, operands, params, result, outer, layer, code, offset, self.thread
        if kind in (raw.START, raw.STOP, raw.WATCH, raw.RESET, raw.QUERY):
            return self._of_tape(event)
        if kind == raw.INSIDE:
            _, op, grad, operands, *where = event
            again = _Custom(op, self.template.revived(known, self.reads), known)
            return kind, again, grad, put(operands, known), *where[:-1], self.thread
        if kind == raw.FROZEN:
            return kind, event[1], event[1].now(), self.thread
        if kind == raw.READ:
            self.reads[id(event[1])] = put(event[2], known)
        return kind, *[put(part, known) for part in event[1:-1]], self.thread

    def _of_tape(self, event: tuple) -> tuple:
        kind, number, *fields = event
        if number in self.template.own:
            if number not in self.numbers:
                self.numbers[number] = next(self.engine._numbers)
            number = self.numbers[number]
        if kind == raw.START:
            tape = self.tapes.setdefault(number, Tape(fields[0]))
            tape._recording = True
            return kind, number, tape, *fields[1:-1], self.thread
        if kind == raw.STOP and number in self.tapes:
            self.tapes[number]._recording = False
        return kind, number, *[put(part, self.known) for part in fields[:-1]], self.thread

    def _played(self, equation: Any, layer: Any) -> None:
        """A loop is played step by step; Python has run."""
        known = self.known
        operands = [known[v] for v in equation.inputs]
        results = [known[v] for v in equation.outputs]
        spot = Spot(*equation.place)
        if not hasattr(equation.op, "state"):
            params = {"function": equation.op.forward.__wrapped__, "results": None}
            event = (
                raw.OP, python.numpy_function, tuple(operands), params, tuple(results), None,
                None, *spot[:2], self.thread,
            )  # fmt: skip
            self.engine.log.append(event)
            return
        with paused():
            made = _stepped(equation.op.state, operands, spot, layer)
        for end, result in zip(made, results, strict=False):
            self.engine.log.append(
                (raw.OP, identity, (end,), raw.NOTHING, result, None, None, *spot[:2], self.thread)
            )


def _stepped(state: Any, operands: list, spot: Spot, layer_of_loop: Any) -> list:
    """What is not an op of the body happens at the `spot` of the loop; all of it in its layer."""
    return _step_by_step(state, operands)


stand_ins.add(id(_stepped.__code__))


class _Custom:
    """A function with a gradient of its own, in one call."""

    def __init__(self, op: Any, revived: Any, known: Any) -> None:
        pull = op.rules[0]
        self.inside = [known.get(_var(r), r) for r in op.inside]
        self.rules = (lambda g: revived(lambda: pull(g)),)


def _var(thing: Any) -> Any:
    value = thing._value
    return value.var if type(value) is Traced else None
